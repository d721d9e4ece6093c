import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Store } from "#database/contract.ts";
import { openEmbeddedIndex } from "./embedded-index.ts";
import type { KnowledgeIndex, SearchRequest } from "./contract.ts";
import { newSqlite, openTestStore } from "#test/support/database/databases.ts";
import type { TestKnowledge } from "#test/support/knowledge/knowledge.ts";
import { newWorkspace, silentLog, testKnowledge } from "#test/support/knowledge/knowledge.ts";

describe("the file of the embedded index", () => {
  let store: Store;
  let closeStore: () => Promise<void>;
  let knowledge: TestKnowledge;
  let workspaceId: string;
  let folder: string;
  let path: string;
  const opened: KnowledgeIndex[] = [];

  beforeEach(async () => {
    ({ store, close: closeStore } = await openTestStore(newSqlite));
    knowledge = testKnowledge(store);
    workspaceId = await newWorkspace(store);
    folder = mkdtempSync(join(tmpdir(), "parley-index-"));
    path = join(folder, "index.sqlite");
  });
  afterEach(async () => {
    for (const index of opened.splice(0)) await index.close();
    await closeStore();
    rmSync(folder, { recursive: true, force: true });
  });

  const open = (): KnowledgeIndex => {
    const index = openEmbeddedIndex({ store, path, log: silentLog });
    opened.push(index);
    return index;
  };
  const found = async (index: KnowledgeIndex) =>
    (await index.search({ workspaceId, terms: ["kettl"], audience: [], limit: 50 })).candidates
      .map((each) => each.title)
      .toSorted();

  it("is reused and updated by the next process", async () => {
    await knowledge.add(workspaceId, "a.md", "Kettle.");
    const first = open();
    expect(await found(first)).toEqual(["A"]);
    await first.close();
    await knowledge.add(workspaceId, "b.md", "Kettle.");
    expect(await found(open())).toEqual(["A", "B"]);
  });

  it("serves two processes, which both see every change", async () => {
    const [one, two] = [open(), open()];
    for (let n = 0; n < 5; n += 1) {
      await knowledge.add(workspaceId, `d${n}.md`, "Kettle.");
      const [here, there] = await Promise.all([found(one), found(two)]);
      expect(here).toHaveLength(n + 1);
      expect(there).toEqual(here);
    }
  });

  it("returns no passage that another process has changed since", async () => {
    const [one, two] = [open(), open()];
    await knowledge.add(workspaceId, "a.md", "Kettle, red.");
    const look = async (index: KnowledgeIndex) => {
      const result = await index.search({ workspaceId, terms: ["kettl", "red"], audience: [], limit: 50 });
      return [result.chunkCount, Object.fromEntries(result.frequency), result.candidates.map(({ text }) => text)];
    };
    const both = async () => [await look(two), await look(one)];
    const old = [1, { kettl: 1, red: 1 }, ["Kettle, red."]];
    expect(await both()).toEqual([old, old]);
    await knowledge.add(workspaceId, "a.md", "Kettle, blue.");
    const fresh = [1, { kettl: 1 }, ["Kettle, blue."]];
    expect(await both()).toEqual([fresh, fresh]);
    await knowledge.add(workspaceId, "a.md", "Kettle, blue.", { audience: ["staff"] });
    const closed = [1, { kettl: 1 }, []];
    expect(await both()).toEqual([closed, closed]);
  });

  it("is recreated if it is not a database", async () => {
    await knowledge.add(workspaceId, "a.md", "Kettle.");
    writeFileSync(path, "this is not a database, whatever its name says ".repeat(100));
    expect(await found(open())).toEqual(["A"]);
  });

  it("is recreated if it is damaged while in use", async () => {
    await knowledge.add(workspaceId, "a.md", "Kettle.");
    const index = open();
    expect(await found(index)).toEqual(["A"]);
    const vandal = new DatabaseSync(path);
    vandal.exec("drop table terms_1");
    vandal.close();
    expect(await found(index)).toEqual(["A"]);
    expect(await found(index)).toEqual(["A"]);
  });

  it("is recreated if another version of the program wrote it", async () => {
    await knowledge.add(workspaceId, "a.md", "Kettle.");
    const first = open();
    await found(first);
    await first.close();
    const other = new DatabaseSync(path);
    other.exec("pragma user_version = 4711");
    other.close();
    expect(await found(open())).toEqual(["A"]);
  });

  it("completes an interrupted refresh", async () => {
    await knowledge.add(workspaceId, "a.md", "Kettle.");
    await knowledge.add(workspaceId, "b.md", "Kettle.");
    const first = open();
    await found(first);
    await first.close();
    // The state after a crash between two transactions: a document is missing, and the version is the older one.
    const file = new DatabaseSync(path);
    file.exec(
      "update workspaces set version = version - 1; delete from documents_1 where id = (select min(id) from documents_1)",
    );
    file.close();
    expect(await found(open())).toEqual(["A", "B"]);
  });

  it("drops the data of a deleted workspace on the next search in it", async () => {
    await knowledge.add(workspaceId, "a.md", "Kettle.");
    const index = open();
    await found(index);
    await store.write((tx) => tx.deleteFrom("workspaces").where("id", "=", workspaceId).execute());
    expect(await found(index)).toEqual([]);
    expect(existsSync(path)).toBe(true);
    const file = new DatabaseSync(path, { readOnly: true });
    expect(file.prepare("select count(*) as n from sqlite_schema where name like 'chunks%'").get()).toEqual({ n: 0 });
    file.close();
  });

  describe("during changes of documents", () => {
    /** The store, with something that happens after each of the index's reads, in their order. */
    const storeWith = (hooks: (() => Promise<unknown>)[]): Pick<Store, "read" | "select"> => ({
      async select(query) {
        const rows = await store.select(query);
        await hooks.shift()?.();
        return rows;
      },
      read: store.read.withPlugin({
        transformQuery: ({ node }) => node,
        transformResult: async ({ result }) => {
          await hooks.shift()?.();
          return result;
        },
      }),
    });
    const openOver = (
      over: Pick<Store, "read" | "select">,
      more: { patienceMs?: number; threadFrom?: number } = {},
    ) => {
      const index = openEmbeddedIndex({ store: over, path, log: silentLog, ...more });
      opened.push(index);
      return index;
    };
    const texts = async (index: KnowledgeIndex, more: Partial<SearchRequest> = {}) =>
      (await index.search({ workspaceId, terms: ["kettl"], audience: [], limit: 50, ...more })).candidates.map(
        (each) => each.text,
      );
    const nothing = async (): Promise<void> => undefined;

    it("returns the new text of a document that is replaced during the search", async () => {
      await knowledge.add(workspaceId, "a.md", "Kettle, one.");
      // The reads of a search: the version, the documents, their texts.
      const hooks = [nothing, () => knowledge.add(workspaceId, "a.md", "Kettle, two.")];
      const index = openOver(storeWith(hooks));
      expect(await texts(index)).toEqual(["Kettle, two."]);
      hooks.push(nothing, () => knowledge.add(workspaceId, "a.md", "Kettle, four."));
      await knowledge.add(workspaceId, "a.md", "Kettle, three.");
      expect(await texts(index)).toEqual(["Kettle, four."]);
    });

    it("returns older texts, but no removed or gated documents, while many changes are pending", async () => {
      for (const name of ["a", "b", "gone", "closed"])
        await knowledge.add(workspaceId, `${name}.md`, `Kettle, ${name}, old.`);
      const hooks: (() => Promise<unknown>)[] = [];
      const index = openOver(storeWith(hooks), { patienceMs: 0 });
      expect((await texts(index)).toSorted()).toEqual(
        ["a", "b", "closed", "gone"].map((each) => `Kettle, ${each}, old.`),
      );
      const { id: gone } = await knowledge.documents.add({ workspaceId, fileName: "gone.md", bytes: Buffer.from("x") });
      await knowledge.documents.remove(workspaceId, gone);
      await knowledge.documents.add({
        workspaceId,
        fileName: "closed.md",
        bytes: Buffer.from("Kettle, closed, old."),
        audience: ["staff"],
      });
      await knowledge.add(workspaceId, "a.md", "Kettle, a, new.");
      const held = Promise.withResolvers<undefined>();
      hooks.push(nothing, nothing, () => held.promise);
      expect((await texts(index)).toSorted()).toEqual(["Kettle, a, old.", "Kettle, b, old."]);
      held.resolve(undefined);
      await expect.poll(async () => (await texts(index)).toSorted()).toEqual(["Kettle, a, new.", "Kettle, b, old."]);
    });

    it("reports a partial result instead of waiting for many new texts", async () => {
      await knowledge.add(workspaceId, "a.md", "Kettle.");
      await knowledge.add(workspaceId, "b.md", "Kettle.");
      const held = Promise.withResolvers<undefined>();
      const index = openOver(storeWith([nothing, nothing, () => held.promise]), { patienceMs: 0 });
      const request = { workspaceId, terms: ["kettl"], audience: [], limit: 50 };
      expect(await index.search(request)).toMatchObject({ candidates: [], partial: true });
      held.resolve(undefined);
      await index.prepare(workspaceId, new AbortController().signal);
      const whole = await index.search(request);
      expect(whole.candidates).toHaveLength(2);
      expect(whole.partial).toBeUndefined();
    });

    it("reports a partial result for the first texts of a workspace that was searched while empty", async () => {
      const hooks: (() => Promise<unknown>)[] = [];
      const index = openOver(storeWith(hooks), { patienceMs: 0 });
      expect(await texts(index)).toEqual([]);
      await knowledge.add(workspaceId, "a.md", "Kettle.");
      const held = Promise.withResolvers<undefined>();
      hooks.push(nothing, nothing, () => held.promise);
      const request = { workspaceId, terms: ["kettl"], audience: [], limit: 50 };
      expect(await index.search(request)).toMatchObject({ candidates: [], partial: true });
      held.resolve(undefined);
      await index.prepare(workspaceId, new AbortController().signal);
      expect(await texts(index)).toEqual(["Kettle."]);
    });

    it("reads no text for a search after the index was prepared", async () => {
      await knowledge.add(workspaceId, "a.md", "Kettle.");
      let reads = 0;
      const count = async (): Promise<void> => void (reads += 1);
      const index = openOver(storeWith(Array.from({ length: 20 }, () => count)));
      await index.prepare(workspaceId, new AbortController().signal);
      reads = 0;
      expect(await texts(index)).toEqual(["Kettle."]);
      // The version alone.
      expect(reads).toBe(1);
    });

    it("rejects an aborted preparation, and continues it in the background", async () => {
      await knowledge.add(workspaceId, "a.md", "Kettle.");
      const held = Promise.withResolvers<undefined>();
      const index = openOver(storeWith([nothing, nothing, () => held.promise]));
      const stop = new AbortController();
      const prepared = index.prepare(workspaceId, stop.signal);
      stop.abort(new Error("the program ends"));
      await expect(prepared).rejects.toThrow("the program ends");
      held.resolve(undefined);
      expect(await texts(index)).toEqual(["Kettle."]);
    });

    it("writes large changes in its thread, and answers from the older passages meanwhile", async () => {
      const long = Array.from({ length: 60 }, (_, n) => `## Kettle ${n}\n\n${"It boils water at home. ".repeat(30)}`);
      await knowledge.add(workspaceId, "a.md", "Kettle, old.");
      const index = openOver(store, { patienceMs: 0 });
      await index.prepare(workspaceId, new AbortController().signal);
      await knowledge.add(workspaceId, "b.md", long.join("\n\n"));
      expect(await texts(index)).toEqual(["Kettle, old."]);
      await index.prepare(workspaceId, new AbortController().signal);
      expect(await texts(index)).toHaveLength(50);
    });

    it("rejects an aborted search", async () => {
      await knowledge.add(workspaceId, "a.md", "Kettle.");
      const held = Promise.withResolvers<undefined>();
      const index = openOver(storeWith([nothing, nothing, () => held.promise]));
      const stop = new AbortController();
      const search = texts(index, { signal: stop.signal });
      stop.abort(new Error("the customer is gone"));
      await expect(search).rejects.toThrow("the customer is gone");
      held.resolve(undefined);
      expect(await texts(index)).toEqual(["Kettle."]);
    });

    it("does not restore an older audience from a slower process", async () => {
      await knowledge.add(workspaceId, "a.md", "Kettle.");
      const hooks = [nothing];
      const slow = openOver(storeWith(hooks));
      const quick = open();
      // Between its reads the slow one is overtaken: the document is closed, and the other has seen that.
      hooks.push(async () => {
        await knowledge.documents.add({
          workspaceId,
          fileName: "a.md",
          bytes: Buffer.from("Kettle."),
          audience: ["staff"],
        });
        expect(await found(quick)).toEqual([]);
      });
      expect(await texts(slow)).toEqual([]);
      expect(await found(quick)).toEqual([]);
      expect(await texts(slow, { audience: ["staff"] })).toEqual(["Kettle."]);
    });

    it("starts again if the database was restored from an older backup", async () => {
      await knowledge.add(workspaceId, "a.md", "Kettle.");
      await knowledge.add(workspaceId, "b.md", "Kettle.");
      expect(await found(open())).toEqual(["A", "B"]);
      await store.write(async (tx) => {
        await tx.deleteFrom("documents").where("title", "=", "B").execute();
        await tx.updateTable("workspaces").set({ knowledge_version: 1 }).where("id", "=", workspaceId).execute();
      });
      expect(await found(open())).toEqual(["A"]);
    });
  });
});
