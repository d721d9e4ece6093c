import { htmlText } from "#channels/text/html-text.ts";
import { loadAdapter } from "#channels/load-adapter.ts";
import type { ConversationRow } from "#database/queries/conversations.ts";
import type { TestDatabase } from "#test/support/database/databases.ts";
import type { BenchOptions, EngineBench } from "#test/support/engine-bench.ts";
import { anna, openBench } from "#test/support/engine-bench.ts";
import type { FakeIntercom, Notification } from "./fake-intercom.ts";
import { startFakeIntercom } from "./fake-intercom.ts";

/** The program with one account at the fake, and actions of customers, teammates and agents. */
export interface IntercomBench {
  readonly bench: EngineBench;
  readonly intercom: FakeIntercom;
  /** Delivers a customer's message. Returns the id of the conversation in Intercom. */
  write(contact: string, text: string, conversation?: string): Promise<string>;
  /** Delivers and waits until all resulting work is done. */
  deliver(...notifications: readonly Notification[]): Promise<void>;
  row(conversation: string): Promise<ConversationRow>;
  /** `role: content` of every message. */
  talk(conversation: string): Promise<readonly string[]>;
  notes(conversation: string): Promise<readonly { readonly author: string; readonly content: string }[]>;
  /** An agent's action in the inbox. */
  update(conversation: string, change: Parameters<EngineBench["engine"]["update"]>[2]): Promise<void>;
  reply(conversation: string, content: string): Promise<string>;
  /** `type: text` of Parley's parts in the conversation. */
  done(conversation: string): readonly string[];
  /** Requests that changed something. */
  changes(): readonly string[];
  /** Advances the time until one more poll is complete. */
  poll(): Promise<void>;
  close(): Promise<void>;
}

export async function openIntercom(
  open: () => Promise<TestDatabase>,
  config: object = {},
  { settings = {} }: Pick<BenchOptions, "settings"> = {},
): Promise<IntercomBench> {
  const intercom = await startFakeIntercom();
  const bench = await openBench(open, {
    settings,
    account: {
      channel: "intercom",
      load: loadAdapter,
      config: {
        access_token: intercom.token,
        client_secret: intercom.clientSecret,
        app_id: intercom.appId,
        admin_id: intercom.bot.id,
        base_url: intercom.url,
        ...config,
      },
    },
  });
  const webhookUrl = `${await bench.app.listen()}/channels/intercom/${bench.accountId}`;
  intercom.connect({ webhookUrl, now: () => bench.clock.now() });
  /** `m`: the connection started; `s`: a search started. */
  const looksSince = (at: number): string =>
    intercom.calls
      .slice(at)
      .map(({ path, body }) =>
        path === "/me" ? "m" : path.endsWith("/search") && !JSON.stringify(body).includes("starting_after") ? "s" : "",
      )
      .join("");
  // The account starts once the program has found it.
  await bench.advance(10_000);
  await bench.until("Intercom was asked", () => looksSince(0).includes("s"));

  const find = (conversation: string): Promise<ConversationRow> =>
    bench.store.read
      .selectFrom("conversations")
      .selectAll()
      .where("account_id", "=", bench.accountId)
      .where("context_key", "=", conversation)
      .executeTakeFirstOrThrow();

  async function deliver(...given: readonly Notification[]): Promise<void> {
    for (const each of given) {
      const status = await intercom.deliver(each);
      if (status !== 200) throw new Error(`the delivery was answered with ${status}`);
    }
    await bench.settle();
  }

  return {
    bench,
    intercom,
    deliver,
    row: find,
    async write(contact, text, conversation) {
      const written = intercom.write({ contact, text, ...(conversation === undefined ? {} : { conversation }) });
      await deliver(written.notification);
      return written.conversation;
    },
    talk: async (conversation) => bench.talk((await find(conversation)).id),
    async notes(conversation) {
      const { id } = await find(conversation);
      return bench.store.read
        .selectFrom("notes")
        .select(["author", "content"])
        .where("conversation_id", "=", id)
        .orderBy("id")
        .execute();
    },
    async update(conversation, change) {
      const { id } = await find(conversation);
      await bench.engine.update(bench.workspaceId, id, change, anna);
      await bench.settle();
    },
    async reply(conversation, content) {
      const { id: conversationId } = await find(conversation);
      const { workspaceId } = bench;
      const sent = await bench.engine.reply({
        workspaceId,
        conversationId,
        content,
        authorEmail: "anna@test.example",
        actor: anna,
      });
      await bench.settle();
      return sent.messageId;
    },
    done: (conversation) =>
      (intercom.conversations.get(conversation)?.parts ?? [])
        .filter(({ author }) => author.id === intercom.bot.id)
        .map(({ part_type: type, body }) => (body === null ? type : `${type}: ${htmlText(body).text}`)),
    changes: () =>
      intercom.calls
        .filter(({ method, path }) => method === "POST" && path !== "/conversations/search")
        .map(({ path, body }) => {
          const { message_type: type } = body as { readonly message_type?: string };
          return `${path.split("/").at(-1)} ${type ?? ""}`.trim();
        }),
    async poll() {
      const from = intercom.calls.length;
      const end = performance.now() + 60_000;
      const pause = async (): Promise<void> => {
        if (performance.now() > end) throw new Error("Intercom was not asked any more");
        await new Promise((resolve) => setTimeout(resolve, 10));
      };
      const isRenewed = async (): Promise<boolean> => {
        const [lease] = await bench.store.read.selectFrom("connection_leases").select("lease_until").execute();
        return lease !== undefined && lease.lease_until > bench.clock.now() + 9_000;
      };
      // A second search in a row proves that the first poll is complete, unless the connection restarted.
      while (!looksSince(from).endsWith("ss")) {
        await bench.advance(5_000);
        // Advancing the clock faster than leases are renewed would expire them.
        for (let tries = 1; !(await isRenewed()); tries += 1) {
          await pause();
          if (tries % 30 === 0) await bench.advance(1_000);
        }
        // Leaves time for the network.
        await pause();
      }
      await bench.settle();
    },
    async close() {
      await intercom.close();
      await bench.close();
    },
  };
}
