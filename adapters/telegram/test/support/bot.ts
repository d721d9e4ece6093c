import { loadAdapter } from "#channels/load-adapter.ts";
import { newSqlite } from "#test/support/database/databases.ts";
import type { BenchOptions, EngineBench } from "#test/support/engine-bench.ts";
import { anna, openBench } from "#test/support/engine-bench.ts";
import { bytesOf } from "#test/support/channels/file-channel.ts";
import type { FakeTelegram } from "./fake-telegram.ts";
import { startFakeTelegram } from "./fake-telegram.ts";

/** The program with a bot, with a webhook by default. */
export interface Bot {
  readonly telegram: FakeTelegram;
  readonly bench: EngineBench;
  post(update: object): Promise<Response>;
  /** A chat's texts, oldest first. */
  texts(chatId: number): readonly string[];
  conversationIn(thread: string): Promise<string>;
  /** Posts a reply of the agent Anna. */
  reply(conversationId: string, content: string, files?: readonly string[]): Promise<void>;
  /** Uploads a file for a reply of Anna's; returns its id. */
  upload(conversationId: string, name: string, bytes: Buffer): Promise<string>;
  close(): Promise<void>;
}

const agent = "anna@test.example";

export async function openBot(config: object = {}, settings: BenchOptions["settings"] = {}): Promise<Bot> {
  let clock: Pick<EngineBench["clock"], "now"> = { now: Date.now };
  const telegram = await startFakeTelegram(() => clock.now());
  const account = { token: telegram.token, base_url: telegram.url, transport: "webhook", ...config };
  const bench = await openBench(newSqlite, {
    account: { channel: "telegram", load: loadAdapter, config: account },
    settings,
  });
  ({ clock } = bench);
  const { workspaceId, accountId } = bench;
  const url = `${await bench.app.listen()}/channels/telegram/${accountId}`;
  await bench.advance(10_000);
  if (account.transport === "webhook") {
    await bench.until("the webhook is set", () => telegram.webhook !== undefined);
  } else {
    await bench.until("it polls", () => telegram.calls("getUpdates").length > 0);
  }
  return {
    telegram,
    bench,
    post(update) {
      telegram.business.delivered(update);
      return fetch(url, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          "x-telegram-bot-api-secret-token": telegram.webhook?.secret ?? "",
        },
        body: JSON.stringify(update),
      });
    },
    texts: (chatId) => telegram.shown.flatMap((each) => (each.chatId === chatId ? [each.text] : [])),
    async conversationIn(thread) {
      const of = bench.store.read.selectFrom("conversations").select("id").where("context_key", "=", thread);
      return (await of.executeTakeFirstOrThrow()).id;
    },
    async reply(conversationId, content, files = []) {
      const given = { files, uploadedBy: agent, authorEmail: agent, actor: anna };
      await bench.engine.reply({ workspaceId, conversationId, content, ...given });
      await bench.settle();
    },
    async upload(conversationId, name, bytes) {
      const of = { workspaceId, accountId, conversationId, uploadedBy: agent, name };
      const file = { ...of, mediaType: "application/octet-stream" };
      return (await bench.engine.upload(file, bytesOf(bytes), new AbortController().signal)).id;
    },
    async close() {
      await telegram.close();
      await bench.close();
    },
  };
}
