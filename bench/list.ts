// The time of a page of the conversation list, by filter and by depth of the cursor:
//   node bench/list.ts [--rows 1000000 --messages 10 --words 8] [--url mysql://user:password@host:port/] [--rounds 100]
//     [--json FILE] [--keep] [--on URL]
// Without --url the database is SQLite in the folder for temporary files, otherwise a new database on the server. It is
// removed at the end unless --keep is given; --on measures the database that an earlier run has kept.
import { randomBytes } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { createConnection } from "mysql2/promise";
import { Problem } from "#domain/problem.ts";
import type { ListPosition } from "#database/search/contract.ts";
import type { ConversationList } from "#database/queries/conversation-list.ts";
import { listConversations } from "#database/queries/conversation-list.ts";
import type { OpenStore } from "#database/open.ts";
import { openStore } from "#database/open.ts";
import { quantile } from "#test/support/quantile.ts";
import type { Size } from "./list-data.ts";
import { random, spacingMs, start, workspaces } from "./list-data.ts";
import { loadMysql, loadSqlite } from "./list-load.ts";

const { values: options } = parseArgs({
  options: {
    rows: { type: "string", default: "1000000" },
    messages: { type: "string", default: "10" },
    words: { type: "string", default: "8" },
    rounds: { type: "string", default: "100" },
    url: { type: "string" },
    on: { type: "string" },
    json: { type: "string" },
    keep: { type: "boolean", default: false },
  },
});
const size: Size = {
  conversations: Number(options.rows),
  messagesEach: Number(options.messages),
  wordsEach: Number(options.words),
};
const rounds = Number(options.rounds);
const end = start + size.conversations * spacingMs;
const workspaceId = workspaces[0].id;
/** A shape of query is not repeated after this total time. */
const shapeMsMax = 8_000;

interface Shape {
  readonly name: string;
  readonly list: Partial<ConversationList>;
}

/** The filters of a list. Each has a value that many conversations have and, where one exists, a rare value. */
const dimensions: readonly (readonly Shape[])[] = [
  [
    { name: "status 70 %", list: { status: "archived" } },
    { name: "status 2 %", list: { status: "escalated" } },
  ],
  [
    { name: "channel 30 %", list: { channel: "widget" } },
    { name: "channel 1 %", list: { channel: "intercom" } },
  ],
  [{ name: "SLA 1 %", list: { slaState: "breached" } }],
  [
    { name: "tag 18 %", list: { tags: ["billing"] } },
    { name: "tag 0.02 %", list: { tags: ["rare-tag"] } },
  ],
  [{ name: "time 10 %", list: { since: start + 0.4 * (end - start), until: start + 0.5 * (end - start) } }],
  [{ name: "e-mail", list: { email: "customer77@example.com" } }],
];

const pairs = dimensions.flatMap((ones, i) =>
  dimensions
    .slice(i + 1)
    .flatMap((others) =>
      ones.flatMap((one) =>
        others.map((other): Shape => ({ name: `${one.name} + ${other.name}`, list: { ...one.list, ...other.list } })),
      ),
    ),
);

const shapes: readonly Shape[] = [
  { name: "no filter", list: {} },
  ...dimensions.flat(),
  ...pairs,
  { name: "two tags 18 %", list: { tags: ["billing", "shipping"] } },
  { name: "tag 18 % + tag 0.02 %", list: { tags: ["billing", "rare-tag"] } },
  { name: "two tags 50 %, none has both", list: { tags: ["even", "odd"] } },
  { name: "channel + status + SLA", list: { channel: "intercom", status: "escalated", slaState: "breached" } },
  { name: "q 0.004 %", list: { text: "rareword" } },
  { name: "q 0.2 %", list: { text: "tailword" } },
  { name: "q 2.4 %", list: { text: "middleword" } },
  { name: "q 6 %", list: { text: "commonword" } },
  { name: "q 22 %", list: { text: "verycommonword" } },
  { name: "q two of 6 %", list: { text: "commonword otherword" } },
  { name: "q 22 % and two of 6 %", list: { text: "verycommonword commonword otherword" } },
  { name: "q 22 % and 0.004 %", list: { text: "verycommonword rareword" } },
  { name: "q phrase 0.2 %", list: { text: '"exact phrase"' } },
  { name: "q 6 % + channel + status", list: { text: "commonword", channel: "slack", status: "escalated" } },
  { name: "q 22 % + tag 18 % + SLA 1 %", list: { text: "verycommonword", tags: ["billing"], slaState: "breached" } },
  { name: "q 22 % + e-mail", list: { text: "verycommonword", email: "customer77@example.com" } },
  { name: "q nothing found", list: { text: "verycommonword nosuchword" } },
];

interface Timing {
  readonly ms: number[];
  /** Processor time where the database runs in this thread: other processes hardly affect it. */
  readonly cpuMs: number[];
  rows: number;
  failed: number;
}

type Timings = ReadonlyMap<string, Timing>;

/** Measures every shape once per round, so that a disturbance of the machine affects all shapes alike. */
async function measure(store: OpenStore, cursor: () => ListPosition | undefined): Promise<Timings> {
  const timings = new Map(
    shapes.map(({ name }): [string, Timing] => [name, { ms: [], cpuMs: [], rows: 0, failed: 0 }]),
  );
  for (let round = -2; round < rounds; round += 1) {
    for (const { name, list } of shapes) {
      const timing = timings.get(name);
      if (timing === undefined || timing.ms.reduce((sum, ms) => sum + ms, 0) > shapeMsMax) continue;
      const before = cursor();
      const began = performance.now();
      const cpuBegan = process.threadCpuUsage();
      let failed = false;
      try {
        const page = await listConversations(store, {
          workspaceId,
          limit: 50,
          ...list,
          ...(before === undefined ? {} : { before }),
        });
        timing.rows = Math.max(timing.rows, page.rows.length);
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        failed = true;
      }
      // The first rounds warm up the caches.
      if (round < 0) continue;
      timing.ms.push(performance.now() - began);
      const { user, system } = process.threadCpuUsage(cpuBegan);
      timing.cpuMs.push((user + system) / 1_000);
      if (failed) timing.failed += 1;
    }
  }
  return timings;
}

function figures({ ms, cpuMs, failed }: Timing) {
  return {
    p50: quantile(ms, 0.5),
    p99: quantile(ms, 0.99),
    cpuP50: quantile(cpuMs, 0.5),
    cpuP99: quantile(cpuMs, 0.99),
    runs: ms.length,
    refused: failed,
  };
}

async function report(store: OpenStore, first: Timings, deep: Timings): Promise<void> {
  const write = (line: string): unknown => process.stdout.write(`${line}\n`);
  const cell = (timing: Timing): string => {
    const { p50, p99, cpuP50, cpuP99, refused, runs } = figures(timing);
    const cpu = store.dialect === "sqlite" ? ` (${cpuP50.toFixed(2)} / ${cpuP99.toFixed(2)})` : "";
    return `${p50.toFixed(2)} / ${p99.toFixed(2)}${cpu}${refused === 0 ? "" : ` (${refused} of ${runs} refused)`}`;
  };
  const base = quantile(first.get("no filter")?.ms ?? [], 0.5);
  const unit = store.dialect === "sqlite" ? "p50 / p99 ms (of the processor)" : "p50 / p99 ms";
  write(`| list | rows | first page ${unit} | × no filter | at a random place ${unit} |`);
  write("|---|---|---|---|---|");
  for (const [name, one] of first) {
    const other = deep.get(name);
    if (other === undefined) continue;
    write(`| ${name} | ${one.rows} | ${cell(one)} | ${(quantile(one.ms, 0.5) / base).toFixed(1)} | ${cell(other)} |`);
  }
  const load = (await readFile("/proc/loadavg", "utf8").catch(() => "unknown")).trim();
  write(`\nload of the machine at the end: ${load}`);
  if (options.json === undefined) return;
  const lists = [...first].map(([name, one]) => {
    const other = deep.get(name);
    return { name, rows: one.rows, first: figures(one), ...(other === undefined ? {} : { random: figures(other) }) };
  });
  await writeFile(options.json, `${JSON.stringify({ dialect: store.dialect, size, load, lists }, null, 2)}\n`);
}

async function run(url: string, load?: (progress: (done: number) => void) => Promise<void>): Promise<void> {
  const store = await openStore(url);
  try {
    if (load !== undefined) {
      await store.migrate();
      const began = performance.now();
      const seconds = (): string => ((performance.now() - began) / 1_000).toFixed(0);
      await load((done) => process.stderr.write(`${done} of ${size.conversations} after ${seconds()} s\n`));
      process.stdout.write(
        `${size.conversations} conversations of ${size.messagesEach} messages on ${store.dialect}, made in ${seconds()} s\n\n`,
      );
    }
    const first = await measure(store, () => undefined);
    const deep = await measure(store, () => ({ startedAt: Math.floor(start + random() * (end - start)), id: "conv_" }));
    await report(store, first, deep);
  } finally {
    await store.close();
  }
}

if (options.on !== undefined) {
  await run(options.on);
} else if (options.url === undefined) {
  const folder = await mkdtemp(join(tmpdir(), "parley-bench-"));
  const path = join(folder, "list.sqlite");
  try {
    await run(`sqlite:${path}`, (progress) => loadSqlite(path, size, progress));
  } finally {
    if (options.keep) process.stderr.write(`kept: --on sqlite:${path}\n`);
    else await rm(folder, { recursive: true, force: true });
  }
} else {
  const server = new URL(options.url);
  const name = `parley_bench_${randomBytes(4).toString("hex")}`;
  const admin = await createConnection(server.href);
  await admin.query(`create database ${name}`);
  server.pathname = `/${name}`;
  try {
    await run(server.href, (progress) => loadMysql(server.href, size, progress));
  } finally {
    if (options.keep) process.stderr.write(`kept: --on ${server.protocol}//…/${name}\n`);
    else await admin.query(`drop database ${name}`);
    await admin.end();
  }
}
