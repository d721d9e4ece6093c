import { Readable } from "node:stream";
import { loadAdapter } from "#channels/load-adapter.ts";
import type { TestDatabase } from "#test/support/database/databases.ts";
import { newSqlite } from "#test/support/database/databases.ts";
import type { EngineBench } from "#test/support/engine-bench.ts";
import { anna, openBench } from "#test/support/engine-bench.ts";
import type { FakeCloudApi } from "./fake-cloud-api.ts";
import { startFakeCloudApi } from "./fake-cloud-api.ts";

/** The program with one account at the fake, and actions of a customer and an agent. */
export interface WhatsappBench {
  readonly bench: EngineBench;
  readonly meta: FakeCloudApi;
  /** The account's webhook, as reachable from the test. */
  readonly webhookUrl: string;
  /** Sends an agent's reply in the newest conversation. Returns the message's id. */
  reply(content: string, files?: readonly string[]): Promise<string>;
  /** Uploads a file for the agent's reply. Returns its id. */
  upload(name: string, bytes: Buffer): Promise<string>;
  /** The texts sent to this address, oldest first. */
  shown(to: string): readonly string[];
  /** The stored messages of customers. */
  stored(): Promise<readonly { readonly content: string; readonly metadata: unknown }[]>;
  conversation(): ReturnType<EngineBench["row"]>;
  notes(): Promise<string>;
  states(messageId: string): Promise<readonly string[]>;
  close(): Promise<void>;
}

interface Options {
  readonly config?: object;
  readonly settings?: object;
  readonly open?: () => Promise<TestDatabase>;
  /** Called before the program starts. */
  readonly prepare?: (meta: FakeCloudApi) => void;
}

export async function openWhatsapp({ config = {}, open = newSqlite, settings, prepare }: Options = {}) {
  const meta = await startFakeCloudApi();
  prepare?.(meta);
  const bench = await openBench(open, {
    account: { channel: "whatsapp", load: loadAdapter, config: { ...meta.settings, ...config } },
    ...(settings === undefined ? {} : { settings }),
  });
  const webhookUrl = `${await bench.app.listen()}/channels/whatsapp/${bench.accountId}`;
  meta.connect({ webhookUrl, now: () => bench.clock.now() });
  const { read } = bench.store;
  const conversation = () =>
    read.selectFrom("conversations").selectAll().orderBy("id", "desc").limit(1).executeTakeFirstOrThrow();

  const account: WhatsappBench = {
    bench,
    meta,
    webhookUrl,
    conversation,
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
      const sent = await bench.engine.reply({
        workspaceId: bench.workspaceId,
        conversationId: id,
        content,
        authorEmail: "anna@test.example",
        ...(files.length === 0 ? {} : { files, uploadedBy: "anna@test.example" }),
        actor: anna,
      });
      await bench.settle();
      return sent.messageId;
    },
    shown: (address) => meta.taken.filter(({ to }) => to === address).map(({ body }) => body),
    stored: async () => {
      const rows = read.selectFrom("messages").select(["content", "metadata"]).where("role", "=", "user");
      return (await rows.orderBy("id").execute()).map(({ content, metadata }) => ({
        content,
        metadata: metadata === null ? null : (JSON.parse(metadata) as unknown),
      }));
    },
    notes: async () => (await bench.notes((await conversation()).id)).join("\n"),
    states: async (messageId) => {
      const rows = read.selectFrom("deliveries").select("state").where("message_id", "=", messageId).orderBy("part");
      return (await rows.execute()).map(({ state }) => state);
    },
    async close() {
      await meta.close();
      await bench.close();
    },
  };
  return account;
}
