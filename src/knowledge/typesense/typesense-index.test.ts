import { afterEach, beforeEach, expect, it } from "vitest";
import { eventually } from "#test/support/eventually.ts";
import { rebuildSearch } from "#admin/installation/search.ts";
import type { TestApp } from "#test/support/http/app.ts";
import { startApp, testStart } from "#test/support/http/app.ts";
import { searchEngineState, advanceUntilPasses, workOf } from "#test/support/typesense/search-engine.ts";
import type { TestDatabase } from "#test/support/database/databases.ts";
import { eachDatabase } from "#test/support/database/databases.ts";
import type { TestTypesense } from "#test/support/typesense/typesense-server.ts";
import { startTypesense } from "#test/support/typesense/typesense-server.ts";
import { createHandMovedClock } from "#test/support/hand-moved-clock.ts";

const metricsToken = "a-token-of-the-test";

/** The collection also holds the passages' words. */
const passagesIn = async (engine: TestTypesense, name: string): Promise<number> =>
  ((await engine.documents(name)) ?? []).filter(({ doc }) => doc !== "words").length;

eachDatabase("passages in Typesense", (open) => {
  let engine: TestTypesense;
  let app: TestApp;
  beforeEach(async () => {
    engine = await startTypesense();
    app = await startApp(open, { typesense: { urls: [engine.url], apiKey: engine.apiKey }, metricsToken });
  });
  afterEach(async () => {
    await app.close();
    await engine.close();
    if (engine.violations.length > 0)
      throw new Error(`requests that the API does not describe: ${engine.violations.join("; ")}`);
  });

  const alias = (): string => `parley_knowledge_${app.workspace.id}`;
  const held = (): Promise<number> => passagesIn(engine, alias());

  const ask = (query: string) => app.post("/v1/query", { workspace_id: app.workspace.id, query });
  async function sources(query: string): Promise<readonly string[]> {
    const { status, body, text } = await ask(query);
    expect(status, text).toBe(200);
    return body.sources.map(({ title }) => title);
  }

  const soon = (check: () => unknown): Promise<void> => advanceUntilPasses(app, check);
  const waiting = () => workOf(app, "knowledge");
  const ready = () => searchEngineState(app);

  it("are found in Typesense as soon as they are committed", async () => {
    await app.learn("kettle.md", "# Kettle\n\nThe kettle boils three litres of water.");
    expect(await sources("How many litres does the kettle boil?")).toEqual(["Kettle"]);
    expect(await held()).toBe(1);
    await app.learn("lamp.md", "# Lamp\n\nThe lamp shines for nine hours.");
    const before = engine.requests.length;
    expect(await sources("How many hours does the lamp shine?")).toEqual(["Lamp"]);
    expect(engine.requests.slice(before)).toContain("POST /multi_search");
    // The worker writes them even without a search.
    await app.learn("mug.md", "# Mug\n\nThe mug is made of tin.");
    await soon(async () => expect(await held()).toBe(3));
    await soon(async () => expect(await waiting()).toEqual([]));
    await soon(async () => expect(await ready()).toEqual({ name: "search engine", state: "ready", cause: null }));
  });

  it("are searched in the embedded index during an outage, and in Typesense afterwards", async () => {
    await app.learn("kettle.md", "# Kettle\n\nThe kettle boils three litres of water.");
    expect(await sources("litres of the kettle")).toEqual(["Kettle"]);
    await soon(async () => expect(await waiting()).toEqual([]));
    for (const behaviour of ["away", "lagging", "hang", "cut_short", "cut_off"] as const) {
      engine.behave(behaviour);
      expect([behaviour, await sources("litres of the kettle")]).toEqual([behaviour, ["Kettle"]]);
    }
    engine.behave("lagging");
    await app.learn("lamp.md", "# Lamp\n\nThe lamp shines for nine hours.");
    expect(await sources("hours of the lamp")).toEqual(["Lamp"]);
    expect(await ready()).toMatchObject({ state: "degraded", cause: expect.stringContaining("is not ready (503)") });
    engine.behave("well");
    await soon(async () => expect(await waiting()).toEqual([]));
    const before = engine.requests.length;
    expect(await sources("How many hours does the lamp shine?")).toEqual(["Lamp"]);
    expect(engine.requests.slice(before)).toContain("POST /multi_search");
    const { text } = await app.get("/metrics", { key: null, headers: { authorization: `Bearer ${metricsToken}` } });
    expect(text).toMatch(/parley_search_engine_request_duration_seconds_count\{outcome="away"\} [1-9]/);
    expect(app.logged.join("\n")).not.toContain(engine.apiKey);
  });

  it("are written again after a truncated import", async () => {
    await app.learn("kettle.md", "# Kettle\n\nThe kettle boils three litres of water.");
    expect(await sources("litres of the kettle")).toEqual(["Kettle"]);
    engine.behave("cut_short");
    await app.learn("lamp.md", "# Lamp\n\nThe lamp shines for nine hours.");
    await soon(async () => expect((await waiting())[0]?.last_error ?? "").not.toBe(""));
    engine.behave("well");
    await soon(async () => expect(await waiting()).toEqual([]));
    expect(await held()).toBe(2);
  });

  it("are skipped if Typesense refuses them for good, and retried if it may accept them later", async () => {
    engine.refuse(Buffer.from("ядовит", "utf8").toString("hex"), 400);
    await app.learn("poison.md", "# Poison\n\nядовитый");
    await app.learn("kettle.md", "# Kettle\n\nThe kettle boils three litres of water.");
    expect(await sources("litres of the kettle")).toEqual(["Kettle"]);
    expect(app.logged.some((line) => line.includes("answers miss it") && !line.includes("ядовитый"))).toBe(true);
    await soon(async () => expect(await waiting()).toEqual([]));
    engine.refuse("lamp", 503);
    await app.learn("lamp.md", "# Lamp\n\nThe lamp shines for nine hours.");
    expect(await sources("How many hours does the lamp shine?")).toEqual(["Lamp"]);
    expect(await waiting()).not.toEqual([]);
  });

  it("are shown only to askers with their tag, whatever Typesense holds", async () => {
    await app.learn("prices.md", "# Prices\n\nPartners pay seven euros for a kettle.", ["partner"]);
    await app.learn("open.md", "# Kettle\n\nA kettle costs nine euros.");
    expect(await sources("What does a kettle cost partners in euros?")).toEqual(["Kettle"]);
    await soon(async () => expect(await waiting()).toEqual([]));
    // The state after a change that Typesense never received.
    await app.store.write(async (tx) => {
      await tx.updateTable("documents").set({ audience: '["partner"]' }).execute();
    });
    expect(await sources("What does a kettle cost in euros?")).toEqual([]);
  });

  it("are answered from during the rebuild of a lost collection", async () => {
    await app.learn("kettle.md", "# Kettle\n\nThe kettle boils three litres of water.");
    expect(await sources("litres of the kettle")).toEqual(["Kettle"]);
    await engine.wipe();
    expect(await sources("litres of the kettle")).toEqual(["Kettle"]);
    await soon(async () => expect(await held()).toBe(1));
    await engine.wipe();
    // Seen by the writing of a change this time.
    await app.learn("lamp.md", "# Lamp\n\nThe lamp shines for nine hours.");
    expect(await sources("How many hours does the lamp shine?")).toEqual(["Lamp"]);
    await soon(async () => expect(await held()).toBe(2));
  });

  it("are answered from while a new collection is filled on request; no collection is left behind", async () => {
    for (let n = 0; n < 5; n += 1) await app.learn(`d${n}.md`, `# Thing ${n}\n\nThe kettle number ${n} boils.`);
    await sources("kettle");
    const old = await engine.alias(alias());
    await rebuildSearch(app.store, app.clock, undefined);
    const titles = await Promise.all(Array.from({ length: 5 }, () => sources("Does the kettle boil?")));
    for (const each of titles) expect(each.length).toBeGreaterThan(0);
    await soon(async () => expect(await engine.alias(alias())).not.toBe(old));
    await soon(async () => {
      const names = await engine.collections();
      expect(names.filter((name) => name.startsWith("parley_knowledge"))).toHaveLength(1);
    });
    expect(await held()).toBe(5);
  });

  it("are rebuilt if the count shows passages that were never written", async () => {
    await app.learn("kettle.md", "# Kettle\n\nThe kettle boils three litres of water.");
    expect(await sources("litres of the kettle")).toEqual(["Kettle"]);
    await soon(async () => expect(await waiting()).toEqual([]));
    const collection = (await engine.alias(alias())) ?? "";
    const [document] = (await engine.documents(collection)) ?? [];
    await fetch(`${engine.url}/collections/${collection}/documents/import?action=upsert`, {
      method: "POST",
      headers: { "x-typesense-api-key": engine.apiKey },
      body: JSON.stringify({ ...document, id: "chk_left_over", doc: "ffff" }),
    });
    expect(await held()).toBe(2);
    await app.learn("lamp.md", "# Lamp\n\nThe lamp shines for nine hours.");
    await soon(async () => {
      expect(await engine.alias(alias())).not.toBe(collection);
      expect(await held()).toBe(2);
    });
    expect(await sources("How many hours does the lamp shine?")).toEqual(["Lamp"]);
  });
});

eachDatabase("passages during a switch to Typesense and back", (open) => {
  it("are searchable all the time", async () => {
    const database = { ...(await open()) } satisfies TestDatabase;
    const engine = await startTypesense();
    const clock = createHandMovedClock(testStart);
    const start = (more: Parameters<typeof startApp>[1]) =>
      startApp(async () => database, { databaseUrl: database.url, clock, ...more });
    const without = await start({});
    const { workspace } = without;
    const title = async (app: TestApp, query: string): Promise<string | undefined> => {
      const { body } = await app.post("/v1/query", { workspace_id: workspace.id, query }, { key: workspace.key });
      return body.sources[0]?.title;
    };
    await without.learn("kettle.md", "# Kettle\n\nThe kettle boils three litres of water.");
    expect(await title(without, "litres of the kettle")).toBe("Kettle");
    await without.close();

    // The first of the two nodes does not answer.
    const typesense = { urls: ["http://127.0.0.1:1", engine.url], apiKey: engine.apiKey };
    const beside = await start({ typesense });
    expect(await title(beside, "litres of the kettle")).toBe("Kettle");
    await eventually(async () => {
      clock.advance(250);
      expect(await passagesIn(engine, `parley_knowledge_${workspace.id}`)).toBe(1);
    });
    await beside.close();

    const again = await start({});
    expect(await title(again, "litres of the kettle")).toBe("Kettle");
    expect(await again.store.read.selectFrom("knowledge_written").selectAll().execute()).toEqual([]);
    await again.close();
    expect(engine.violations).toEqual([]);
    await engine.close();
    await database.remove();
  });
});
