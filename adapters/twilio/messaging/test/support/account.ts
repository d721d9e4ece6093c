import { Readable } from "node:stream";
import { newId } from "#domain/ids.ts";
import { loadAdapter } from "#channels/load-adapter.ts";
import { newSqlite } from "#test/support/database/databases.ts";
import type { EngineBench } from "#test/support/engine-bench.ts";
import { anna, openBench } from "#test/support/engine-bench.ts";
import type { FakeTwilio } from "../../../shared/test/fake-twilio.ts";
import { startFakeTwilio } from "../../../shared/test/fake-twilio.ts";

export const own = "+15550001111";

/** The program with one account at the fake, and actions of a customer and an agent. */
export interface TwilioBench {
  readonly bench: EngineBench;
  readonly twilio: FakeTwilio;
  /** The account's webhook, as reachable from the test. */
  readonly localUrl: string;
  /** Delivers a customer's message, with additional form fields. Returns the status. */
  write(from: string, body: string, more?: Readonly<Record<string, string>>): Promise<number>;
  /** Sends an agent's reply in the only conversation. Returns the message's id. */
  reply(content: string, files?: readonly string[]): Promise<string>;
  /** Uploads a file for the agent's reply. Returns its id. */
  upload(name: string, bytes: Buffer): Promise<string>;
  /** The messages sent to this address, oldest first. */
  shown(to: string): readonly string[];
  /** The stored texts of customers. */
  stored(): Promise<readonly string[]>;
  conversation(): ReturnType<EngineBench["row"]>;
  notes(): Promise<string>;
  tags(): Promise<readonly string[]>;
  /** The conversation's reply window, as shown to agents. */
  window(): ReturnType<EngineBench["engine"]["window"]>;
  /** Another account at the same fake. */
  addAccount(channel: "sms" | "whatsapp"): Promise<Pick<TwilioBench, "write" | "conversation">>;
  states(messageId: string): Promise<readonly string[]>;
  close(): Promise<void>;
}

export async function openTwilio(channel: "sms" | "whatsapp", config: object = {}): Promise<TwilioBench> {
  const twilio = await startFakeTwilio();
  const bench = await openBench(newSqlite, {
    account: {
      channel,
      load: loadAdapter,
      config: {
        ...twilio.settings,
        from: own,
        ...config,
      },
    },
  });
  const webhookUrl = `${await bench.app.listen()}/channels/${channel}/${bench.accountId}`;
  twilio.connect({ publicUrl: "http://parley.test", webhookUrl, now: () => bench.clock.now() });
  const to = channel === "whatsapp" ? `whatsapp:${own}` : own;
  const { read } = bench.store;
  const conversationOf = (accountId: string) =>
    read.selectFrom("conversations").selectAll().where("account_id", "=", accountId).executeTakeFirstOrThrow();
  const conversation = () => conversationOf(bench.accountId);

  return {
    bench,
    twilio,
    localUrl: webhookUrl,
    async write(from, body, more = {}) {
      const response = await twilio.post({ ...twilio.messageForm({ from, to, body }), ...more });
      await response.text();
      return response.status;
    },
    async upload(name, bytes) {
      const { id: conversationId } = await conversation();
      const { workspaceId, accountId } = bench;
      const uploadedBy = "anna@test.example";
      const stored = await bench.engine.upload(
        { workspaceId, accountId, conversationId, uploadedBy, name, mediaType: "application/octet-stream" },
        Readable.from([bytes]),
        new AbortController().signal,
      );
      return stored.id;
    },
    async reply(content, files = []) {
      const { id } = await conversation();
      const { workspaceId } = bench;
      const sent = await bench.engine.reply({
        workspaceId,
        conversationId: id,
        content,
        authorEmail: "anna@test.example",
        ...(files.length === 0 ? {} : { files, uploadedBy: "anna@test.example" }),
        actor: anna,
      });
      await bench.settle();
      return sent.messageId;
    },
    shown: (address) => twilio.taken.filter((each) => each.to === address).map(({ body }) => body),
    stored: async () =>
      (await read.selectFrom("messages").select("content").where("role", "=", "user").orderBy("id").execute()).map(
        ({ content }) => content,
      ),
    conversation,
    notes: async () => (await bench.notes((await conversation()).id)).join("\n"),
    tags: async () =>
      (
        await read
          .selectFrom("conversation_tags")
          .select("tag")
          .where("conversation_id", "=", (await conversation()).id)
          .orderBy("tag")
          .execute()
      ).map(({ tag }) => tag),
    window: async () => bench.engine.window(await conversation()),
    async addAccount(other) {
      const { services } = bench.app;
      const row = await read
        .selectFrom("accounts")
        .selectAll()
        .where("id", "=", bench.accountId)
        .executeTakeFirstOrThrow();
      const id = newId("acc", bench.clock.now());
      await services.store.write((tx) =>
        tx
          .insertInto("accounts")
          .values({ ...row, id, channel: other, name: `other ${other}` })
          .execute(),
      );
      const address = `${webhookUrl.replace(/\/channels\/.*/, "")}/channels/${other}/${id}`;
      return {
        async write(from, body, more = {}) {
          const form = {
            ...twilio.messageForm({ from, to: other === "whatsapp" ? `whatsapp:${own}` : own, body }),
            ...more,
          };
          const response = await twilio.postTo(address, form);
          await response.text();
          return response.status;
        },
        conversation: () => conversationOf(id),
      };
    },
    states: async (messageId) =>
      (
        await read
          .selectFrom("deliveries")
          .select("state")
          .where("message_id", "=", messageId)
          .orderBy("part")
          .execute()
      ).map(({ state }) => state),
    async close() {
      await twilio.close();
      await bench.close();
    },
  };
}
