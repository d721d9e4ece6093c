import type { ChildProcess } from "node:child_process";
import { spawn, spawnSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Redis } from "ioredis";
import { manualPages } from "#admin/installation/manual.ts";
import { timerKind } from "#conversations/automation/timers.ts";
import { openStore } from "#database/open.ts";
import type { Installation } from "#test/support/program/installation.ts";
import { install } from "#test/support/program/installation.ts";
import { launch } from "#test/support/program/launch.ts";
import { freePort } from "#test/support/servers/free-port.ts";
import { redis } from "#test/support/services.ts";
import { age } from "./aged.ts";
import { fill, questionsOn } from "../made-up-passages.ts";
import { manualQuestions } from "../manual-questions.ts";
import type { Target } from "./load.ts";
import type { FakePlatform } from "./platform.ts";
import { slackCustomers, slackSecrets, telegramCustomers, telegramSecrets } from "./platform.ts";

export type Platform = "slack" | "telegram";

/** A webhook and the process that serves it. Two subjects may share one process. */
export interface Subject extends Target {
  readonly name: string;
  readonly platform: Platform;
  /** The processes that serve it; the first is the subject's own. */
  readonly pids: readonly number[];
}

export interface Subjects {
  readonly all: readonly Subject[];
  /** Facts that a reader of the figures needs, such as missing subjects. */
  readonly left: readonly string[];
  close(): Promise<void>;
}

export interface SubjectOptions {
  readonly platform: FakePlatform;
  /** The processor that each subject is pinned to. */
  readonly core: number | undefined;
  readonly customers: number;
  readonly nodeArguments: readonly string[];
  /** Adds Parley on a database with months of work, just started after an outage. */
  readonly isAged: boolean;
}

/** Starts every subject, each in a process of its own on the same processor. */
export async function startSubjects(options: SubjectOptions): Promise<Subjects> {
  const { platform, customers } = options;
  const ends: (() => Promise<void>)[] = [];
  const left: string[] = [];
  const close = async (): Promise<void> => {
    for (const end of ends.toReversed()) await end();
  };
  try {
    const parley = await startParley(options, await readsManual());
    ends.push(parley.end);
    const large = await startParley({ ...options, telegram: false }, await readsMadeUp());
    ends.push(large.end);
    const bolt = await startPlain(options, "plain-bolt.ts");
    ends.push(bolt.end);
    const grammy = await startPlain(options, "plain-grammy.ts");
    ends.push(grammy.end);
    const own = { pids: [parley.pid] };
    // After a greeting the bot would wait for the question.
    const courtesies = ["Thank you!"];
    const all: Subject[] = [
      {
        name: "Parley, manual",
        platform: "slack",
        ...own,
        ...parley.slack,
        customers: slackCustomers(customers, "A"),
        texts: manualQuestions,
      },
      {
        name: `Parley, ${passagesOfLarge} passages`,
        platform: "slack",
        pids: [large.pid],
        ...large.slack,
        customers: slackCustomers(customers, "D"),
        texts: large.questions,
      },
      {
        name: "Parley, fixed text",
        platform: "slack",
        ...own,
        ...parley.slack,
        customers: slackCustomers(customers, "B"),
        texts: courtesies,
      },
      {
        name: "Bolt",
        platform: "slack",
        pids: [bolt.pid],
        port: bolt.port,
        path: "/slack/events",
        customers: slackCustomers(customers, "C"),
        texts: manualQuestions,
      },
    ];
    const server = await redis();
    if (server.url === undefined) {
      left.push(`the Chat SDK is left out: ${server.reason}`);
    } else {
      const chat = await startPlain(options, "chat-sdk.ts", { REDIS_URL: server.url });
      ends.push(chat.end);
      all.push({
        name: "Chat SDK, Redis",
        platform: "slack",
        pids: [chat.pid, await pinnedRedis(server.url, options.core)],
        port: chat.port,
        path: "/api/webhooks/slack",
        customers: slackCustomers(customers, "E"),
        texts: manualQuestions,
      });
    }
    const secret = platform.registered();
    if (secret === undefined) throw new Error("Parley has not registered its webhook with Telegram");
    all.push(
      {
        name: "Parley, manual",
        platform: "telegram",
        ...own,
        ...parley.telegram,
        customers: telegramCustomers(customers, 1_000_000, secret),
        texts: manualQuestions,
      },
      {
        name: "Parley, fixed text",
        platform: "telegram",
        ...own,
        ...parley.telegram,
        customers: telegramCustomers(customers, 2_000_000, secret),
        texts: courtesies,
      },
      {
        name: "grammY",
        platform: "telegram",
        pids: [grammy.pid],
        port: grammy.port,
        path: "/",
        customers: telegramCustomers(customers, 3_000_000, telegramSecrets.webhookSecret),
        texts: manualQuestions,
      },
    );
    if (options.isAged) {
      // Started last, and measured first: it works through its backlog while the others would wait for the processor.
      const aged = await startParley({ ...options, telegram: false }, await readsManual(age));
      ends.push(aged.end);
      left.push(`${await dueTimers(aged.databaseUrl)} timers are due on the aged database as the rounds begin`);
      const of = { platform: "slack", pids: [aged.pid], ...aged.slack } as const;
      all.unshift(
        { name: "Parley, manual, aged", ...of, customers: slackCustomers(customers, "F"), texts: manualQuestions },
        { name: "Parley, fixed text, aged", ...of, customers: slackCustomers(customers, "G"), texts: courtesies },
      );
    }
    return { all, left, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function dueTimers(databaseUrl: string): Promise<number> {
  const store = await openStore(databaseUrl);
  try {
    const due = store.read.selectFrom("outbox").select((eb) => eb.fn.countAll().as("count"));
    const rows = await due.where("kind", "=", timerKind.kind).where("due_at", "<=", Date.now()).execute();
    return Number(rows[0]?.count ?? 0);
  } finally {
    await store.close();
  }
}

const passagesOfLarge = 3_000;
const questionsOfLarge = 100;

interface Knowledge {
  readonly installation: Installation;
  readonly questions: readonly string[];
}

async function readsManual(prepare?: (installation: Installation) => Promise<void>): Promise<Knowledge> {
  const installation = await install(undefined, await manualPages());
  try {
    await prepare?.(installation);
  } catch (error) {
    await installation.remove();
    throw error;
  }
  return { installation, questions: manualQuestions };
}

async function readsMadeUp(): Promise<Knowledge> {
  const installation = await install(undefined, []);
  const store = await openStore(installation.databaseUrl);
  try {
    await fill(store, installation.workspaceId, passagesOfLarge);
    return { installation, questions: await questionsOn(store, installation.workspaceId, questionsOfLarge) };
  } finally {
    await store.close();
  }
}

/** A refusal costs less than an answer, so every question must have one. */
async function expectAnswers(url: string, { installation, questions }: Knowledge): Promise<void> {
  const headers = { authorization: `Bearer ${installation.key}`, "content-type": "application/json" };
  for (const query of questions) {
    const body = JSON.stringify({ workspace_id: installation.workspaceId, query });
    let response = await fetch(`${url}/v1/query`, { method: "POST", headers, body });
    // The documents are being indexed.
    while (response.status === 503) {
      await sleep(100);
      response = await fetch(`${url}/v1/query`, { method: "POST", headers, body });
    }
    const text = await response.text();
    if (!/"confidence":"(?:high|medium)"/.test(text)) throw new Error(`no answer to “${query}”: ${text}`);
  }
}

/** One process with an account of each platform. SQLite syncs to disk before every acknowledgement. */
export async function startParley(
  { platform, core, nodeArguments, telegram = true }: SubjectOptions & { readonly telegram?: boolean },
  knowledge: Knowledge,
) {
  const { installation, questions } = knowledge;
  const config = join(installation.dataDir, "parley.yaml");
  await writeFile(
    config,
    JSON.stringify({
      workspaces: [
        {
          name: "Support",
          channels: [
            {
              name: "slack",
              channel: "slack",
              bot_token: slackSecrets.botToken,
              signing_secret: slackSecrets.signingSecret,
              base_url: platform.slackApi,
            },
            // Telegram has one webhook per bot, which a second process would take over.
            ...(telegram
              ? [
                  {
                    name: "telegram",
                    channel: "telegram",
                    token: telegramSecrets.token,
                    transport: "webhook",
                    base_url: platform.telegramApi,
                  },
                ]
              : []),
          ],
        },
      ],
    }),
  );
  const port = await freePort();
  // Logging is part of the cost of a request.
  const env = { LOG_LEVEL: "info", PARLEY_CONFIG: config, PUBLIC_URL: `http://127.0.0.1:${port}` };
  const program = launch({ installation, port, core, nodeArguments, env });
  if ((await program.ready) === undefined) {
    await installation.remove();
    throw new Error(`Parley did not start: ${program.complaints.join("\n")}`);
  }
  try {
    await expectAnswers(`http://127.0.0.1:${port}`, knowledge);
  } catch (error) {
    program.signal("SIGKILL");
    await program.exited;
    await installation.remove();
    throw error;
  }
  const store = await openStore(installation.databaseUrl);
  const rows = await store.read.selectFrom("accounts").select(["id", "channel"]).execute();
  await store.close();
  const path = (channel: Platform): string => `/channels/${channel}/${rows.find((row) => row.channel === channel)?.id}`;
  return {
    pid: program.pid,
    databaseUrl: installation.databaseUrl,
    questions,
    slack: { port, path: path("slack") },
    telegram: { port, path: path("telegram") },
    async end() {
      program.signal("SIGTERM");
      await program.exited;
      await installation.remove();
      for (const line of program.complaints.slice(0, 5)) process.stderr.write(`Parley: ${line.slice(0, 500)}\n`);
    },
  };
}

async function startPlain(
  { platform, core }: SubjectOptions,
  file: string,
  env: Readonly<Record<string, string>> = {},
) {
  const port = await freePort();
  const command = [process.execPath, fileURLToPath(new URL(file, import.meta.url)), String(port)];
  const [program = "", ...args] = core === undefined ? command : ["taskset", "-c", String(core), ...command];
  const child: ChildProcess = spawn(program, args, {
    stdio: ["ignore", "ignore", "inherit"],
    env: {
      PATH: process.env["PATH"],
      NODE_ENV: "production",
      SLACK_API: platform.slackApi,
      TELEGRAM_API: platform.telegramApi,
      ...env,
    },
  });
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const end = async (): Promise<void> => {
    child.kill("SIGKILL");
    await exited;
  };
  const until = performance.now() + 30_000;
  while (!(await listens(port))) {
    if (child.exitCode !== null || performance.now() > until) {
      await end();
      throw new Error(`${file} did not start`);
    }
    await sleep(50);
  }
  return { pid: child.pid ?? 0, port, end };
}

async function listens(port: number): Promise<boolean> {
  try {
    await fetch(`http://127.0.0.1:${port}/`);
    return true;
  } catch {
    return false;
  }
}

/** A server that a subject needs is pinned to the subject's processor. */
async function pinnedRedis(url: string, core: number | undefined): Promise<number> {
  const client = new Redis(url);
  try {
    const pid = Number(/process_id:(\d+)/.exec(await client.info("server"))?.[1]);
    if (core !== undefined) spawnSync("taskset", ["-acp", String(core), String(pid)], { stdio: "ignore" });
    return pid;
  } finally {
    client.disconnect();
  }
}
