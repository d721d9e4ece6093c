import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, it } from "vitest";
import { eventually } from "#test/support/eventually.ts";
import type { TestApp } from "#test/support/http/app.ts";
import { startApp } from "#test/support/http/app.ts";
import type { TestDatabase } from "#test/support/database/databases.ts";
import { eachDatabase } from "#test/support/database/databases.ts";

eachDatabase("indexing of documents before the first question", (open) => {
  let database: TestDatabase;
  const apps: TestApp[] = [];
  const folders: string[] = [];

  beforeEach(async () => {
    database = await open();
  });
  afterEach(async () => {
    for (const app of apps.splice(0)) await app.close();
    for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
    await database.remove();
  });

  /** A process of its own on the same database, with an index of its own. */
  async function start(): Promise<{
    readonly app: TestApp;
    readonly held: (workspaceId: string) => readonly string[];
  }> {
    const dataDir = await mkdtemp(join(tmpdir(), "parley-ahead-"));
    folders.push(dataDir);
    const app = await startApp(open, { databaseUrl: database.url, dataDir });
    apps.push(app);
    return { app, held: (workspaceId) => heldIn(join(dataDir, "knowledge-index.sqlite"), workspaceId) };
  }

  /** The passages that a file has of a workspace, as far as it is up to date. */
  function heldIn(path: string, workspaceId: string): readonly string[] {
    const file = new DatabaseSync(path, { timeout: 5_000 });
    try {
      const row = file.prepare("select n, version, seen from workspaces where id = ?").get(workspaceId);
      if (row === undefined || row["version"] !== row["seen"]) return [];
      const rows = file.prepare(`select text from chunks_${Number(row["n"])} order by text`).all();
      return rows.map(({ text }) => String(text));
    } finally {
      file.close();
    }
  }

  /** Moves the clocks on until it is so. */
  async function soon(check: () => unknown): Promise<void> {
    await eventually(async () => {
      for (const { clock } of apps) clock.advance(1_000);
      await check();
    });
  }

  it("runs in every process, also for removed documents", async () => {
    const [first, second] = [await start(), await start()];
    const { id } = first.app.workspace;
    const kettle = await first.app.learn("kettle.md", "The kettle boils three litres.");
    await soon(() => {
      expect(first.held(id)).toEqual(["The kettle boils three litres."]);
      expect(second.held(id)).toEqual(["The kettle boils three litres."]);
    });
    await first.app.learn("lamp.md", "The lamp shines for nine hours.");
    await first.app.call("DELETE", `/v1/documents/${kettle}?workspace_id=${id}`);
    await soon(() => {
      expect(first.held(id)).toEqual(["The lamp shines for nine hours."]);
      expect(second.held(id)).toEqual(["The lamp shines for nine hours."]);
    });
  });

  it("runs at the start if the index is missing", async () => {
    const first = await start();
    await first.app.learn("kettle.md", "The kettle boils three litres.");
    const other = await first.app.createWorkspace();
    const third = await start();
    await soon(() => expect(third.held(first.app.workspace.id)).toEqual(["The kettle boils three litres."]));
    expect(third.held(other.id)).toEqual([]);
  });
});
