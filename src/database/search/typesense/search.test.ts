import { afterEach, beforeEach, expect, it } from "vitest";
import { eventually } from "#test/support/eventually.ts";
import type { TestApp } from "#test/support/http/app.ts";
import { startApp } from "#test/support/http/app.ts";
import { searchEngineState, advanceUntilPasses, workOf } from "#test/support/typesense/search-engine.ts";
import { eachDatabase } from "#test/support/database/databases.ts";
import type { TestDatabase } from "#test/support/database/databases.ts";
import type { TestTypesense } from "#test/support/typesense/typesense-server.ts";
import { startTypesense } from "#test/support/typesense/typesense-server.ts";
import { createHandMovedClock } from "#test/support/hand-moved-clock.ts";
import { testStart } from "#test/support/http/app.ts";
import { rebuildSearch } from "#admin/installation/search.ts";

eachDatabase("conversations in Typesense", (open) => {
  let engine: TestTypesense;
  let app: TestApp;
  beforeEach(async () => {
    engine = await startTypesense();
    app = await startApp(open, { typesense: { urls: [engine.url], apiKey: engine.apiKey } });
  });
  afterEach(async () => {
    await app.close();
    await engine.close();
  });

  const alias = (): string => `parley_conversations_${app.workspace.id}`;

  /** A conversation with this question; its id. */
  async function ask(text: string): Promise<string> {
    const { status, body } = await app.post("/v1/query", { workspace_id: app.workspace.id, query: text });
    expect(status).toBe(200);
    return body.conversation_id;
  }

  const search = (q: string) =>
    app.get(`/v1/conversations?workspace_id=${app.workspace.id}&q=${encodeURIComponent(q)}`);
  const found = async (q: string): Promise<readonly string[]> => {
    const { status, body } = await search(q);
    expect(status).toBe(200);
    return body.conversations.map(({ id }) => id);
  };
  const written = async (): Promise<readonly string[]> =>
    ((await engine.documents(alias())) ?? []).map(({ id }) => id).toSorted();

  const soon = (check: () => unknown): Promise<void> => advanceUntilPasses(app, check);

  /** Until these are what the engine holds, and nothing waits to be written. */
  async function settled(ids: readonly string[]): Promise<void> {
    await soon(async () => {
      expect(await written()).toEqual(ids.toSorted());
      expect(await waiting()).toBe(0);
    });
  }

  const waiting = async (): Promise<number> => (await workOf(app, "search")).length;
  const searchState = () => searchEngineState(app);

  it("are found by Typesense within a second of being written", async () => {
    const other = await ask("where is my parcel");
    await settled([other]);
    const id = await ask("my xylophone is broken");
    // Half a second until the text is indexed, and the wake after the commit.
    app.clock.advance(600);
    await eventually(async () => expect(await found("broken xylophone")).toEqual([id]));
    await soon(async () => expect(await waiting()).toBe(0));
    expect(await written()).toEqual([other, id].toSorted());
    const before = engine.requests.length;
    expect(await found("xylophone")).toEqual([id]);
    expect(engine.requests.slice(before)).toEqual(["POST /multi_search"]);
    expect(await searchState()).toEqual({ name: "search engine", state: "ready", cause: null });
  });

  it("are searched in the database while Typesense is away, and are written to it afterwards", async () => {
    const first = await ask("the first xylophone");
    await settled([first]);
    for (const behaviour of ["away", "lagging"] as const) {
      engine.behave(behaviour);
      expect(await found("xylophone")).toEqual([first]);
      expect(await searchState()).toMatchObject({ state: "degraded", cause: expect.stringContaining("Typesense") });
    }
    const second = await ask("the second xylophone");
    const removed = await app.call("DELETE", `/v1/conversations/${first}`);
    expect(removed.status).toBe(204);
    // The engine is away for a long time: other work would have been given up by now.
    await eventually(async () => {
      app.clock.advance(5_000);
      const works = await app.store.read.selectFrom("outbox").select("attempts").where("kind", "=", "search").execute();
      expect(works[0]?.attempts).toBeGreaterThan(20);
    });
    engine.behave("well");
    await settled([second]);
    expect(await found("xylophone")).toEqual([second]);
    expect(app.logged.join("\n")).not.toContain(engine.apiKey);
  });

  it("cause an error if a search times out, and are searched in the database after a truncated answer", async () => {
    const id = await ask("a xylophone");
    await settled([id]);
    engine.behave("cut_off");
    expect((await search("xylophone")).body).toMatchObject({
      code: "search_unavailable",
      detail: expect.stringContaining("rarer words"),
    });
    engine.behave("cut_short");
    expect(await found("xylophone")).toEqual([id]);
    engine.behave("well");
    expect(await found("xylophone")).toEqual([id]);
  });

  it("are searched in the database while Typesense hangs; a refused key is reported", async () => {
    const id = await ask("a xylophone");
    await settled([id]);
    engine.behave("hang");
    expect(await found("xylophone")).toEqual([id]);
    expect(await searchState()).toMatchObject({ state: "degraded" });
    engine.behave("well");
    engine.changeKey("another");
    expect(await found("xylophone")).toEqual([id]);
    expect(await searchState()).toMatchObject({
      state: "degraded",
      cause: expect.stringContaining("TYPESENSE_API_KEY"),
    });
  });

  it("are removed when they are deleted", async () => {
    const id = await ask("a secret xylophone");
    await settled([id]);
    await app.call("DELETE", `/v1/conversations/${id}`);
    expect(await found("xylophone")).toEqual([]);
    await settled([]);
  });

  it("are rebuilt after their collection was lost, and searched meanwhile", async () => {
    const id = await ask("a xylophone");
    await settled([id]);
    await engine.wipe();
    expect(await found("xylophone")).toEqual([id]);
    await settled([id]);
    await engine.wipe();
    // Seen by a new message this time.
    const second = await ask("another xylophone");
    await settled([id, second]);
    expect(await found("xylophone")).toEqual([second, id]);
  });

  it("are rebuilt on request, in steps, without missing concurrent changes", async () => {
    const id = await ask("a xylophone");
    await settled([id]);
    const old = await engine.alias(alias());
    expect(await rebuildSearch(app.store, app.clock, undefined)).toEqual([app.workspace.id]);
    const second = await ask("a second xylophone");
    expect(await found("xylophone")).toContain(id);
    await soon(async () => expect(await engine.alias(alias())).not.toBe(old));
    await settled([id, second]);
    // The old one is gone, and no other is left over.
    await soon(async () => expect(await engine.collections()).toEqual([await engine.alias(alias())]));
  });

  it("are skipped if Typesense refuses them for good; the others are indexed", async () => {
    engine.refuse("poison", 400);
    const poison = await ask("poison xylophone");
    const good = await ask("good xylophone");
    await settled([good]);
    expect(app.logged.some((line) => line.includes("q misses it") && !line.includes("xylophone"))).toBe(true);
    expect(await found("xylophone")).toEqual([good]);
    expect((await app.get(`/v1/conversations/${poison}`)).status).toBe(200);
  });

  it("are returned only if the database confirms them", async () => {
    const id = await ask("a xylophone");
    const other = await ask("a parcel");
    await soon(async () => expect(await written()).toHaveLength(2));
    await soon(async () => expect(await waiting()).toBe(0));
    // The state after a lost change: the status has changed, and no write is queued.
    await app.store.write((tx) =>
      tx.updateTable("conversations").set({ status: "resolved" }).where("id", "=", id).execute(),
    );
    const narrowed = await app.get(`/v1/conversations?workspace_id=${app.workspace.id}&q=xylophone&status=open`);
    expect(narrowed.body.conversations).toEqual([]);
    expect(await found("parcel")).toEqual([other]);
  });
});

eachDatabase("switching to Typesense and back", (open) => {
  it("indexes existing conversations, and again after a time without Typesense", async () => {
    const database = { ...(await open()) } satisfies TestDatabase;
    const engine = await startTypesense();
    const typesense = { urls: ["http://127.0.0.1:1", engine.url], apiKey: engine.apiKey };
    const clock = createHandMovedClock(testStart);
    const start = (more: Parameters<typeof startApp>[1]) =>
      startApp(async () => database, { databaseUrl: database.url, clock, ...more });
    const without = await start({});
    const { workspace } = without;
    const ask = async (app: TestApp, query: string): Promise<string> => {
      const { body } = await app.post("/v1/query", { workspace_id: workspace.id, query }, { key: workspace.key });
      return body.conversation_id;
    };
    const written = async () =>
      ((await engine.documents(`parley_conversations_${workspace.id}`)) ?? []).map(({ id }) => id);
    const soon = (check: () => Promise<void>) =>
      eventually(async () => {
        clock.advance(250);
        await check();
      });
    /** Waits until the queue is empty, so that the next start has nothing to continue. */
    const idle = (app: TestApp) =>
      eventually(async () => {
        clock.advance(250);
        const rows = await app.store.read.selectFrom("outbox").select("kind").execute();
        expect(rows.filter(({ kind }) => kind === "index" || kind === "search")).toEqual([]);
      });
    const first = await ask(without, "one xylophone");
    await idle(without);
    await without.close();
    expect(engine.requests).toEqual([]);

    // The first of its two servers does not answer.
    const beside = await start({ typesense });
    await soon(async () => expect(await written()).toEqual([first]));
    await idle(beside);
    await beside.close();

    const withoutAgain = await start({});
    const second = await ask(withoutAgain, "two xylophones");
    const third = await withoutAgain.call("DELETE", `/v1/conversations/${first}`, { key: workspace.key });
    expect(third.status).toBe(204);
    await idle(withoutAgain);
    await withoutAgain.close();

    const again = await start({ typesense });
    await soon(async () => expect(await written()).toEqual([second]));
    const { body } = await again.get(`/v1/conversations?workspace_id=${workspace.id}&q=xylophone`, {
      key: workspace.key,
    });
    expect(body.conversations.map(({ id }) => id)).toEqual([second]);
    await again.close();
    await engine.close();
    await database.remove();
  });
});
