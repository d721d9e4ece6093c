// How long a page of the conversation list takes, by filter, and by depth of the cursor, in a workspace of many
// conversations:  node bench/list.ts --rows 100000 [--url mysql://user:password@host:port/] [--rounds 100]
// Without --url it is SQLite in a temporary file; with it, a database of its own that is dropped at the end.
import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { createConnection } from "mysql2/promise";
import { newId } from "#domain/ids.ts";
import { Problem } from "#domain/problem.ts";
import type { ListPosition } from "#engine/ports.ts";
import type { ConversationList } from "#store/conversation-list.ts";
import { listConversations } from "#store/conversation-list.ts";
import { documentOf, facetTokens } from "#store/conversation-search-words.ts";
import type { OpenStore } from "#store/open.ts";
import { openStore } from "#store/open.ts";
import { openDatabase } from "#store/sqlite.ts";
import type { ConversationSeed } from "../test/support/conversation-rows.ts";
import { rowsOf } from "../test/support/conversation-rows.ts";

const { values: options } = parseArgs({
  options: {
    rows: { type: "string", default: "100000" },
    rounds: { type: "string", default: "100" },
    url: { type: "string" },
  },
});
const rows = Number(options.rows);
const rounds = Number(options.rounds);
const workspaceId = "wt_bench0_0123456789";
const start = Date.UTC(2026, 0, 1);
const spacingMs = 997;
const end = start + rows * spacingMs;
/** A shape of query that has taken this long in all is not run again. */
const shapeMsMax = 8_000;

let state = 42;
function random(): number {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return state / 2 ** 32;
}

/** Picks by weights that add up to 1. */
function pick<T>(choices: readonly (readonly [T, number])[]): T {
  let left = random();
  for (const [value, weight] of choices) {
    left -= weight;
    if (left < 0) return value;
  }
  const [first] = choices;
  if (first === undefined) throw new Error("nothing to pick from");
  return first[0];
}

const syllables = [
  "ba",
  "co",
  "di",
  "fu",
  "ge",
  "ha",
  "ki",
  "lo",
  "mu",
  "ne",
  "po",
  "ra",
  "si",
  "to",
  "vu",
  "wa",
  "xe",
  "yo",
  "zi",
  "qua",
];
const vocabulary = Array.from({ length: 8_000 }, (_, i) =>
  [i % 20, Math.floor(i / 20) % 20, Math.floor(i / 400) % 20].map((place) => syllables[place] ?? "").join(""),
);

function message(): string {
  const words: string[] = [];
  // Zipf: the n-th word is about 1/n as frequent as the first.
  for (let i = 0; i < 14; i += 1) words.push(vocabulary[Math.floor(vocabulary.length ** random()) - 1] ?? "");
  if (random() < 0.12) words.push("verycommonword");
  if (random() < 0.03) words.push("commonword");
  if (random() < 0.03) words.push("otherword");
  if (random() < 0.012) words.push("middleword");
  if (random() < 0.001) words.push("tailword");
  if (random() < 0.00002) words.push("rareword");
  if (random() < 0.001) words.push("exact", "phrase");
  return words.join(" ");
}

function seed(place: number): ConversationSeed & { readonly id: string } {
  const startedAt = start + place * spacingMs;
  return {
    id: newId("conv", startedAt),
    workspaceId,
    startedAt,
    channel: pick([
      ["widget", 0.35],
      ["email", 0.25],
      ["whatsapp", 0.18],
      ["telegram", 0.1],
      ["slack", 0.06],
      ["sms", 0.04],
      ["voice", 0.02],
    ]),
    status: pick([
      ["resolved", 0.45],
      ["archived", 0.4],
      ["open", 0.08],
      ["claimed", 0.04],
      ["escalated", 0.02],
      ["snoozed", 0.01],
    ]),
    slaState: pick([
      ["in_compliance", 0.96],
      ["at_risk", 0.03],
      ["breached", 0.01],
    ]),
    tags: [
      place % 2 === 0 ? "even" : "odd",
      ...(random() < 0.18 ? ["billing"] : []),
      ...(random() < 0.18 ? ["shipping"] : []),
      ...(random() < 0.0002 ? ["rare-tag"] : []),
    ],
    email: `customer${Math.floor(random() * (rows / 4))}@example.com`,
    messages: [message(), message()],
  };
}

const shapes: readonly { readonly name: string; readonly list: Partial<ConversationList> }[] = [
  { name: "no filter", list: {} },
  { name: "status 8 %", list: { status: "open" } },
  { name: "channel 35 %", list: { channel: "widget" } },
  { name: "sla 1 %", list: { slaState: "breached" } },
  { name: "channel 2 % + status 2 %", list: { channel: "voice", status: "escalated" } },
  { name: "channel + sla", list: { channel: "widget", slaState: "at_risk" } },
  { name: "status + sla", list: { status: "escalated", slaState: "breached" } },
  { name: "channel + status + sla", list: { channel: "voice", status: "escalated", slaState: "breached" } },
  { name: "since/until (10 %)", list: { since: start + 0.4 * (end - start), until: start + 0.5 * (end - start) } },
  {
    name: "since/until + channel",
    list: { channel: "slack", since: start + 0.4 * (end - start), until: start + 0.5 * (end - start) },
  },
  { name: "email", list: { email: "customer77@example.com" } },
  { name: "email + status + tag", list: { email: "customer77@example.com", status: "resolved", tags: ["billing"] } },
  { name: "tag 18 %", list: { tags: ["billing"] } },
  { name: "tag 0.02 %", list: { tags: ["rare-tag"] } },
  { name: "tag 18 % + status 2 %", list: { tags: ["billing"], status: "escalated" } },
  { name: "tag 18 % + sla 1 %", list: { tags: ["billing"], slaState: "breached" } },
  { name: "tag + channel + status", list: { tags: ["billing"], channel: "voice", status: "escalated" } },
  { name: "two tags 18 %", list: { tags: ["billing", "shipping"] } },
  { name: "two tags 50 %, none both", list: { tags: ["even", "odd"] } },
  {
    name: "all filters",
    list: { tags: ["billing"], channel: "widget", status: "resolved", slaState: "at_risk", since: start, until: end },
  },
  { name: "q rare", list: { text: "rareword" } },
  { name: "q tail 0.2 %", list: { text: "tailword" } },
  { name: "q middle 2.4 %", list: { text: "middleword" } },
  { name: "q common 6 %", list: { text: "commonword" } },
  { name: "q very common 22 %", list: { text: "verycommonword" } },
  { name: "q two common", list: { text: "commonword otherword" } },
  { name: "q three common", list: { text: "verycommonword commonword otherword" } },
  { name: "q common + rare", list: { text: "verycommonword rareword" } },
  { name: "q phrase", list: { text: '"exact phrase"' } },
  { name: "q common phrase", list: { text: '"verycommonword commonword"' } },
  { name: "q common + channel + status", list: { text: "commonword", channel: "slack", status: "escalated" } },
  { name: "q common + tag + sla", list: { text: "verycommonword", tags: ["billing"], slaState: "breached" } },
  { name: "q common + email", list: { text: "verycommonword", email: "customer77@example.com" } },
  { name: "q nothing found", list: { text: "verycommonword nosuchword" } },
];

function valuesOf(row: object): (string | number | null)[] {
  return Object.values(row) as (string | number | null)[];
}

async function loadSqlite(path: string): Promise<void> {
  const database = openDatabase(path, { readOnly: false });
  database.exec("pragma synchronous = off; pragma cache_size = -400000");
  const [example] = [rowsOf({ ...seed(0), tags: ["x"] })];
  const insertOf = (table: string, row: object) =>
    database.prepare(
      `insert into ${table} (${Object.keys(row).join()}) values (${Object.keys(row)
        .map(() => "?")
        .join()})`,
    );
  const [exampleTag = {}] = example.tags;
  const insert = insertOf("conversations", example.conversation);
  const insertTag = insertOf("conversation_tags", exampleTag);
  const insertText = database.prepare(
    "insert into conversation_text (position, conversation_id, indexed_seq) values (?, ?, 2)",
  );
  const insertDocument = database.prepare("insert into conversation_fts (rowid, body) values (?, ?)");
  for (let at = 0; at < rows; at += 20_000) {
    database.exec("begin");
    for (let place = at; place < Math.min(rows, at + 20_000); place += 1) {
      const each = seed(place);
      const made = rowsOf(each);
      insert.run(...valuesOf(made.conversation));
      for (const tag of made.tags) insertTag.run(...valuesOf(tag));
      const position = BigInt(each.startedAt) << 20n;
      insertText.run(position, each.id);
      insertDocument.run(position, `${facetTokens(each).join(" ")} ${documentOf(workspaceId, each.messages ?? [])}`);
    }
    database.exec("commit");
  }
  database.close();
}

async function loadMysql(url: string): Promise<void> {
  const connection = await createConnection({ uri: url });
  await connection.query("set session unique_checks = 0, foreign_key_checks = 0, sql_log_bin = 0");
  await connection.query("alter table conversation_text drop index conversation_text_body");
  const insert = async (table: string, made: readonly object[]) => {
    const [first] = made;
    if (first === undefined) return;
    await connection.query(`insert into ${table} (${Object.keys(first).join()}) values ?`, [made.map(valuesOf)]);
  };
  for (let at = 0; at < rows; at += 2_000) {
    const seeds = Array.from({ length: Math.min(2_000, rows - at) }, (_, i) => seed(at + i));
    const made = seeds.map(rowsOf);
    await connection.query("begin");
    await insert(
      "conversations",
      made.map(({ conversation }) => conversation),
    );
    await insert(
      "conversation_tags",
      made.flatMap(({ tags }) => tags),
    );
    await insert(
      "conversation_text",
      seeds.map(({ id, messages = [] }) => ({
        conversation_id: id,
        indexed_seq: 2,
        body: documentOf(workspaceId, messages),
      })),
    );
    await connection.query("commit");
  }
  await connection.query("create fulltext index conversation_text_body on conversation_text (body)");
  await connection.end();
}

interface Timing {
  readonly ms: number[];
  rows: number;
  failed: number;
}

/** Every shape in turn, round after round, so that what disturbs the machine disturbs all alike. */
async function measure(store: OpenStore, cursor: () => ListPosition | undefined): Promise<Map<string, Timing>> {
  const timings = new Map(shapes.map(({ name }): [string, Timing] => [name, { ms: [], rows: 0, failed: 0 }]));
  for (let round = -2; round < rounds; round += 1) {
    for (const { name, list } of shapes) {
      const timing = timings.get(name);
      if (timing === undefined || timing.ms.reduce((sum, ms) => sum + ms, 0) > shapeMsMax) continue;
      const before = cursor();
      const began = performance.now();
      try {
        const page = await listConversations(store, {
          workspaceId,
          limit: 50,
          ...list,
          ...(before === undefined ? {} : { before }),
        });
        timing.rows = page.rows.length;
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        timing.failed += 1;
      }
      // The first rounds fill caches.
      if (round >= 0) timing.ms.push(performance.now() - began);
    }
  }
  return timings;
}

function percentile(ms: readonly number[], share: number): number {
  return ms.toSorted((a, b) => a - b)[Math.min(ms.length - 1, Math.floor(ms.length * share))] ?? Number.NaN;
}

function report(first: Map<string, Timing>, deep: Map<string, Timing>): void {
  const cell = ({ ms, failed }: Timing) =>
    `${percentile(ms, 0.5).toFixed(2)} / ${percentile(ms, 0.99).toFixed(2)}${failed === 0 ? "" : ` (${failed} refused)`}`;
  const base = percentile(first.get("no filter")?.ms ?? [], 0.5);
  process.stdout.write(
    "| query | rows | first page p50 / p99 ms | × no filter | at a random place p50 / p99 ms | × first page |\n",
  );
  process.stdout.write("|---|---|---|---|---|---|\n");
  for (const [name, one] of first) {
    const other = deep.get(name);
    if (other === undefined) continue;
    const ofBase = (percentile(one.ms, 0.5) / base).toFixed(1);
    const ofFirst = (percentile(other.ms, 0.5) / percentile(one.ms, 0.5)).toFixed(1);
    process.stdout.write(`| ${name} | ${one.rows} | ${cell(one)} | ${ofBase} | ${cell(other)} | ${ofFirst} |\n`);
  }
}

async function run(url: string, load: () => Promise<void>): Promise<void> {
  const store = await openStore(url);
  try {
    await store.migrate();
    const began = performance.now();
    await load();
    process.stdout.write(
      `${rows} conversations on ${store.dialect}, made in ${((performance.now() - began) / 1_000).toFixed(0)} s\n\n`,
    );
    const first = await measure(store, () => undefined);
    const deep = await measure(store, () => ({ startedAt: Math.floor(start + random() * (end - start)), id: "conv_" }));
    report(first, deep);
  } finally {
    await store.close();
  }
}

if (options.url === undefined) {
  const folder = await mkdtemp(join(tmpdir(), "parley-bench-"));
  const path = join(folder, "list.sqlite");
  try {
    await run(`sqlite:${path}`, () => loadSqlite(path));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
} else {
  const server = new URL(options.url);
  const name = `parley_bench_${randomBytes(4).toString("hex")}`;
  const admin = await createConnection(server.href);
  await admin.query(`create database ${name}`);
  server.pathname = `/${name}`;
  try {
    await run(server.href, () => loadMysql(server.href));
  } finally {
    await admin.query(`drop database ${name}`);
    await admin.end();
  }
}
