import { htmlText } from "#channels/text/html-text.ts";
import { loadAdapter } from "#channels/load-adapter.ts";
import type { ConversationRow } from "#database/queries/conversations.ts";
import type { TestDatabase } from "#test/support/database/databases.ts";
import type { EngineBench } from "#test/support/engine-bench.ts";
import { anna, openBench } from "#test/support/engine-bench.ts";
import type { FakeIntercom, Notification } from "./fake-intercom.ts";
import { startFakeIntercom } from "./fake-intercom.ts";

/** The program with one account at the fake, and what customers, teammates and agents do. */
export interface IntercomBench {
  readonly bench: EngineBench;
  readonly intercom: FakeIntercom;
  /** A customer writes, and it is delivered; the conversation in Intercom. */
  write(contact: string, text: string, conversation?: string): Promise<string>;
  /** Delivers, and waits until all that comes of it is done. */
  deliver(...notifications: readonly Notification[]): Promise<void>;
  row(conversation: string): Promise<ConversationRow>;
  /** `role: content` of every message. */
  talk(conversation: string): Promise<readonly string[]>;
  notes(conversation: string): Promise<readonly { readonly author: string; readonly content: string }[]>;
  /** What an agent does in the inbox. */
  update(conversation: string, change: Parameters<EngineBench["engine"]["update"]>[2]): Promise<void>;
  reply(conversation: string, content: string): Promise<string>;
  /** `type: text` of what the program did in the conversation. */
  done(conversation: string): readonly string[];
  /** Calls that changed something. */
  changes(): readonly string[];
  /** Moves the time on until Intercom was asked once more what has changed, and all of it is done. */
  poll(): Promise<void>;
  close(): Promise<void>;
}

export async function openIntercom(open: () => Promise<TestDatabase>, config: object = {}): Promise<IntercomBench> {
  const intercom = await startFakeIntercom();
  const bench = await openBench(open, {
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
  /** `m`: it began to look at all; `s`: it began to ask what has changed. */
  const looksSince = (at: number): string =>
    intercom.calls
      .slice(at)
      .map(({ path, body }) =>
        path === "/me" ? "m" : path.endsWith("/search") && !JSON.stringify(body).includes("starting_after") ? "s" : "",
      )
      .join("");
  // The account's work begins when the program has looked which there are.
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
      // The second look begins when the first is over, unless the program had to begin with it anew.
      while (!looksSince(from).endsWith("ss")) {
        await bench.advance(5_000);
        // A clock that goes faster than leases are renewed ends them.
        for (let tries = 1; !(await isRenewed()); tries += 1) {
          await pause();
          if (tries % 30 === 0) await bench.advance(1_000);
        }
        // What was asked is answered over the network.
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
