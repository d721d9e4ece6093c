// The speed of the path of a message, compared with its bare inserts on the same machine in the same run:
//   npm run bench [-- --database sqlite|mysql|mysql://user:password@host:port/ … --rounds 5 --seconds 2 --json --profile]
// Without --database: SQLite, and MySQL where a server is installed. `--profile` writes a .cpuprofile of the program to the folder for temporary files.
import { tmpdir } from "node:os";
import { parseArgs } from "node:util";
import { median } from "#test/support/quantile.ts";
import { mysql, teardown } from "#test/support/services.ts";
import type { PathReport, Round } from "./path.ts";
import { measurePath } from "./path.ts";
import { pinGenerator } from "./processors.ts";

const { values: given } = parseArgs({
  options: {
    database: { type: "string", multiple: true },
    rounds: { type: "string", default: "5" },
    seconds: { type: "string", default: "2" },
    json: { type: "boolean", default: false },
    profile: { type: "boolean", default: false },
  },
});

/** Above this use of the machine by others, results mean little. */
const foreignMax = 0.2;

interface Aim {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  readonly target: { readonly atLeast: number } | { readonly below: number };
}

const say = (line: string): unknown => process.stderr.write(`${line}\n`);
const cores = pinGenerator();
const reports: Record<string, { readonly aims: readonly Aim[] } & PathReport> = {};
try {
  for (const [name, server] of await databases()) {
    say(`${name}: ${given.rounds} rounds`);
    const report = await measurePath({
      mysqlServer: server,
      cores,
      rounds: Number(given.rounds),
      seconds: Number(given.seconds),
      nodeArguments: given.profile ? ["--cpu-prof", `--cpu-prof-dir=${tmpdir()}`] : [],
      progress: say,
    });
    reports[name] = { aims: aimsOf(report), ...report };
  }
} finally {
  await teardown();
}
if (given.json) process.stdout.write(`${JSON.stringify({ cores, reports })}\n`);
else for (const [name, report] of Object.entries(reports)) show(name, report);
process.exitCode = Object.values(reports).every(({ aims }) => aims.every(reached)) ? 0 : 1;

async function databases(): Promise<ReadonlyMap<string, string | undefined>> {
  const named = given.database ?? ["sqlite", "mysql"];
  const found = new Map<string, string | undefined>();
  for (const each of named) {
    if (each === "sqlite") {
      found.set("SQLite", undefined);
    } else if (each === "mysql") {
      const server = await mysql();
      if (server.url === undefined) say(`MySQL skipped: ${server.reason}`);
      else found.set("MySQL", server.url);
    } else {
      found.set("MySQL", each);
    }
  }
  return found;
}

function aimsOf({ rounds, readyMs, idleMb }: PathReport): readonly Aim[] {
  const ratio = (against: "bareEach" | "bareGroup"): number =>
    median(rounds.map((round) => round.acknowledged / round[against]));
  return [
    {
      name: "acknowledged, against bare inserts, a commit each",
      value: ratio("bareEach"),
      unit: "×",
      target: { atLeast: 1.5 },
    },
    {
      name: "acknowledged, against bare inserts, group commit",
      value: ratio("bareGroup"),
      unit: "×",
      target: { atLeast: 0.35 },
    },
    {
      name: "answer shown after the question, p50",
      value: median(rounds.map(({ shownP50 }) => shownP50)),
      unit: "ms",
      target: { below: 25 },
    },
    { name: "ready after the start", value: median(readyMs), unit: "ms", target: { below: 2_000 } },
    { name: "memory when idle", value: median(idleMb), unit: "MB", target: { below: 150 } },
  ];
}

function reached({ value, target }: Aim): boolean {
  return "atLeast" in target ? value >= target.atLeast : value < target.below;
}

function show(name: string, { aims, rounds, loadedMb }: (typeof reports)[string]): void {
  const write = (line: string): unknown => process.stdout.write(`${line}\n`);
  write(
    `\n${name}: 50 customers, ${rounds.length} rounds${cores.pinned ? ", server and load on a processor each" : ""}`,
  );
  write(`\n  ${"".padEnd(46)} ${"median".padStart(9)} ${"least".padStart(9)} ${"most".padStart(9)}`);
  const rows: readonly (readonly [string, keyof Round, string])[] = [
    ["bare inserts, a commit each", "bareEach", "/s"],
    ["bare inserts, group commit", "bareGroup", "/s"],
    ["message to a person, acknowledged (WebSocket)", "acknowledged", "/s"],
    ["message to answer shown (WebSocket)", "answered", "/s"],
    ["question to stored answer (POST /v1/query)", "queried", "/s"],
    ["open loop, rate", "openRate", "/s"],
    ["… acknowledged, p50", "acknowledgedP50", "ms"],
    ["… acknowledged, p99", "acknowledgedP99", "ms"],
    ["… answer shown, p50", "shownP50", "ms"],
    ["… answer shown, p99", "shownP99", "ms"],
    ["processor: bare insert, group commit", "bareGroupCpu", "ms"],
    ["processor: message to a person", "acknowledgedCpu", "ms"],
    ["processor: answer shown", "answeredCpu", "ms"],
    ["processor: query", "queriedCpu", "ms"],
  ];
  const number = (value: number): string => value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0).padStart(9);
  for (const [label, field, unit] of rows) {
    const values = rounds.map((round) => round[field]);
    write(
      `  ${label.padEnd(46)} ${number(median(values))} ${number(Math.min(...values))} ${number(Math.max(...values))} ${unit}`,
    );
  }
  write(`  ${"memory after the load".padEnd(46)} ${number(loadedMb)} ${"".padStart(19)} MB\n`);
  for (const aim of aims) {
    const { value, unit, target } = aim;
    const bound = "atLeast" in target ? `at least ${target.atLeast}` : `below ${target.below}`;
    write(
      `  ${reached(aim) ? "✓" : "✗"} ${aim.name.padEnd(52)} ${value.toFixed(2).padStart(8)} ${unit.padEnd(2)}  (${bound})`,
    );
  }
  const foreign = Math.max(...rounds.map((round) => round.foreign));
  if (foreign > foreignMax) {
    write(
      `\n  Others used up to ${Math.round(foreign * 100)} % of the machine meanwhile: measure again when it is quiet.`,
    );
  }
}
