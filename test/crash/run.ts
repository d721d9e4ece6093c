import { setTimeout as sleep } from "node:timers/promises";
import { checkpoints } from "#runtime/checkpoints.ts";
import { openStore } from "#database/open.ts";
import { install } from "../support/program/installation.ts";
import type { Launched } from "../support/program/launch.ts";
import { launch } from "../support/program/launch.ts";
import { freePort } from "../support/servers/free-port.ts";
import { openApiClient } from "./api-client.ts";
import { openCustomer } from "./customer.ts";
import { createRandom } from "./random.ts";
import { verifyFromOutside, verifyStored, workLeft } from "./verify.ts";

export interface CrashOptions {
  readonly kills: number;
  readonly customers: number;
  readonly apiClients: number;
  readonly seed: number;
  /** An empty database; absent: SQLite. */
  readonly databaseUrl?: string | undefined;
  readonly progress: (line: string) => void;
}

export interface Kill {
  /** A named point of the path, `start` (before it was ready) or `run` (at a random moment). */
  readonly at: string;
  /** Null if it was killed before it was ready. */
  readonly readyMs: number | null;
}

export interface CrashReport {
  readonly kills: readonly Kill[];
  readonly messagesAcknowledged: number;
  readonly messagesResent: number;
  readonly questionsAnswered: number;
  readonly questionsBroken: number;
  readonly reconnections: number;
  readonly answersShown: number;
  readonly violations: readonly string[];
}

/** Ends what never comes: a busy machine needs a multiple of a quiet one's second or two. */
const pointMs = 90_000;
const drainMs = 90_000;

type Plan =
  | { readonly kind: "point"; readonly point: string; readonly count: number }
  | { readonly kind: "start"; readonly afterMs: number }
  | { readonly kind: "run"; readonly afterMs: number };

/**
 * Kills the program repeatedly while customers and API clients send questions, and reports what was lost, duplicated or
 * left undone.
 */
export async function runCrashTest(options: CrashOptions): Promise<CrashReport> {
  const random = createRandom(options.seed);
  const installation = await install(options.databaseUrl);
  const port = await freePort();
  const base = `http://127.0.0.1:${port}`;
  const socketUrl = `${base.replace("http", "ws")}/widget/ws?workspace=${installation.workspaceId}&channel=widget`;
  const customers = Array.from({ length: options.customers }, (_, i) =>
    openCustomer(`customer ${i + 1}`, socketUrl, createRandom(options.seed * 1_000 + i)),
  );
  const apiClients = Array.from({ length: options.apiClients }, (_, i) =>
    openApiClient(base, installation, createRandom(options.seed * 1_000 + 500 + i)),
  );
  const kills: Kill[] = [];
  const complaints: string[] = [];
  let running: Launched | undefined;
  try {
    for (const plan of plansOf(options.kills, random)) {
      const env = plan.kind === "point" ? { PARLEY_TEST_KILL_AT: `${plan.point}:${plan.count}` } : {};
      running = launch({ installation, port, env });
      const kill = await killAsPlanned(running, plan);
      complaints.push(...running.complaints);
      kills.push(kill);
      const ready = kill.readyMs === null ? "not ready yet" : `ready after ${Math.round(kill.readyMs)} ms`;
      options.progress(`kill ${String(kills.length).padStart(3)}/${options.kills}  ${ready.padEnd(20)}  ${kill.at}`);
    }

    running = launch({ installation, port });
    await running.ready;
    options.progress("the last start: waiting until everything is answered");
    await Promise.all([...customers.map((each) => each.finish(drainMs)), ...apiClients.map((each) => each.finish())]);
    const store = await openStore(installation.databaseUrl);
    try {
      const violations: string[] = [];
      const left = await drained(() => workLeft(store));
      violations.push(...left);
      const records = customers.map((each) => each.record());
      for (const record of records) {
        violations.push(...(await verifyFromOutside(record, { base, socket: socketUrl }, installation)));
      }
      const answered = apiClients.flatMap((each) => each.answered);
      violations.push(...apiClients.flatMap((each) => each.refused.map((text) => `a question was refused: ${text}`)));
      for (const each of customers) each.close();
      running.signal("SIGTERM");
      const exit = await running.exited;
      if (exit.code !== 0) violations.push(`the last process exited with ${exit.code ?? exit.signal ?? "nothing"}`);
      complaints.push(...running.complaints);
      violations.push(...(await verifyStored(store, installation.workspaceId, records, answered)));
      violations.push(...complaints.map((line) => `error in the program's log: ${line.slice(0, 1_000)}`));
      return {
        kills,
        messagesAcknowledged: sum(records.map(({ acknowledged }) => acknowledged.size)),
        messagesResent: sum(records.map(({ resent }) => resent)),
        questionsAnswered: answered.length,
        questionsBroken: sum(apiClients.map((each) => each.broken())),
        reconnections: sum(records.map(({ connections }) => connections - 1)),
        answersShown: sum(records.map(({ shown }) => shown.filter(({ role }) => role !== "user").length)),
        violations,
      };
    } finally {
      await store.close();
    }
  } finally {
    for (const each of customers) each.close();
    running?.signal("SIGKILL");
    await running?.exited;
    await installation.remove();
  }
}

/** Uses every named point in turn, alternating with random moments. */
function plansOf(kills: number, random: () => number): readonly Plan[] {
  return Array.from({ length: kills }, (_, i): Plan => {
    if (kills <= 2 * checkpoints.length ? i < checkpoints.length : i % 2 === 0) {
      const point = checkpoints[(kills <= 2 * checkpoints.length ? i : i / 2) % checkpoints.length] ?? checkpoints[0];
      return { kind: "point", point, count: 1 + Math.floor(random() * 40) };
    }
    if (random() < 0.2) return { kind: "start", afterMs: 100 + random() * 500 };
    return { kind: "run", afterMs: 300 + random() * 900 };
  });
}

async function killAsPlanned(program: Launched, plan: Plan): Promise<Kill> {
  switch (plan.kind) {
    case "start":
      await Promise.race([sleep(plan.afterMs), program.exited]);
      break;
    case "run":
      await program.ready;
      await Promise.race([sleep(plan.afterMs), program.exited]);
      break;
    case "point":
      await program.ready;
      if (await isLate(program.exited, pointMs)) throw new Error(`${plan.point} was not reached ${plan.count} times`);
      break;
  }
  program.signal("SIGKILL");
  const exit = await program.exited;
  if (exit.signal !== "SIGKILL")
    throw new Error(`the program exited before the kill (${String(exit.code)}): ${program.complaints.join("\n")}`);
  const readyMs = (await program.ready) ?? null;
  return { at: plan.kind === "point" ? plan.point : plan.kind, readyMs };
}

/** Whether the promise is not settled within `ms`. */
async function isLate(promise: Promise<unknown>, ms: number): Promise<boolean> {
  const abort = new AbortController();
  const late = sleep(ms, true, { signal: abort.signal }).catch(() => false);
  const first = await Promise.race([late, promise.then(() => false)]);
  abort.abort();
  return first;
}

async function drained(left: () => Promise<readonly string[]>): Promise<readonly string[]> {
  const end = Date.now() + drainMs;
  for (;;) {
    const rows = await left();
    if (rows.length === 0 || Date.now() > end) return rows;
    await sleep(100);
  }
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);
