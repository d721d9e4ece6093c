import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Store } from "#engine/ports.ts";
import { openEmbeddedIndex } from "#knowledge/embedded-index.ts";
import type { KnowledgeIndex } from "#knowledge/index-port.ts";
import { newSqlite, openTestStore } from "../support/databases.ts";
import type { TestKnowledge } from "../support/knowledge.ts";
import { newWorkspace, silentLog, testKnowledge } from "../support/knowledge.ts";

describe("the embedded index's file", () => {
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

  it("is used again by the next process, and brought up to date by it", async () => {
    await knowledge.add(workspaceId, "a.md", "Kettle.");
    const first = open();
    expect(await found(first)).toEqual(["A"]);
    await first.close();
    await knowledge.add(workspaceId, "b.md", "Kettle.");
    expect(await found(open())).toEqual(["A", "B"]);
  });

  it("serves two processes that both see every change", async () => {
    const [one, two] = [open(), open()];
    for (let n = 0; n < 5; n += 1) {
      await knowledge.add(workspaceId, `d${n}.md`, "Kettle.");
      const [here, there] = await Promise.all([found(one), found(two)]);
      expect(here).toHaveLength(n + 1);
      expect(there).toEqual(here);
    }
  });

  it("is made anew when it is not a database", async () => {
    await knowledge.add(workspaceId, "a.md", "Kettle.");
    writeFileSync(path, "this is not a database, whatever its name says ".repeat(100));
    expect(await found(open())).toEqual(["A"]);
  });

  it("is made anew when it is damaged while it is in use", async () => {
    await knowledge.add(workspaceId, "a.md", "Kettle.");
    const index = open();
    expect(await found(index)).toEqual(["A"]);
    const vandal = new DatabaseSync(path);
    vandal.exec("drop table terms_1");
    vandal.close();
    expect(await found(index)).toEqual(["A"]);
    expect(await found(index)).toEqual(["A"]);
  });

  it("is made anew when it was written by another version of the program", async () => {
    await knowledge.add(workspaceId, "a.md", "Kettle.");
    const first = open();
    await found(first);
    await first.close();
    const other = new DatabaseSync(path);
    other.exec("pragma user_version = 4711");
    other.close();
    expect(await found(open())).toEqual(["A"]);
  });

  it("takes up a catching-up that was cut short", async () => {
    await knowledge.add(workspaceId, "a.md", "Kettle.");
    await knowledge.add(workspaceId, "b.md", "Kettle.");
    const first = open();
    await found(first);
    await first.close();
    // As after a crash between two of its transactions: a document is missing, and the version is the older one.
    const file = new DatabaseSync(path);
    file.exec(
      "update workspaces set version = version - 1; delete from documents_1 where id = (select min(id) from documents_1)",
    );
    file.close();
    expect(await found(open())).toEqual(["A", "B"]);
  });

  it("holds nothing of a deleted workspace once that is asked for", async () => {
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
});
