import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { manualPages } from "#admin/installation/manual.ts";
import { install } from "#test/support/program/installation.ts";
import { emptyMysql } from "#test/support/database/new-database.ts";
import { quantile } from "#test/support/quantile.ts";
import { launch } from "#test/support/program/launch.ts";
import { freePort } from "#test/support/servers/free-port.ts";
import type { ClosedLoop } from "./http-connections.ts";
import { loadHttp } from "./http-connections.ts";
import { manualQuestions as questions } from "./manual-questions.ts";
import type { Cores } from "./processors.ts";
import { foreignShare, processorTime, residentMb, usedMs } from "./processors.ts";
import { closedLoop, handOver, openCustomers, openLoop } from "./widget-customers.ts";

export interface PathOptions {
  /** The server to create databases on; absent: SQLite. */
  readonly mysqlServer?: string | undefined;
  readonly cores: Cores;
  readonly rounds: number;
  readonly seconds: number;
  readonly nodeArguments: readonly string[];
  readonly progress: (line: string) => void;
}

/** One round: rates per second, latencies in milliseconds from the scheduled time. */
export interface Round {
  readonly bareEach: number;
  readonly bareGroup: number;
  readonly acknowledged: number;
  readonly answered: number;
  readonly queried: number;
  readonly openRate: number;
  readonly acknowledgedP50: number;
  readonly acknowledgedP99: number;
  readonly shownP50: number;
  readonly shownP99: number;
  /** Milliseconds of the server's processor per message, its later work included. */
  readonly bareGroupCpu: number;
  readonly acknowledgedCpu: number;
  readonly answeredCpu: number;
  readonly queriedCpu: number;
  /** The share of the machine that others used, 0 to 1. */
  readonly foreign: number;
}

export interface PathReport {
  readonly readyMs: readonly number[];
  readonly idleMb: readonly number[];
  readonly loadedMb: number;
  readonly rounds: readonly Round[];
}

const concurrent = 50;
const customersAll = 500;
const starts = 3;
/** The open loop's share of the closed loop's rate: latency means something only below saturation. */
const openShare = 0.4;
const idleAfterMs = 3_000;

/** Measures the path of a message and, in the same rounds, the cost of its bare inserts. */
export async function measurePath(options: PathOptions): Promise<PathReport> {
  const { cores, progress } = options;
  const database = options.mysqlServer === undefined ? undefined : await emptyMysql(options.mysqlServer);
  const bareDatabase = options.mysqlServer === undefined ? undefined : await emptyMysql(options.mysqlServer);
  const folder = await mkdtemp(join(tmpdir(), "parley-bench-"));
  const installation = await install(database?.url, await manualPages());
  const port = await freePort();
  const barePort = await freePort();
  const readyMs: number[] = [];
  const idleMb: number[] = [];
  const start = (nodeArguments: readonly string[] = []) =>
    // Logging is part of the cost of a request.
    launch({ installation, port, core: cores.server, nodeArguments, env: { LOG_LEVEL: "info" } });
  let program = start();
  const bare = bareServer(barePort, bareDatabase?.url ?? `sqlite:${join(folder, "bare.sqlite")}`, cores.server);
  try {
    for (let i = 0; i < starts; i += 1) {
      readyMs.push((await program.ready) ?? Number.NaN);
      await sleep(idleAfterMs);
      idleMb.push(residentMb(program.pid));
      program.signal("SIGTERM");
      await program.exited;
      program = start(i === starts - 1 ? options.nodeArguments : []);
    }
    await program.ready;
    const pids = { program: program.pid, bare: bare.pid ?? process.pid };
    const rounds: Round[] = [];
    for (let i = 0; i < options.rounds; i += 1) {
      const round = await measureRound({ ...options, port, barePort, installation, pids });
      rounds.push(round);
      progress(
        `round ${i + 1}/${options.rounds}: acknowledged ${Math.round(round.acknowledged)}/s, bare ${Math.round(round.bareEach)}/s and in groups ${Math.round(round.bareGroup)}/s, others used ${Math.round(round.foreign * 100)} %`,
      );
    }
    const loadedMb = residentMb(program.pid);
    program.signal("SIGTERM");
    await program.exited;
    return { readyMs, idleMb, loadedMb, rounds };
  } finally {
    program.signal("SIGKILL");
    bare.kill("SIGKILL");
    await program.exited;
    await installation.remove();
    await rm(folder, { recursive: true, force: true });
    await database?.remove();
    await bareDatabase?.remove();
  }
}

interface RoundOptions extends PathOptions {
  readonly port: number;
  readonly barePort: number;
  readonly installation: Awaited<ReturnType<typeof install>>;
  readonly pids: { readonly program: number; readonly bare: number };
}

async function measureRound({ port, barePort, installation, seconds, pids }: RoundOptions): Promise<Round> {
  const { workspaceId, key } = installation;
  const socketUrl = `ws://127.0.0.1:${port}/widget/ws?workspace=${workspaceId}&channel=widget`;
  const own = [process.pid, pids.program, pids.bare];
  const before = processorTime(own);
  const load = { connections: concurrent, seconds };
  const bare = (path: string) => loadHttp({ ...load, port: barePort, path, headers: () => ({}), body: bareBody });
  const bareEach = await bare("/each");
  const bareGroup = await withCpu(pids.bare, () => bare("/group"));

  // New customers in each round keep conversations equally short.
  const customers = await openCustomers(socketUrl, customersAll);
  const handedOver = await openCustomers(socketUrl, customersAll);
  await handOver(handedOver);
  const acknowledged = await withCpu(pids.program, () => closedLoop(handedOver, concurrent, "acknowledged", seconds));
  const answered = await withCpu(pids.program, () => closedLoop(customers, concurrent, "answered", seconds));
  let asked = 0;
  const query = (): string =>
    JSON.stringify({ workspace_id: workspaceId, query: questions[(asked += 1) % questions.length] });
  const headers = { Authorization: `Bearer ${key}` };
  const queried = await withCpu(pids.program, () =>
    loadHttp({ ...load, port, path: "/v1/query", headers: () => headers, body: query }),
  );
  const openRate = answered.perSecond * openShare;
  const open = await openLoop(customers, openRate, seconds);
  for (const customer of [...customers, ...handedOver]) customer.close();
  return {
    bareEach: bareEach.perSecond,
    bareGroup: bareGroup.perSecond,
    acknowledged: acknowledged.perSecond,
    answered: answered.perSecond,
    queried: queried.perSecond,
    openRate,
    acknowledgedP50: quantile(open.acknowledgedMs, 0.5),
    acknowledgedP99: quantile(open.acknowledgedMs, 0.99),
    shownP50: quantile(open.answeredMs, 0.5),
    shownP99: quantile(open.answeredMs, 0.99),
    bareGroupCpu: bareGroup.cpuMs,
    acknowledgedCpu: acknowledged.cpuMs,
    answeredCpu: answered.cpuMs,
    queriedCpu: queried.cpuMs,
    foreign: foreignShare(before, processorTime(own)),
  };
}

/** Work after the last response belongs to the messages, too. */
const afterworkMs = 1_500;

async function withCpu(pid: number, load: () => Promise<ClosedLoop>): Promise<ClosedLoop & { readonly cpuMs: number }> {
  const before = usedMs(pid);
  const loop = await load();
  await sleep(afterworkMs);
  return { ...loop, cpuMs: (usedMs(pid) - before) / loop.latenciesMs.length };
}

function bareBody(): string {
  const id = randomUUID();
  return JSON.stringify({ conversation_id: id.slice(0, 2), external_id: id, text: questions[0] });
}

function bareServer(port: number, url: string, core: number | undefined) {
  const command = [process.execPath, fileURLToPath(new URL("bare-server.ts", import.meta.url)), String(port), url];
  const [file = "", ...args] = core === undefined ? command : ["taskset", "-c", String(core), ...command];
  return spawn(file, args, { stdio: ["ignore", "ignore", "inherit"] });
}
