import { open as openFile, stat } from "node:fs/promises";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { expect, it, onTestFinished } from "vitest";
import { openStore } from "./open.ts";
import { eachDatabase } from "#test/support/database/databases.ts";
import { parley } from "#test/support/program/program.ts";

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "parley-state-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

eachDatabase("a database of a newer version", (open) => {
  it("is reported by doctor and start, and is not changed", { timeout: 60_000 }, async () => {
    const database = await open();
    const store = await openStore(database.url);
    await store.migrate();
    await store.write((tx) =>
      sql`insert into kysely_migration (name, timestamp) values ('9999-later', '2031-01-01T00:00:00.000Z')`.execute(tx),
    );
    await store.close();
    const env = { PARLEY_DATA_DIR: await newFolder(), DATABASE_URL: database.url, PORT: "0" };
    const words = "made by a newer version of Parley (it has 9999-later)";
    const checked = await parley(["doctor"], env);
    expect(checked.stdout).toContain(words);
    expect(checked.stdout).not.toContain("schema up to date");
    expect(checked.status).toBe(1);
    const started = await parley(["start"], env);
    expect(started.stderr).toContain(words);
    expect(started.status).toBe(1);
    await database.remove();
  });
});

it("reports a damaged file and the remedy, by doctor and by start", { timeout: 60_000 }, async () => {
  const folder = await newFolder();
  const path = join(folder, "parley.sqlite");
  const store = await openStore(`sqlite:${path}`);
  await store.migrate();
  await store.close();
  const env = { PARLEY_DATA_DIR: folder, PORT: "0" };
  // After the pages with the schema, which every start reads.
  const file = await openFile(path, "r+");
  const { size } = await stat(path);
  for (let at = Math.floor(size / 2 / 4_096) * 4_096; at < size; at += 8_192) {
    await file.write(Buffer.alloc(2_000, 0x5a), 0, 2_000, at);
  }
  await file.close();
  for (const command of ["doctor", "start"]) {
    const { status, stdout, stderr } = await parley([command], env);
    expect(status, command).toBe(1);
    expect(stdout + stderr, command).toContain("is damaged (");
    expect(stdout + stderr, command).toContain("restore the newest backup");
    expect(stdout + stderr, command).not.toContain("schema up to date");
  }
  const none = join(folder, "none.sqlite");
  const other = await openFile(none, "w");
  await other.write("this is no database at all, and longer than a header of one would be".repeat(50));
  await other.close();
  const { stdout } = await parley(["doctor"], { ...env, DATABASE_URL: `sqlite:${none}` });
  expect(stdout).toContain("is damaged (file is not a database)");
});
