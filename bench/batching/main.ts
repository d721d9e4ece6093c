// Savings of each batching layer of the write path: processor time, writes, transactions and flushes for each message, with
// all layers and with some that pass through, in turns in one run. Messages come from Slack and are answered:
//   node bench/batching/main.ts [--database sqlite|mysql --rounds 3 --messages 1000 --rate 100 --off writer …]
// `--off` names the layers to leave out, and can be repeated. MySQL runs on MariaDB, which must be installed.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { createConnection } from "mysql2/promise";
import type { RowDataPacket } from "mysql2/promise";
import { manualPages } from "#admin/installation/manual.ts";
import { emptyMysql } from "#test/support/database/new-database.ts";
import { install } from "#test/support/program/installation.ts";
import { median, quantile } from "#test/support/quantile.ts";
import { startMariaDb, teardown } from "#test/support/services.ts";
import type { Target } from "../channels/load.ts";
import { createLoads } from "../channels/load.ts";
import { slackCustomers, startFakePlatform } from "../channels/platform.ts";
import { startParley } from "../channels/subjects.ts";
import { manualQuestions } from "../manual-questions.ts";
import { pinGenerator, usedMs } from "../processors.ts";
import type { counts } from "./counts.ts";

const { values: given } = parseArgs({
  options: {
    database: { type: "string", default: "sqlite" },
    rounds: { type: "string", default: "3" },
    messages: { type: "string", default: "1000" },
    rate: { type: "string", default: "100" },
    off: { type: "string", multiple: true, default: ["writer", "group", "writer,group"] },
  },
});
const messages = Number(given.messages);
const rate = Number(given.rate);
const burstConnections = 200;
/** Work after the last reply belongs to the messages, too. */
const afterworkMs = 1_500;

interface Variant {
  readonly name: string;
  readonly pid: number;
  readonly target: Target;
  readonly countsFile: string;
  end(): Promise<void>;
}

/** For each message; times in milliseconds, rates per second. */
interface Cost {
  readonly cpuMs: number;
  readonly writes: number;
  readonly transactions: number;
  readonly flushes: number;
  readonly statements: number;
  readonly acknowledgedP50: number;
  readonly perSecond: number;
}

const cores = pinGenerator();
const folder = mkdtempSync(join(tmpdir(), "parley-batching-"));
const platform = await startFakePlatform();
const loads = createLoads(platform, burstConnections);
const mysqlUrl = given.database === "mysql" ? await startMysql() : undefined;
const variants: Variant[] = [];
const costs = new Map<string, { readonly burst: Cost[]; readonly steady: Cost[] }>();
try {
  for (const off of ["", ...given.off]) variants.push(await start(off));
  for (const { target } of variants) await loads.untilAcknowledged(target);
  for (let round = 1; round <= Number(given.rounds); round += 1) {
    for (const variant of variants) {
      const { burst, steady } = costs.get(variant.name) ?? { burst: [], steady: [] };
      costs.set(variant.name, { burst, steady });
      burst.push(
        await measure(variant, async () => {
          const { acknowledgedMs, repliedPerSecond } = await loads.burst(variant.target, messages, burstConnections);
          return { acknowledgedMs, perSecond: repliedPerSecond };
        }),
      );
      steady.push(
        await measure(variant, async () => ({
          ...(await loads.atRate(variant.target, rate, messages / rate)),
          perSecond: rate,
        })),
      );
    }
    process.stderr.write(`round ${round}/${given.rounds}\n`);
  }
} finally {
  loads.close();
  for (const variant of variants) await variant.end();
  platform.close();
  await teardown();
  rmSync(folder, { recursive: true, force: true });
}
show("burst");
show("steady");

/** Waits for the disk at each commit, as a server in production does. */
async function startMysql(): Promise<string> {
  const server = await startMariaDb(["--innodb-flush-log-at-trx-commit=1", "--innodb-flush-method=fsync"]);
  if (server.url === undefined) throw new Error(server.reason);
  return server.url;
}

async function start(off: string): Promise<Variant> {
  const database = mysqlUrl === undefined ? undefined : await emptyMysql(mysqlUrl);
  const name = off === "" ? "all layers" : `without ${off.replaceAll(",", ", ")}`;
  const countsFile = join(folder, `${off || "all"}.json`);
  const preload = new URL("preload.ts", import.meta.url);
  preload.search = new URLSearchParams({ off, counts: countsFile }).toString();
  const parley = await startParley(
    {
      platform,
      core: cores.server,
      customers: messages,
      nodeArguments: ["--import", preload.href],
      telegram: false,
      isAged: false,
    },
    { installation: await install(database?.url, await manualPages()), questions: manualQuestions },
  );
  const customers = slackCustomers(messages, String.fromCodePoint(65 + variants.length));
  const target = { ...parley.slack, customers, texts: manualQuestions };
  return { name, pid: parley.pid, target, countsFile, end: parley.end };
}

async function measure(
  { pid, countsFile }: Variant,
  load: () => Promise<{ readonly acknowledgedMs: readonly number[]; readonly perSecond: number }>,
): Promise<Cost> {
  const before = { ...countsIn(countsFile), statements: await statements(), cpu: usedMs(pid) };
  const { acknowledgedMs, perSecond } = await load();
  await sleep(afterworkMs);
  const after = { ...countsIn(countsFile), statements: await statements(), cpu: usedMs(pid) };
  const each = (name: keyof typeof after): number => (after[name] - before[name]) / acknowledgedMs.length;
  return {
    cpuMs: each("cpu"),
    writes: each("writes"),
    transactions: each("transactions"),
    flushes: each("flushes"),
    statements: each("statements"),
    acknowledgedP50: quantile(acknowledgedMs, 0.5),
    perSecond,
  };
}

function countsIn(file: string): typeof counts {
  return JSON.parse(readFileSync(file, "utf8")) as typeof counts;
}

/** Statements that the MySQL server has run. SQLite does not count them. */
async function statements(): Promise<number> {
  if (mysqlUrl === undefined) return Number.NaN;
  const connection = await createConnection(mysqlUrl);
  try {
    const [rows] = await connection.query<RowDataPacket[]>("show global status like 'Questions'");
    return Number(rows[0]?.["Value"]);
  } finally {
    await connection.end();
  }
}

function show(load: "burst" | "steady"): void {
  const title = load === "burst" ? `${messages} messages at once` : `${rate} messages a second`;
  const fields: readonly (keyof Cost)[] = [
    "cpuMs",
    "writes",
    "transactions",
    "flushes",
    "statements",
    "acknowledgedP50",
    "perSecond",
  ];
  const lines = [...costs].map(([name, of]) => {
    const values = fields.map((field) => median(of[load].map((cost) => cost[field])));
    return `| ${[name, ...values.map((value) => value.toFixed(value < 10 ? 2 : 0))].join(" | ")} |`;
  });
  process.stdout.write(
    `\n${given.database}, ${title}, per message\n| | ${fields.join(" | ")} |\n|---|${fields.map(() => "---:").join("|")}|\n${lines.join("\n")}\n`,
  );
}
