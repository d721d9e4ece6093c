// Rate and latency of answers to events of Slack and Telegram, compared with plain handlers on Bolt, grammY and the Chat
// SDK that answer the same events with a fixed text. All use the same fake platform, in turns in one run:
//   npm run bench:channels [-- --rounds 5 --seconds 3 --customers 2000 --burst 2000 --only Bolt --json FILE --profile]
// Parley stores every message and syncs it to disk before the acknowledgement. `--profile` writes a .cpuprofile of Parley
// to the folder for temporary files. `--aged` adds Parley on a database of 15,000 conversations and 420,000 messages, just
// started after an outage of two hours in which a timer of each conversation came due. The first round has the rest of that
// backlog; the conversations are made up, all of them open and of the website chat.
import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { median, quantile } from "#test/support/quantile.ts";
import { teardown } from "#test/support/services.ts";
import { foreignShare, pinGenerator, processorTime, residentMb, usedMs } from "../processors.ts";
import { createLoads } from "./load.ts";
import { startFakePlatform } from "./platform.ts";
import type { Platform, Subject } from "./subjects.ts";
import { startSubjects } from "./subjects.ts";

const { values: given } = parseArgs({
  options: {
    rounds: { type: "string", default: "5" },
    seconds: { type: "string", default: "3" },
    customers: { type: "string", default: "2000" },
    burst: { type: "string", default: "2000" },
    rate: { type: "string", default: "200" },
    only: { type: "string", multiple: true },
    json: { type: "string" },
    profile: { type: "boolean", default: false },
    aged: { type: "boolean", default: false },
  },
});
const rounds = Number(given.rounds);
const seconds = Number(given.seconds);
const rate = Number(given.rate);
const concurrent = 50;
const burst = Number(given.burst);
/** The number of connections of a busy platform. */
const burstConnections = 200;
/** A round in which others used more of the machine than this is measured again. */
const foreignMax = 0.2;
const roundsMax = rounds * 2;
/** Work after the last reply counts for its own subject, not for the next one. */
const afterworkMs = 700;

interface Measured {
  readonly eventsPerSecond: number;
  readonly cpuMs: number;
  readonly acceptedPerSecond: number;
  readonly acceptedP99: number;
  readonly acknowledgedP50: number;
  readonly acknowledgedP99: number;
  readonly repliedP50: number;
  readonly repliedP99: number;
  readonly memoryMb: number;
  readonly burstAcknowledgedPerSecond: number;
  readonly burstRepliedPerSecond: number;
  readonly burstAcknowledgedP99: number;
}

interface Round {
  readonly foreign: number;
  readonly of: ReadonlyMap<string, Measured>;
}

const say = (line: string): unknown => process.stderr.write(`${line}\n`);
const labelOf = ({ platform, name }: Pick<Subject, "platform" | "name">): string => `${platform}: ${name}`;
const cores = pinGenerator();
const platform = await startFakePlatform();
const loads = createLoads(platform, concurrent);
const measured: Round[] = [];
let labels: readonly string[] = [];
const subjects = await startSubjects({
  platform,
  core: cores.server,
  customers: Number(given.customers),
  isAged: given.aged,
  nodeArguments: given.profile ? ["--cpu-prof", `--cpu-prof-dir=${tmpdir()}`] : [],
});
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => {
    // Stops all started processes.
    void subjects
      .close()
      .then(teardown)
      .finally(() => process.exit(1));
  });
}
try {
  for (const line of subjects.left) say(line);
  const chosen = subjects.all.filter(
    (subject) => given.only === undefined || given.only.some((part) => labelOf(subject).includes(part)),
  );
  labels = chosen.map(labelOf);
  for (const subject of chosen) await loads.untilAcknowledged(subject);
  const pids = [process.pid, ...new Set(subjects.all.flatMap((subject) => subject.pids))];
  let taken = 0;
  while (measured.length < rounds && taken < roundsMax) {
    taken += 1;
    const before = processorTime(pids);
    const of = new Map<string, Measured>();
    for (const subject of chosen) of.set(labelOf(subject), await measure(subject));
    const foreign = foreignShare(before, processorTime(pids));
    say(`round ${taken}: others used ${Math.round(foreign * 100)} % of the machine`);
    if (foreign <= foreignMax || taken - measured.length > rounds) measured.push({ foreign, of });
    else if (roundsMax - taken < rounds - measured.length) measured.push({ foreign, of });
  }
} finally {
  loads.close();
  await subjects.close();
  platform.close();
  await teardown();
}
show();
if (given.json !== undefined) {
  const plain = measured.map(({ foreign, of }) => ({ foreign, of: Object.fromEntries(of) }));
  await writeFile(
    given.json,
    JSON.stringify({ cores, rounds: plain, otherCalls: Object.fromEntries(platform.otherCalls()) }),
  );
}

async function measure(subject: Subject): Promise<Measured> {
  const used = (): number => subject.pids.reduce((total, pid) => total + usedMs(pid), 0);
  const before = used();
  const replied = await loads.untilReply(subject, seconds);
  const memoryMb = residentMb(subject.pids[0] ?? 0);
  await sleep(afterworkMs);
  const cpuMs = (used() - before) / replied.repliedMs.length;
  const accepted = await loads.untilAcknowledged(subject);
  await sleep(afterworkMs);
  const open = await loads.atRate(subject, rate, seconds);
  await sleep(afterworkMs);
  const poured = await loads.burst(subject, burst, burstConnections);
  await sleep(afterworkMs);
  return {
    eventsPerSecond: replied.perSecond,
    cpuMs,
    acceptedPerSecond: accepted.perSecond,
    acceptedP99: quantile(accepted.acknowledgedMs, 0.99),
    acknowledgedP50: quantile(open.acknowledgedMs, 0.5),
    acknowledgedP99: quantile(open.acknowledgedMs, 0.99),
    repliedP50: quantile(open.repliedMs, 0.5),
    repliedP99: quantile(open.repliedMs, 0.99),
    memoryMb,
    burstAcknowledgedPerSecond: poured.acknowledgedPerSecond,
    burstRepliedPerSecond: poured.repliedPerSecond,
    burstAcknowledgedP99: quantile(poured.acknowledgedMs, 0.99),
  };
}

interface Ratio {
  readonly name: string;
  readonly platform: Platform;
  readonly ours: string;
  readonly theirs: string;
  readonly field: keyof Measured;
  readonly wanted: { readonly atLeast: number } | { readonly atMost: number };
}

function ratios(): readonly Ratio[] {
  const manual = "Parley, manual";
  const large = "Parley, 3000 passages";
  const fixed = "Parley, fixed text";
  const of = (
    name: string,
    at: Platform,
    ours: string,
    theirs: string,
    field: keyof Measured,
    wanted: Ratio["wanted"],
  ) => ({
    name,
    platform: at,
    ours: labelOf({ platform: at, name: ours }),
    theirs: labelOf({ platform: at, name: theirs }),
    field,
    wanted,
  });
  const redis = "Chat SDK, Redis";
  return [
    of("aged database, events answered a second", "slack", `${manual}, aged`, manual, "eventsPerSecond", {
      atLeast: 0.8,
    }),
    of("aged database, events answered a second", "slack", `${fixed}, aged`, fixed, "eventsPerSecond", {
      atLeast: 0.8,
    }),
    of("aged database, reply p50", "slack", `${manual}, aged`, manual, "repliedP50", { atMost: 1.2 }),
    of("aged database, reply p50", "slack", `${fixed}, aged`, fixed, "repliedP50", { atMost: 1.2 }),
    of("B1 events answered a second, from the manual", "slack", manual, "Bolt", "eventsPerSecond", { atLeast: 2 }),
    of("B1 … from 3,000 passages", "slack", large, "Bolt", "eventsPerSecond", { atLeast: 2 }),
    of("B1 … with a fixed text", "slack", fixed, "Bolt", "eventsPerSecond", { atLeast: 2 }),
    of("B2 events answered a second, from the manual", "slack", manual, redis, "eventsPerSecond", { atLeast: 4 }),
    of("B3 events answered a second, with a fixed text", "telegram", fixed, "grammY", "eventsPerSecond", {
      atLeast: 1.5,
    }),
    of("B3 … from the manual", "telegram", manual, "grammY", "eventsPerSecond", { atLeast: 1.5 }),
    of("processor time of an event", "slack", manual, "Bolt", "cpuMs", { atMost: 1 }),
    of("processor time of an event", "slack", large, "Bolt", "cpuMs", { atMost: 1 }),
    of("processor time of an event", "slack", fixed, "Bolt", "cpuMs", { atMost: 1 }),
    of("processor time of an event", "slack", manual, redis, "cpuMs", { atMost: 1 }),
    of("processor time of an event", "telegram", manual, "grammY", "cpuMs", { atMost: 1 }),
    of("processor time of an event", "telegram", fixed, "grammY", "cpuMs", { atMost: 1 }),
    of("B4 reply p99", "slack", manual, redis, "repliedP99", { atMost: 0.5 }),
    of("B4 reply p99", "slack", manual, "Bolt", "repliedP99", { atMost: 1 }),
    of("B5 reply p50", "slack", manual, "Bolt", "repliedP50", { atMost: 3 }),
    of("B6 memory after B1", "slack", manual, "Bolt", "memoryMb", { atMost: 1 }),
    of("B6 memory after B1", "slack", manual, redis, "memoryMb", { atMost: 1 }),
    of("webhooks accepted a second", "slack", manual, "Bolt", "acceptedPerSecond", { atLeast: 1 }),
    of("burst acknowledged a second, fixed text", "slack", fixed, "Bolt", "burstAcknowledgedPerSecond", {
      atLeast: 2,
    }),
    of("burst acknowledged a second, from the manual", "slack", manual, "Bolt", "burstAcknowledgedPerSecond", {
      atLeast: 2,
    }),
    of("burst answered a second, fixed text", "slack", fixed, "Bolt", "burstRepliedPerSecond", { atLeast: 1 }),
    of("acknowledged p99", "slack", large, "Bolt", "acknowledgedP99", { atMost: 1 }),
    of("acknowledged p99", "slack", manual, "Bolt", "acknowledgedP99", { atMost: 1 }),
  ];
}

function show(): void {
  const write = (line: string): unknown => process.stdout.write(`${line}\n`);
  const number = (value: number): string => value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0);
  const of = (label: string, field: keyof Measured): readonly number[] =>
    measured.flatMap((round) => round.of.get(label)?.[field] ?? []);
  write(
    `\n${concurrent} at a time, ${rate}/s at the open loop, ${given.customers} customers each, bursts of ${burst} over ${burstConnections} connections, ${measured.length} rounds${cores.pinned ? ", subjects and load on a processor each" : ""}; medians (least–most)\n`,
  );
  const columns: readonly (readonly [string, keyof Measured])[] = [
    ["answered/s", "eventsPerSecond"],
    ["CPU ms", "cpuMs"],
    ["accepted/s", "acceptedPerSecond"],
    ["… ack p99", "acceptedP99"],
    ["ack p50", "acknowledgedP50"],
    ["ack p99", "acknowledgedP99"],
    ["reply p50", "repliedP50"],
    ["reply p99", "repliedP99"],
    ["MB", "memoryMb"],
    ["burst ack/s", "burstAcknowledgedPerSecond"],
    ["burst answered/s", "burstRepliedPerSecond"],
    ["burst ack p99", "burstAcknowledgedP99"],
  ];
  const range = (values: readonly number[]): string =>
    `${number(median(values))} (${number(Math.min(...values))}–${number(Math.max(...values))})`;
  write(`| | ${columns.map(([title]) => title).join(" | ")} |`);
  write(`|---|${columns.map(() => "---").join("|")}|`);
  for (const label of labels)
    write(`| ${label} | ${columns.map(([, field]) => range(of(label, field))).join(" | ")} |`);
  write("\n| against | ratio | least–most | wanted | |\n|---|---|---|---|---|");
  for (const { name, ours, theirs, field, wanted } of ratios()) {
    const values = measured.flatMap((round) => {
      const [a, b] = [round.of.get(ours)?.[field], round.of.get(theirs)?.[field]];
      return a === undefined || b === undefined ? [] : [a / b];
    });
    if (values.length === 0) continue;
    const ratio = median(values);
    const reached = "atLeast" in wanted ? ratio >= wanted.atLeast : ratio <= wanted.atMost;
    const bound = "atLeast" in wanted ? `≥ ${wanted.atLeast}` : `≤ ${wanted.atMost}`;
    write(
      `| ${name}, ${ours} / ${theirs} | ${ratio.toFixed(2)} | ${Math.min(...values).toFixed(2)}–${Math.max(...values).toFixed(2)} | ${bound} | ${reached ? "✓" : "✗"} |`,
    );
    if (!reached) process.exitCode = 1;
  }
  write(`\nOther calls at the platform: ${JSON.stringify(Object.fromEntries(platform.otherCalls()))}`);
  const foreign = Math.max(...measured.map((round) => round.foreign));
  if (foreign > foreignMax) {
    write(`Others used up to ${Math.round(foreign * 100)} % of the machine meanwhile: measure again when it is quiet.`);
  }
}
