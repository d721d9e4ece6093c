import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readConfigFile } from "#config/file.ts";
import type { StartOptions, TestApp } from "../http/app.ts";
import { startApp } from "../http/app.ts";
import type { TestDatabase } from "../database/databases.ts";
import type { DeskOptions, DeskWorld, ProgramAddress } from "./world.ts";
import { openDeskWorld } from "./world.ts";
import type { ConversationRow } from "#database/queries/conversations.ts";
import { answerOf } from "../engine-bench.ts";

/** The program with a desk in Slack and customers on Telegram and Slack. The clock is moved by hand. */
export interface DeskBench {
  readonly app: TestApp;
  readonly world: DeskWorld;
  readonly workspaceId: string;
  readonly accounts: ProgramAddress["accounts"];
  readonly databaseUrl: string;
  /** A second process of the program on the same database, if asked for. */
  readonly other: TestApp | undefined;
  /** Moves the clock until `reached` holds. */
  until(what: string, reached: () => Promise<boolean> | boolean): Promise<void>;
  /** Waits until no work is left. */
  settle(): Promise<void>;
  conversation(): Promise<ConversationRow>;
  notes(): Promise<readonly string[]>;
  close(): Promise<void>;
}

const patienceMs = 30_000;
const stepMs = 250;

export interface BenchOptions extends DeskOptions {
  /** Two processes share one database and get deliveries in turn. */
  readonly processes?: 1 | 2;
  readonly burst?: StartOptions["burst"];
}

export async function openDeskBench(open: () => Promise<TestDatabase>, options: BenchOptions = {}): Promise<DeskBench> {
  const world = await openDeskWorld(options);
  const database = await open();
  const databaseUrl = database.url;
  const dataDir = await mkdtemp(join(tmpdir(), "parley-desk-"));
  const starting: StartOptions = {
    file: readConfigFile("test.yaml", world.yaml, {}),
    dataDir,
    databaseUrl,
    answerer: {
      answer: async ({ text }) =>
        answerOf(`You asked: ${text}`, {
          skillsFired: ["knowledge_search"],
          sources: [{ title: "Handbook", url: "https://shop.example/handbook", chunk: "…", score: 1 }],
        }),
    },
    ...(options.burst === undefined ? {} : { burst: options.burst }),
  };
  const other = options.processes === 2 ? await startApp(open, starting) : undefined;
  if (other !== undefined && options.transport === "socket") {
    await reach(other.clock, "Slack is connected to the first", () => world.slack.sockets() > 0);
  }
  const app = await startApp(open, { ...starting, ...(other === undefined ? {} : { clock: other.clock }) });
  const declared = await app.store.read
    .selectFrom("accounts")
    .select(["id", "name", "workspace_id"])
    .where("managed_by", "=", "file")
    .execute();
  const idOf = (name: string) => declared.find((each) => each.name === name)?.id ?? "";
  const workspaceId = declared[0]?.workspace_id ?? "";
  const accounts = { telegram: idOf("telegram"), slack: idOf("slack") };
  let turn = 0;
  world.reach({
    get url() {
      turn += 1;
      return other !== undefined && turn % 2 === 0 ? other.url : app.url;
    },
    now: () => app.clock.now(),
    async wait() {
      await new Promise((resolve) => setTimeout(resolve, 50));
      app.clock.advance(stepMs);
    },
    accounts,
  });

  const until = (what: string, reached: () => Promise<boolean> | boolean): Promise<void> =>
    reach(app.clock, what, reached);

  /** Ignores scheduled work of the clock, which is always due some day. All other work is due now or retried. */
  const isIdle = async (): Promise<boolean> => {
    const rows = await app.store.read
      .selectFrom("outbox")
      .select("kind")
      .where("dead_at", "is", null)
      .where("kind", "in", [
        "think",
        "send",
        "amend",
        "react",
        "file",
        "desk",
        "desk-event",
        "desk-notice",
        "desk-erase",
      ])
      .execute();
    return rows.length === 0;
  };

  await until("the webhook is set", () => world.telegram.webhook !== undefined);
  if (options.transport === "socket") await until("Slack is connected", () => world.slack.sockets() > 0);
  return {
    app,
    world,
    workspaceId,
    accounts,
    databaseUrl,
    other,
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
      await other?.close();
      await app.close();
      await world.close();
      await database.remove();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

async function reach(clock: TestApp["clock"], what: string, reached: () => Promise<boolean> | boolean): Promise<void> {
  for (const end = Date.now() + patienceMs; !(await reached());) {
    if (Date.now() > end) throw new Error(`timed out waiting until ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
    clock.advance(stepMs);
  }
}
