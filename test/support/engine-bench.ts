import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import Type from "typebox";
import type {
  Accepted,
  AdapterModule,
  Attempt,
  ChannelAdapter,
  InboundEvent,
  Receipt,
  SendContext,
  Sender,
} from "#channels/contract.ts";
import type { Part } from "#channels/inbound-event.ts";
import { newId } from "#domain/ids.ts";
import type { Actor, Channel } from "#domain/conversation/message.ts";
import type { WorkspaceSettings } from "#domain/workspace/settings.ts";
import type { Checkpoint } from "#runtime/checkpoints.ts";
import type { Answer, Question } from "#answering/contract.ts";
import type { App } from "#app/app.ts";
import type { AppOptions } from "#app/app.ts";
import { createApp } from "#app/app.ts";
import type { FileConfig } from "#config/file.ts";
import type { LoadAdapter } from "#channels/load-adapter.ts";
import type { FilesConfig } from "#config/environment.ts";
import type { ModelConfig } from "#config/models.ts";
import { createWorkspace } from "#admin/workspaces/workspaces.ts";
import type { ConversationRow } from "#database/queries/conversations.ts";
import type { OpenStore } from "#database/open.ts";
import type { MessagesTable } from "#database/schema/tables.ts";
import type { TestDatabase } from "./database/databases.ts";
import type { HandMovedClock } from "./hand-moved-clock.ts";
import { createHandMovedClock } from "./hand-moved-clock.ts";

export const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;

export const anna: Actor = { type: "agent", id: "anna@test.example", name: "Anna" };

/** How the made-up platform and the answerer behave. Tests change the script as they go. */
export interface Script {
  answer: (question: Question, signal: AbortSignal) => Promise<Answer>;
  send: (part: Part, context: SendContext) => Promise<Receipt>;
  /** Absent: the platform cannot look up sent messages. Presence is read once, when the adapter is created. */
  reconcile?: (key: string, attempt: Attempt) => Promise<Receipt | null>;
  /** Absent: the platform has no typing indicator. Presence is read once, when the adapter is created. */
  typing?: (thread: string) => Promise<void>;
  /** Absent: agents cannot react. Presence is read once, when the adapter is created. */
  react?: NonNullable<ChannelAdapter["react"]>;
  idempotentSend: boolean;
}

export interface Sent {
  readonly thread: string;
  readonly text: string;
  readonly key: string;
}

export interface BenchOptions {
  /** The configuration file, parsed. */
  readonly file?: FileConfig;
  readonly settings?: Partial<WorkspaceSettings>;
  /** Runs the daily cleanup; each day that a test passes then costs real time. */
  readonly dailyCleanup?: boolean;
  readonly checkpoint?: Checkpoint;
  /** The bench of another process of the same installation, whose database is shared. */
  readonly beside?: EngineBench;
  readonly clock?: HandMovedClock;
  readonly script?: Partial<Script>;
  /** Uses the program's own answerer with this language model, instead of the script. */
  readonly model?: ModelConfig;
  /** An account that replaces the one on the scripted platform. */
  readonly account?: BenchAccount;
  readonly files?: FilesConfig;
  /** Reports the free disk space; absent: the system's value. */
  readonly freeBytes?: AppOptions["freeBytes"];
  readonly burst?: AppOptions["inboundBurst"];
  /** Default: none, since most tests send texts that are no questions. */
  readonly pauseAfter?: AppOptions["pauseAfter"];
}

export interface BenchAccount {
  readonly channel: Channel;
  readonly load: LoadAdapter;
  /** Secrets included. */
  readonly config: Readonly<Record<string, unknown>>;
}

/** The program on a database of its own, with one workspace and an account on a scripted platform. */
export interface EngineBench {
  readonly app: App;
  readonly store: OpenStore;
  readonly engine: App["engine"];
  readonly clock: HandMovedClock;
  readonly url: string;
  readonly dataDir: string;
  readonly workspaceId: string;
  readonly accountId: string;
  readonly script: Script;
  /** Every question that the answerer got. */
  readonly asked: Question[];
  /** Every platform call that succeeded. */
  readonly sent: Sent[];
  readonly logged: string[];
  accept(event: InboundEvent): Promise<Accepted>;
  /** A customer's message; an absent id is made up. */
  say(
    thread: string,
    text: string,
    given?: { readonly id?: string; readonly sender?: Sender; readonly chosen?: true },
  ): Promise<Accepted>;
  /** Sends a message and returns the conversation's id. */
  begin(thread: string, text: string): Promise<string>;
  row(conversationId: string): Promise<ConversationRow>;
  messages(conversationId: string): Promise<readonly MessagesTable[]>;
  /** `role: content` of every message. */
  talk(conversationId: string): Promise<readonly string[]>;
  notes(conversationId: string): Promise<readonly string[]>;
  /** Waits for `reached` without moving the clock. */
  until(what: string, reached: () => Promise<boolean> | boolean, patienceMs?: number): Promise<void>;
  /** Waits until no due work is left. */
  settle(): Promise<void>;
  /** Moves the clock, and stops at each due time until the work is done. */
  advance(ms: number): Promise<void>;
  /** Moves the clock in one step; work that fell due in between runs at the end. */
  pass(ms: number): Promise<void>;
  close(): Promise<void>;
}

export const answerOf = (text: string, given: Partial<Answer> = {}): Answer => ({
  text,
  sources: [],
  confidence: "high",
  answered: true,
  skillsFired: [],
  tokensUsed: 0,
  ...given,
});

/** Holds the answerer's answers until a test releases them. */
export function heldAnswers(bench: Pick<EngineBench, "script" | "until">) {
  const held: { readonly question: Question; readonly release: (answer: Answer) => void }[] = [];
  bench.script.answer = (question) =>
    new Promise((resolve) => {
      held.push({ question, release: resolve });
    });
  return {
    held,
    /** Waits for the n-th question, counted from 0. */
    async question(index: number) {
      await bench.until(`question ${index} is asked`, () => held[index] !== undefined);
      const found = held[index];
      if (found === undefined) throw new Error("there is no such question");
      return found;
    },
  };
}

export const benchSecret = "a secret for tests, of more than thirty-two characters";

/** The bearer token of `/metrics`. */
export const metricsToken = "the token of the tests' metrics";

const startTime = Date.UTC(2031, 4, 14, 10, 20, 30, 123);

export async function openBench(open: () => Promise<TestDatabase>, options: BenchOptions = {}): Promise<EngineBench> {
  const { beside } = options;
  const database = beside === undefined ? await open() : { url: beside.url, remove: async () => undefined };
  const folder = await mkdtemp(join(tmpdir(), "parley-bench-"));
  const clock = options.clock ?? createHandMovedClock(startTime);
  const logged: string[] = [];
  const asked: Question[] = [];
  const sent: Sent[] = [];
  const script: Script = {
    answer: async (question) => answerOf(`You asked: ${question.text}`),
    send: async (_part, { key }) => ({ externalId: `platform-${key}`, state: "sent" }),
    idempotentSend: false,
    ...options.script,
  };
  const app = await createApp(
    {
      host: "127.0.0.1",
      port: 0,
      publicUrl: "http://parley.test",
      dataDir: folder,
      secret: benchSecret,
      databaseUrl: database.url,
      redisUrl: undefined,
      role: "all",
      logLevel: "debug",
      trustedProxies: [],
      metricsToken,
      // Platforms of tests are on this machine.
      file: { allowPrivate: ["127.0.0.1"], ...(options.file ?? { workspaces: [] }) },
      ...(options.model === undefined ? {} : { model: options.model }),
      ...(options.files === undefined ? {} : { files: options.files }),
      killAt: undefined,
    },
    {
      clock,
      pauseAfter: options.pauseAfter ?? (() => 0),
      log: pino({ level: "debug" }, { write: (line: string) => void logged.push(line) }),
      loadAdapter:
        options.account?.load ??
        ((channel) => (channel === "telegram" ? Promise.resolve(scripted(script, sent)) : undefined)),
      ...(options.model === undefined
        ? {
            answerer: {
              answer(question: Question, signal: AbortSignal) {
                asked.push(question);
                return script.answer(question, signal);
              },
            },
          }
        : {}),
      ...(options.checkpoint === undefined ? {} : { checkpoint: options.checkpoint }),
      ...(options.freeBytes === undefined ? {} : { freeBytes: options.freeBytes }),
      ...(options.burst === undefined ? {} : { inboundBurst: options.burst }),
    },
  );
  const { engine } = app;
  const { store, secrets } = app.services;
  if (options.dailyCleanup !== true) {
    await store.write((tx) => tx.deleteFrom("outbox").where("lane", "=", "housekeeping").execute());
  }
  const workspaceId =
    beside?.workspaceId ??
    (await createWorkspace({ store, clock, secrets }, { name: "Test", settings: options.settings ?? {} })).id;
  const accountId = beside?.accountId ?? (await addAccount(app, workspaceId, options.account, clock.now()));

  const bench: EngineBench = {
    app,
    store,
    engine,
    clock,
    url: database.url,
    dataDir: folder,
    workspaceId,
    accountId,
    script,
    asked,
    sent,
    logged,
    accept: (event) => engine.ingest(accountId, event),
    say(thread, text, { id, sender, ...more } = {}) {
      return engine.ingest(accountId, {
        kind: "message",
        externalId: id ?? newId("evt", clock.now()),
        thread,
        sender: sender ?? { key: `customer of ${thread}` },
        sentAt: clock.now(),
        text,
        ...more,
      });
    },
    async begin(thread, text) {
      const { conversationId } = await bench.say(thread, text);
      if (conversationId === null) throw new Error("a message was stored without a conversation");
      return conversationId;
    },
    row: (id) => store.read.selectFrom("conversations").selectAll().where("id", "=", id).executeTakeFirstOrThrow(),
    messages: (id) =>
      store.read.selectFrom("messages").selectAll().where("conversation_id", "=", id).orderBy("seq").execute(),
    talk: async (id) => (await bench.messages(id)).map(({ role, content }) => `${role}: ${content}`),
    notes: async (id) =>
      (await store.read.selectFrom("notes").selectAll().where("conversation_id", "=", id).orderBy("id").execute()).map(
        ({ content }) => content,
      ),
    async until(what, reached, patienceMs = 40_000) {
      const end = performance.now() + patienceMs;
      while (!(await reached())) {
        if (performance.now() > end) {
          const due = store.read.selectFrom("outbox").selectAll().where("due_at", "<=", clock.now());
          const rows = await due.limit(5).execute();
          throw new Error(`timed out waiting until ${what}; now ${clock.now()}; due: ${JSON.stringify(rows)}`);
        }
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
    },
    settle: () =>
      bench.until("nothing is left to do", async () => {
        // A lane is worked off in order, so that work behind work that is not due yet has to wait.
        const rows = await store.read
          .selectFrom("outbox")
          .select(["lane", "kind", "due_at"])
          .where("dead_at", "is", null)
          .orderBy("id")
          .execute();
        const first = new Map(rows.toReversed().map(({ lane, due_at }) => [lane, due_at]));
        const anyTime = rows.filter(({ kind }) => app.works.unordered.has(kind)).map(({ due_at }) => due_at);
        return ![...first.values(), ...anyTime].some((dueAt) => dueAt <= clock.now());
      }),
    async advance(ms) {
      const end = clock.now() + ms;
      for (;;) {
        await bench.settle();
        const next = await store.read
          .selectFrom("outbox")
          .select((eb) => eb.fn.min("due_at").as("at"))
          .where("dead_at", "is", null)
          .where("due_at", ">", clock.now())
          .where("due_at", "<=", end)
          .executeTakeFirst();
        clock.advance((next?.at ?? end) - clock.now());
        if (clock.now() >= end) break;
      }
      await bench.settle();
    },
    async pass(ms) {
      await bench.settle();
      clock.leap(ms);
      await bench.settle();
    },
    async close() {
      await app.close();
      await database.remove();
      await rm(folder, { recursive: true, force: true });
    },
  };
  return bench;
}

async function addAccount(
  { services }: App,
  workspaceId: string,
  given: BenchAccount | undefined,
  now: number,
): Promise<string> {
  const { store, secrets } = services;
  const { channel, load, config } = given ?? { channel: "telegram", load: () => undefined, config: {} };
  const secretNames = (await load(channel, config))?.secrets ?? [];
  const isSecret = ([name]: readonly [string, unknown]): boolean => secretNames.includes(name);
  const stored = {
    config: JSON.stringify(Object.fromEntries(Object.entries(config).filter((entry) => !isSecret(entry)))),
    credentials: secrets.seal(JSON.stringify(Object.fromEntries(Object.entries(config).filter(isSecret)))),
  };
  // Every workspace has accounts of some channels from the beginning.
  const builtin = await store.read
    .selectFrom("accounts")
    .select("id")
    .where("workspace_id", "=", workspaceId)
    .where("name", "=", channel)
    .executeTakeFirst();
  const id = builtin?.id ?? newId("acc", now);
  await store.write(async (tx) => {
    if (builtin !== undefined) {
      await tx.updateTable("accounts").set(stored).where("id", "=", id).execute();
      return;
    }
    await tx
      .insertInto("accounts")
      .values({
        id,
        workspace_id: workspaceId,
        channel,
        name: `test ${channel}`,
        ...stored,
        managed_by: "dashboard",
        enabled: 1,
        created_at: now,
      })
      .execute();
  });
  return id;
}

/** A platform that shows each paragraph as a separate message. */
function scripted(script: Script, sent: Sent[]): AdapterModule {
  return {
    config: Type.Object({}),
    secrets: [],
    create: (): ChannelAdapter => ({
      get capabilities() {
        return { textMax: null, typing: false, receipts: true, idempotentSend: script.idempotentSend };
      },
      inbound: { kind: "webhook", receive: async () => ({ status: 200 }) },
      render: ({ markdown }) => markdown.split("\n\n").map((text) => ({ text, payload: { text } })),
      async send(part, context) {
        const receipt = await script.send(part, context);
        sent.push({ thread: context.thread, text: part.text, key: context.key });
        return receipt;
      },
      ...(script.typing === undefined ? {} : { typing: async (thread: string) => script.typing?.(thread) }),
      ...(script.reconcile === undefined
        ? {}
        : { reconcile: async (key, _context, attempt) => script.reconcile?.(key, attempt) ?? null }),
      ...(script.react === undefined ? {} : { react: async (...given) => script.react?.(...given) }),
      close: async () => undefined,
    }),
  };
}
