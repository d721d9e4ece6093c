// How long an answer without a language model takes, and how it delays other requests, by the size of the knowledge
// base:
//   node bench/answers.ts [--chunks 1000,100000] [--seconds 10] [--json FILE]
// Each size runs in a program of its own with made-up passages. One client sends questions to the API, one at a time,
// while another calls /health/live every few milliseconds, first alone. The same questions are then answered in this
// process, without HTTP and without storage. The program starts with a tenth of the passages. The others are added when
// these are indexed, and both clients run while the program indexes them.
import { randomUUID } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { createExtractiveAnswerer } from "#answering/answerer.ts";
import { defaultSettings } from "#domain/workspace/settings.ts";
import { openEmbeddedIndex } from "#knowledge/index/embedded-index.ts";
import type { OpenStore } from "#database/open.ts";
import { openStore } from "#database/open.ts";
import type { Installation } from "#test/support/program/installation.ts";
import { install } from "#test/support/program/installation.ts";
import { silentLog } from "#test/support/knowledge/knowledge.ts";
import { launch } from "#test/support/program/launch.ts";
import { freePort } from "#test/support/servers/free-port.ts";
import { quantile } from "#test/support/quantile.ts";
import { createWriter, fill } from "./made-up-passages.ts";
import { pinGenerator } from "./processors.ts";

const { values: options } = parseArgs({
  options: {
    chunks: { type: "string", default: "1000,100000" },
    seconds: { type: "string", default: "10" },
    json: { type: "string" },
  },
});
const seconds = Number(options.seconds);
const healthEveryMs = 5;

/** Calls `ask` for `ms`, and returns the milliseconds of each call. */
async function askFor(ms: number, ask: () => Promise<unknown>, everyMs = 0): Promise<number[]> {
  const times: number[] = [];
  for (const end = performance.now() + ms; performance.now() < end;) {
    const start = performance.now();
    await ask();
    times.push(performance.now() - start);
    if (everyMs > 0) await sleep(everyMs);
  }
  return times;
}

async function versionOf(store: OpenStore, workspaceId: string): Promise<number> {
  const row = await store.read
    .selectFrom("workspaces")
    .select("knowledge_version as version")
    .where("id", "=", workspaceId)
    .executeTakeFirstOrThrow();
  return row.version;
}

/** Whether the program has indexed all passages. */
function isIndexed({ dataDir, workspaceId }: Installation, version: number): boolean {
  const file = new DatabaseSync(join(dataDir, "knowledge-index.sqlite"), { timeout: 1_000 });
  try {
    const row = file.prepare("select version from workspaces where id = ?").get(workspaceId);
    return row?.["version"] === version;
  } catch {
    // The program has not created its tables yet.
    return false;
  } finally {
    file.close();
  }
}

async function measure(chunks: number, installation: Installation): Promise<Record<string, string | number>> {
  const store = await openStore(installation.databaseUrl);
  const { workspaceId, key } = installation;
  const before = Math.ceil(chunks / 10);
  await fill(store, workspaceId, before);
  const port = await freePort();
  const program = launch({ installation, port, core: cores.server });
  const url = `http://127.0.0.1:${port}`;
  try {
    if ((await program.ready) === undefined)
      throw new Error(`the program failed to start: ${program.complaints.join()}`);
    const writer = createWriter(11);
    const question = (): string => `How do I ${writer.words(2)} when the ${writer.words(4)}?`;
    const ask = async (): Promise<number> => {
      const response = await fetch(`${url}/v1/query`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${key}`,
          "content-type": "application/json",
          "idempotency-key": randomUUID(),
        },
        body: JSON.stringify({ workspace_id: workspaceId, query: question() }),
      });
      await response.text();
      return response.status;
    };
    const health = async (): Promise<void> => {
      const response = await fetch(`${url}/health/live`);
      await response.text();
      if (response.status !== 200) throw new Error(`/health/live answers ${response.status}`);
    };
    // The program indexes from its start on, without a question.
    while (!isIndexed(installation, await versionOf(store, workspaceId))) await sleep(50);
    await askFor(500, ask);
    // Written directly to the database, as another process would.
    await fill(store, workspaceId, chunks - before);
    const version = await versionOf(store, workspaceId);
    const began = performance.now();
    const passed = (): number => Math.round((performance.now() - began) / 100) / 10;
    const building = { done: false, indexed: 0 };
    const [, whileAsking, whileBuilding] = await Promise.all([
      (async () => {
        while (!isIndexed(installation, version)) await sleep(50);
        building.indexed = passed();
        building.done = true;
      })(),
      (async () => {
        const times: number[] = [];
        while (!building.done || times.length === 0) {
          const start = performance.now();
          const status = await ask();
          if (status !== 200)
            throw new Error(`a question was answered with ${status}: ${program.complaints.join("\n")}`);
          times.push(performance.now() - start);
          await sleep(100);
        }
        return times;
      })(),
      (async () => {
        const times: number[] = [];
        while (!building.done) times.push(...(await askFor(100, health, healthEveryMs)));
        return times;
      })(),
    ]);
    await askFor(1_000, ask);
    const alone = await askFor((seconds * 1_000) / 2, health, healthEveryMs);
    const [asked, beside] = await Promise.all([
      askFor(seconds * 1_000, async () => {
        const status = await ask();
        if (status !== 200) throw new Error(`a question was answered with ${status}`);
      }),
      askFor(seconds * 1_000, health, healthEveryMs),
    ]);
    const index = openEmbeddedIndex({
      store,
      path: join(installation.dataDir, "knowledge-index.sqlite"),
      log: silentLog,
    });
    const answerer = createExtractiveAnswerer({ index });
    const answer = (): Promise<unknown> =>
      answerer.answer(
        {
          workspaceId,
          text: question(),
          history: [],
          strictness: "strict",
          topK: 5,
          audience: [],
          settings: defaultSettings,
        },
        new AbortController().signal,
      );
    await askFor(1_000, answer);
    const usedBefore = process.cpuUsage();
    const here = await askFor((seconds * 1_000) / 2, answer);
    const used = process.cpuUsage(usedBefore);
    await index.close();
    const both = (times: readonly number[]): string =>
      `${quantile(times, 0.5).toFixed(1)} / ${quantile(times, 0.99).toFixed(1)}`;
    return {
      passages: chunks,
      "answer ms": both(here),
      // Processor time of this process alone: other programs on the machine do not count.
      "processor ms": ((used.user + used.system) / 1_000 / here.length).toFixed(1),
      "over the API ms": both(asked),
      "other requests alone ms": both(alone),
      "beside questions ms": both(beside),
      "beside indexing ms": both(whileBuilding),
      "indexed s": building.indexed,
      "first answer ms": Math.round(whileAsking[0] ?? 0),
      "answers while indexing ms": both(whileAsking),
    };
  } finally {
    program.signal("SIGTERM");
    await program.exited;
    await store.close();
  }
}

const cores = pinGenerator();
const rows: Record<string, string | number>[] = [];
for (const chunks of options.chunks.split(",").map(Number)) {
  console.error(`${chunks} passages`);
  const installation = await install(undefined, []);
  try {
    rows.push(await measure(chunks, installation));
  } finally {
    await installation.remove();
  }
}
console.table(rows);
if (options.json !== undefined) await writeFile(options.json, `${JSON.stringify(rows, undefined, 2)}\n`);
