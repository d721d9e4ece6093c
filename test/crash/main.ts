// Kills the program repeatedly under load, at random moments and at each named point of a message's path, and reports
// what was lost, duplicated or left undone:
//   node test/crash/main.ts [--kills 100] [--database sqlite|mysql|mysql://user:password@host:port/] [--seed 1]
// `mysql` starts a server where one is installed. With a URL, a database is created on that server and dropped afterwards.
import { parseArgs } from "node:util";
import { median } from "../support/quantile.ts";
import type { TestDatabase } from "../support/database/new-database.ts";
import { emptyMysql } from "../support/database/new-database.ts";
import { mysql, teardown } from "../support/services.ts";
import type { CrashReport } from "./run.ts";
import { runCrashTest } from "./run.ts";

const violationsShown = 50;

const { values: given } = parseArgs({
  options: {
    kills: { type: "string", default: "100" },
    database: { type: "string", default: "sqlite" },
    customers: { type: "string", default: "30" },
    "api-clients": { type: "string", default: "6" },
    seed: { type: "string", default: String(Math.floor(Date.now() / 1_000) % 100_000) },
  },
});

const say = (line: string): unknown => process.stdout.write(`${line}\n`);

const database = await openDatabase();
try {
  const seed = Number(given.seed);
  say(`${given.kills} kills on ${given.database === "sqlite" ? "SQLite" : "MySQL"}, seed ${seed}`);
  const report = await runCrashTest({
    kills: Number(given.kills),
    customers: Number(given.customers),
    apiClients: Number(given["api-clients"]),
    seed,
    databaseUrl: database?.url,
    progress: say,
  });
  show(report);
  process.exitCode = report.violations.length === 0 ? 0 : 1;
} finally {
  await database?.remove();
  await teardown();
}

async function openDatabase(): Promise<TestDatabase | undefined> {
  if (given.database === "sqlite") return undefined;
  if (given.database !== "mysql") return emptyMysql(given.database);
  const server = await mysql();
  if (server.url === undefined) throw new Error(server.reason);
  return emptyMysql(server.url);
}

function show({ kills, violations, ...counts }: CrashReport): void {
  say("");
  for (const [at, group] of Map.groupBy(kills, (kill) => kill.at))
    say(`  ${at.padEnd(22)} killed ${group.length} times`);
  const ready = kills.flatMap(({ readyMs }) => (readyMs === null ? [] : [readyMs]));
  const rows = {
    "messages acknowledged": counts.messagesAcknowledged,
    "… sent again": counts.messagesResent,
    "answers shown": counts.answersShown,
    "API questions answered": counts.questionsAnswered,
    "… broken off": counts.questionsBroken,
    reconnections: counts.reconnections,
    "ready after, median ms": Math.round(median(ready)),
    "ready after, longest ms": Math.round(Math.max(...ready)),
    violations: violations.length,
  };
  say("");
  for (const [name, value] of Object.entries(rows)) say(`  ${name.padEnd(24)} ${String(value).padStart(8)}`);
  if (violations.length > 0) say("");
  for (const violation of violations.slice(0, violationsShown)) say(`  ✗ ${violation}`);
  if (violations.length > violationsShown) say(`  … and ${violations.length - violationsShown} more`);
  say("");
  say(
    JSON.stringify({
      crash: {
        database: given.database.split(":")[0],
        seed: Number(given.seed),
        kills: kills.length,
        ...counts,
        violations: violations.length,
      },
    }),
  );
}
