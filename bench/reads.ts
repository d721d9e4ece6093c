// Reads of the API per second, compared with a bare route that runs the same statements, on the same machine in the same
// run:
//   node bench/reads.ts [--url mysql://user:password@host:port/] [--rounds 5] [--seconds 2] [--json FILE] [--profile]
//     [--read list|conversation|messages]
import { spawn } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { parseArgs } from "node:util";
import { fileURLToPath } from "node:url";
import { systemClock } from "#runtime/clock.ts";
import { createKey } from "#admin/api-keys.ts";
import { openStore } from "#database/open.ts";
import { seedConversations } from "#test/support/database/conversation-rows.ts";
import { install } from "#test/support/program/installation.ts";
import { launch } from "#test/support/program/launch.ts";
import { freePort } from "#test/support/servers/free-port.ts";
import { emptyMysql } from "#test/support/database/new-database.ts";
import { median, quantile } from "#test/support/quantile.ts";
import { loadHttp } from "./http-connections.ts";
import { foreignShare, pinGenerator, processorTime, usedMs } from "./processors.ts";

const { values: options } = parseArgs({
  options: {
    url: { type: "string" },
    rounds: { type: "string", default: "5" },
    seconds: { type: "string", default: "2" },
    json: { type: "string" },
    profile: { type: "boolean", default: false },
    read: { type: "string" },
  },
});
const rounds = Number(options.rounds);
const seconds = Number(options.seconds);
const connections = 50;
/** More requests than the limit of one key are needed, on any plan. */
const keyCount = 60;
/** The aim: at least this share of the bare route's rate. */
const aim = 0.5;

interface Measured {
  readonly read: string;
  readonly bare: number;
  readonly api: number;
  /** Milliseconds of the server's processor per request. */
  readonly bareCpu: number;
  readonly apiCpu: number;
}

const cores = pinGenerator();
const database = options.url === undefined ? undefined : await emptyMysql(options.url);
const installation = await install(database?.url, []);
const { workspaceId, databaseUrl } = installation;
const keys: string[] = [];
let conversationId = "";
const store = await openStore(databaseUrl);
try {
  const ids = await seedConversations(
    store,
    Array.from({ length: 2_000 }, (_, i) => ({
      workspaceId,
      startedAt: Date.UTC(2026, 0, 1) + i * 1_000,
      tags: i % 3 === 0 ? ["billing", "vip"] : ["billing"],
      email: `customer${i}@example.com`,
      messages: Array.from({ length: 10 }, (__, n) => `message ${n} about the order ${i}, which has not come yet`),
    })),
  );
  conversationId = ids.at(-1) ?? "";
  for (let i = 0; i < keyCount; i += 1)
    keys.push((await createKey(store, systemClock, { workspaceId, name: `bench ${i}` })).key);
} finally {
  await store.close();
}

const [port, barePort] = [await freePort(), await freePort()];
const nodeArguments = options.profile ? ["--cpu-prof", `--cpu-prof-dir=${tmpdir()}`] : [];
const program = launch({ installation, port, core: cores.server, nodeArguments, env: { LOG_LEVEL: "info" } });
const bareCommand = [
  process.execPath,
  fileURLToPath(new URL("bare-reads.ts", import.meta.url)),
  String(barePort),
  databaseUrl,
  workspaceId,
  conversationId,
];
const pinned = cores.server === undefined ? bareCommand : ["taskset", "-c", String(cores.server), ...bareCommand];
const bare = spawn(pinned[0] ?? "", pinned.slice(1), { stdio: ["ignore", "ignore", "inherit"] });

const all = [
  { read: "list", path: `/v1/conversations?workspace_id=${workspaceId}` },
  { read: "conversation", path: `/v1/conversations/${conversationId}` },
  { read: "messages", path: `/v1/conversations/${conversationId}/messages` },
] as const;
const reads = all.filter(({ read }) => options.read === undefined || read === options.read);

let asked = 0;
const headers = (): Readonly<Record<string, string>> => ({
  Authorization: `Bearer ${keys[(asked += 1) % keys.length] ?? ""}`,
});

async function measured(pid: number, load: Parameters<typeof loadHttp>[0]) {
  const before = usedMs(pid);
  const { perSecond, latenciesMs } = await loadHttp(load);
  return { perSecond, cpu: (usedMs(pid) - before) / latenciesMs.length, p99: quantile(latenciesMs, 0.99) };
}

try {
  await program.ready;
  while (
    !(await fetch(`http://127.0.0.1:${barePort}/health/ready`).then(
      ({ ok }) => ok,
      () => false,
    ))
  );
  const own = [process.pid, program.pid, bare.pid ?? process.pid];
  const before = processorTime(own);
  const measurements: Measured[] = [];
  for (let round = 0; round < rounds; round += 1) {
    for (const { read, path } of reads) {
      const load = { connections, seconds };
      const plain = await measured(bare.pid ?? 0, { ...load, port: barePort, path: `/${read}`, headers: () => ({}) });
      const api = await measured(program.pid, { ...load, port, path, headers });
      measurements.push({ read, bare: plain.perSecond, api: api.perSecond, bareCpu: plain.cpu, apiCpu: api.cpu });
      process.stderr.write(
        `round ${round + 1}, ${read}: ${Math.round(api.perSecond)}/s against ${Math.round(plain.perSecond)}/s\n`,
      );
    }
  }
  const foreign = foreignShare(before, processorTime(own));
  process.stdout.write(
    "| read | bare /s | API /s | ratio, median (least–most) | CPU ms bare | CPU ms API | ratio of CPU |\n",
  );
  process.stdout.write("|---|---|---|---|---|---|---|\n");
  let good = true;
  for (const { read } of reads) {
    const of = measurements.filter((each) => each.read === read);
    const ratios = of.map((each) => each.api / each.bare);
    const middle = (pick: (each: Measured) => number): number => median(of.map(pick));
    const [bareCpu, apiCpu] = [middle((each) => each.bareCpu), middle((each) => each.apiCpu)];
    good &&= median(ratios) >= aim;
    process.stdout.write(
      `| ${read} | ${Math.round(middle((each) => each.bare))} | ${Math.round(middle((each) => each.api))} | ${median(ratios).toFixed(2)} (${Math.min(...ratios).toFixed(2)}–${Math.max(...ratios).toFixed(2)}) | ${bareCpu.toFixed(3)} | ${apiCpu.toFixed(3)} | ${(bareCpu / apiCpu).toFixed(2)} |\n`,
    );
  }
  process.stdout.write(`\nothers used ${Math.round(foreign * 100)} % of the machine meanwhile\n`);
  if (options.json !== undefined)
    await writeFile(options.json, `${JSON.stringify({ foreign, rounds: measurements }, null, 2)}\n`);
  process.exitCode = good ? 0 : 1;
} finally {
  program.signal("SIGTERM");
  bare.kill("SIGKILL");
  await program.exited;
  await installation.remove();
  await database?.remove();
}
