import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { IndexThread, IndexThreadOptions } from "./index-thread.ts";
import { createIndexThread } from "./index-thread.ts";
import { silentLog } from "#test/support/knowledge/knowledge.ts";

const empty = { candidates: [], chunkCount: 0, averageTerms: 0, frequency: new Map() };
const request = { workspaceId: "w", terms: ["kettl"], audience: [], limit: 5 };
const search = { kind: "search", request } as const;
const finish = { kind: "finish", workspaceId: "w", view: 1 } as const;

describe("the thread of the search index", () => {
  let folder: string;
  const threads: IndexThread[] = [];

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "parley-thread-"));
  });
  afterEach(async () => {
    for (const thread of threads.splice(0)) await thread.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const open = (more: Partial<IndexThreadOptions> = {}): IndexThread => {
    const thread = createIndexThread({ path: join(folder, "index.sqlite"), log: silentLog, ...more });
    threads.push(thread);
    return thread;
  };
  /** A thread that runs this code instead of the program's own. */
  const entry = (body: string): URL => {
    const path = join(folder, "entry.mjs");
    writeFileSync(
      path,
      `import { parentPort, workerData } from "node:worker_threads";
       import { existsSync, writeFileSync, appendFileSync, readFileSync } from "node:fs";
       const done = (result) => parentPort.postMessage({ kind: "done", result });
       parentPort.on("message", (call) => { ${body} });`,
    );
    return pathToFileURL(path);
  };

  it("starts with the first call, and again after a stop", async () => {
    const thread = open();
    expect(thread.started).toBe(false);
    expect(await thread.run(search)).toEqual(empty);
    expect(thread.started).toBe(true);
    await thread.stop();
    expect(thread.started).toBe(false);
    expect(await thread.run(search)).toEqual(empty);
  });

  it("retries the current call after it died", async () => {
    const thread = open({
      entry: entry(
        `if (existsSync(workerData.path)) done("second"); else { writeFileSync(workerData.path, ""); process.exit(3); }`,
      ),
    });
    expect(await thread.run(search)).toBe("second");
    expect(await thread.run(search)).toBe("second");
  });

  it("rejects a call that kills it twice, and runs the next one", async () => {
    const thread = open({ entry: entry(`if (call.kind === "search") throw new Error("out of luck"); done(true);`) });
    const [first, second] = await Promise.allSettled([thread.run(search), thread.run(finish)]);
    expect(first).toMatchObject({ status: "rejected", reason: { code: "search_unavailable" } });
    expect(second).toEqual({ status: "fulfilled", value: true });
  });

  it("ends a call that takes too long, and runs the next one", async () => {
    const thread = open({ entry: entry(`if (call.kind === "search") for (;;); done(true);`), searchMs: 300 });
    const [first, second] = await Promise.allSettled([thread.run(search), thread.run(finish)]);
    expect(first).toMatchObject({ status: "rejected", reason: { code: "search_unavailable" } });
    expect(second).toEqual({ status: "fulfilled", value: true });
  });

  it("runs searches before the next writing step, and skips aborted ones", async () => {
    const thread = open({
      entry: entry(
        `appendFileSync(workerData.path, call.kind + (call.request?.limit ?? call.view) + " ");
         if (call.view === 1) setTimeout(() => done(true), 200); else done(readFileSync(workerData.path, "utf8"));`,
      ),
    });
    const stop = new AbortController();
    const given = thread.run({ ...search, request: { ...request, limit: 7 } }, stop.signal);
    const calls = [
      thread.run(finish),
      thread.run({ ...finish, view: 2 }),
      thread.run({ ...search, request: { ...request, limit: 8 } }, stop.signal),
      thread.run(search),
    ];
    stop.abort(new Error("gone"));
    await expect(given).rejects.toThrow("gone");
    const [, last, dropped] = await Promise.allSettled(calls);
    expect(dropped).toMatchObject({ status: "rejected" });
    expect(last).toMatchObject({ value: "search7 search5 finish1 finish2 " });
  });

  it("rejects all pending calls when it is stopped", async () => {
    const thread = open({ entry: entry(`for (;;);`) });
    const calls = [thread.run(search), thread.run(search)];
    const ends = Promise.allSettled(calls);
    await thread.stop();
    for (const end of await ends) expect(end).toMatchObject({ reason: { code: "search_unavailable" } });
  });

  it("passes on the error code of the file", async () => {
    writeFileSync(join(folder, "index.sqlite"), "");
    const thread = open({
      entry: entry(`parentPort.postMessage({ kind: "failed", message: "damaged", errcode: 11 });`),
    });
    await expect(thread.run(search)).rejects.toMatchObject({ errcode: 11 });
  });
});
