import { readConfigFile } from "#src/config-file.ts";
import type { TestApp } from "./app.ts";
import { startApp } from "./app.ts";
import type { TestDatabase } from "./databases.ts";
import type { DeskOptions, DeskWorld } from "./desk-world.ts";
import { openDeskWorld } from "./desk-world.ts";
import type { ConversationRow } from "#store/conversations.ts";
import { answerOf } from "./engine-bench.ts";

/** The program with a desk in Slack and customers on Telegram and Slack, on a clock that is moved by hand. */
export interface DeskBench {
  readonly app: TestApp;
  readonly world: DeskWorld;
  readonly workspaceId: string;
  readonly databaseUrl: string;
  /** Waits for what happens by itself, and lets time pass meanwhile. */
  until(what: string, reached: () => Promise<boolean> | boolean): Promise<void>;
  /** Waits until nothing is left to do. */
  settle(): Promise<void>;
  conversation(): Promise<ConversationRow>;
  notes(): Promise<readonly string[]>;
  close(): Promise<void>;
}

const patienceMs = 30_000;
const stepMs = 250;

export async function openDeskBench(open: () => Promise<TestDatabase>, options: DeskOptions = {}): Promise<DeskBench> {
  const world = await openDeskWorld(options);
  let databaseUrl = "";
  const opened = async (): Promise<TestDatabase> => {
    const database = await open();
    databaseUrl = database.url;
    return database;
  };
  const app = await startApp(opened, {
    file: readConfigFile("test.yaml", world.yaml, {}),
    answerer: {
      answer: async ({ text }) =>
        answerOf(`You asked: ${text}`, {
          sources: [{ title: "Handbook", url: "https://shop.example/handbook", chunk: "…", score: 1 }],
        }),
    },
  });
  const accounts = await app.store.read
    .selectFrom("accounts")
    .select(["id", "name", "workspace_id"])
    .where("managed_by", "=", "file")
    .execute();
  const idOf = (name: string) => accounts.find((each) => each.name === name)?.id ?? "";
  const workspaceId = accounts[0]?.workspace_id ?? "";
  world.reach({
    url: app.url,
    now: () => app.clock.now(),
    accounts: { telegram: idOf("telegram"), slack: idOf("slack") },
  });

  async function until(what: string, reached: () => Promise<boolean> | boolean): Promise<void> {
    for (const end = Date.now() + patienceMs; !(await reached());) {
      if (Date.now() > end) throw new Error(`this did not happen: ${what}`);
      await new Promise((resolve) => setTimeout(resolve, 5));
      app.clock.advance(stepMs);
    }
  }

  /** The clock's own work is due some day; everything else is due at once, or when it is tried again. */
  const isIdle = async (): Promise<boolean> => {
    const rows = await app.store.read
      .selectFrom("outbox")
      .select("kind")
      .where("dead_at", "is", null)
      .where("kind", "in", ["think", "send", "amend", "file", "desk", "desk-event", "desk-notice", "desk-erase"])
      .execute();
    return rows.length === 0;
  };

  await until("the webhook is set", () => world.telegram.webhook !== undefined);
  return {
    app,
    world,
    workspaceId,
    databaseUrl,
    until,
    settle: () => until("everything is done", isIdle),
    conversation: () =>
      app.store.read
        .selectFrom("conversations")
        .selectAll()
        .where("workspace_id", "=", workspaceId)
        .orderBy("id", "desc")
        .executeTakeFirstOrThrow(),
    notes: async () =>
      (await app.store.read.selectFrom("notes").select("content").orderBy("id").execute()).map((row) => row.content),
    async close() {
      await app.close();
      await world.close();
    },
  };
}
