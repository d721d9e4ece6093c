import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { pino } from "pino";
import { expect, it } from "vitest";
import { systemClock } from "#runtime/clock.ts";
import { loadConfig } from "#config/environment.ts";
import { openServices } from "./services.ts";
import { firstStart } from "./first-start.ts";
import { createWorkspace } from "#admin/workspaces/workspaces.ts";
import { manualDocuments } from "#admin/installation/manual.ts";
import { eachDatabase } from "#test/support/database/databases.ts";

eachDatabase("a first start", (open) => {
  it("creates one workspace, one admin and one key when several processes start at once, and greets once", async () => {
    const database = await open();
    const folder = await mkdtemp(join(tmpdir(), "parley-first-"));
    await writeFile(join(folder, "returns.md"), "# Returns\n\nA lamp can be returned within 30 days.\n");
    const pages = pathToFileURL(`${folder}/`);
    const cores = await Promise.all(
      ["one", "two"].map(async (name) => {
        const config = loadConfig({
          PARLEY_DATA_DIR: join(folder, name),
          DATABASE_URL: database.url,
          PARLEY_SECRET: "a secret for tests, of more than thirty-two characters",
        });
        return { config, core: await openServices(config, { clock: systemClock, log: pino({ level: "silent" }) }) };
      }),
    );
    const [first] = cores;
    if (first === undefined) throw new Error("no process was begun");
    const { store } = first.core;
    await store.migrate();
    const greetings = await Promise.all(
      cores.map(({ core, config }) => firstStart({ services: core }, config, systemClock, { pages })),
    );
    const [welcome, second] = greetings.filter((each) => each !== null);
    expect(second).toBeUndefined();
    expect(welcome?.readsManual).toBe(true);
    const { read } = store;
    const workspaces = await read.selectFrom("workspaces").select("id").execute();
    expect(workspaces).toEqual([{ id: welcome?.workspaceId }]);
    const keys = await read.selectFrom("api_keys").select("hint").execute();
    expect(keys).toEqual([{ hint: welcome?.key.slice(-4) }]);
    expect(await read.selectFrom("agents").select("email").execute()).toHaveLength(1);
    // The start and the end of its indexing are not fixed here.
    expect(await read.selectFrom("documents").select("title").execute()).toEqual([{ title: "Returns" }]);
    // The manual is distinguished from later documents, even from those with the same name as one of its pages.
    const { documents } = first.core;
    const id = welcome?.workspaceId ?? "";
    const [page] = await read.selectFrom("documents").select(["id", "indexed_at"]).execute();
    const { at } = await read
      .selectFrom("api_keys")
      .select((eb) => eb.fn.min("created_at").as("at"))
      .executeTakeFirstOrThrow();
    await store.write((tx) => tx.updateTable("documents").set({ indexed_at: at }).execute());
    const found = async () => (await manualDocuments(first.core, id, pages)).map((each) => each.id);
    expect(await found()).toEqual([page?.id]);
    const mine = { workspaceId: id, fileName: "returns.md", bytes: Buffer.from("# Mine\n\nOur own text.\n") };
    await documents.process((await documents.add(mine)).id);
    await store.write((tx) =>
      tx
        .updateTable("documents")
        .set({ indexed_at: at + 1 })
        .execute(),
    );
    expect(await found()).toEqual([]);
    for (const { core } of cores) await core.close();
    await database.remove();
    await rm(folder, { recursive: true, force: true });
  });

  it("leaves the manual out of a workspace that the configuration file has declared, and says that", async () => {
    const database = await open();
    const folder = await mkdtemp(join(tmpdir(), "parley-first-"));
    const config = loadConfig({
      PARLEY_DATA_DIR: folder,
      DATABASE_URL: database.url,
      PARLEY_SECRET: "a secret for tests, of more than thirty-two characters",
    });
    const core = await openServices(config, { clock: systemClock, log: pino({ level: "silent" }) });
    await core.store.migrate();
    const declared = await createWorkspace({ ...core, clock: systemClock }, { name: "Lamps" });
    const welcome = await firstStart({ services: core }, config, systemClock);
    expect(welcome).toMatchObject({ workspaceId: declared.id, readsManual: false });
    expect(await core.store.read.selectFrom("documents").select("title").execute()).toEqual([]);
    await core.close();
    await database.remove();
    await rm(folder, { recursive: true, force: true });
  });
});
