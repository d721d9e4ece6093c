import { afterEach, beforeEach, expect, it } from "vitest";
import { contactEmailKey } from "#domain/customer/contact-keys.ts";
import { addWebhook } from "#admin/webhooks/webhooks.ts";
import { eraseCustomer } from "#conversations/retention/erase-customer.ts";
import { createConversationSearch } from "#database/search/open.ts";
import { leaveTypesense } from "./queue.ts";
import { leaveTypesenseIndex } from "#knowledge/typesense/collection-state.ts";
import { createWorkspaces } from "#database/queries/workspaces.ts";
import { insertWork } from "#database/queries/outbox.ts";
import type { TestApp } from "#test/support/http/app.ts";
import { startApp } from "#test/support/http/app.ts";
import { searchEngineState, advanceUntilPasses, workOf } from "#test/support/typesense/search-engine.ts";
import { eachDatabase } from "#test/support/database/databases.ts";
import type { TestTypesense } from "#test/support/typesense/typesense-server.ts";
import { startTypesense } from "#test/support/typesense/typesense-server.ts";

const email = "zdenka@forgotten.example";
const theirs = 18;

eachDatabase("customers' data in Typesense", (open) => {
  let engine: TestTypesense;
  let app: TestApp;
  beforeEach(async () => {
    engine = await startTypesense();
    app = await startApp(open, { typesense: engine.options });
  });
  afterEach(async () => {
    await app.close();
    await engine.close();
    if (engine.violations.length > 0)
      throw new Error(`requests that the API does not describe: ${engine.violations.join("; ")}`);
  });

  async function ask(query: string): Promise<string> {
    const { status, body, text } = await app.post("/v1/query", { workspace_id: app.workspace.id, query });
    expect(status, text).toBe(200);
    return body.conversation_id;
  }

  /** Every id in every collection of conversations. */
  async function held(): Promise<readonly string[]> {
    const names = (await engine.collections()).filter((name) => name.startsWith("parley_conversations"));
    const all = await Promise.all(names.map((name) => engine.documents(name)));
    return all.flatMap((documents) => (documents ?? []).map(({ id }) => id)).toSorted();
  }

  const settled = (ids: readonly string[]): Promise<void> =>
    advanceUntilPasses(app, async () => {
      expect(await held()).toEqual(ids.toSorted());
      expect([...(await workOf(app, "index")), ...(await workOf(app, "search"))]).toEqual([]);
    });

  const erase = () => app.app.services.customers.erase(app.workspace.id, { email }, () => undefined);

  async function askAll(): Promise<{ readonly mine: readonly string[]; readonly other: string }> {
    const mine = await Promise.all(Array.from({ length: theirs }, (_, i) => ask(`my xylophone number ${i} is broken`)));
    const other = await ask("my xylophone is fine");
    await app.store.write(async (tx) => {
      const of = await tx.selectFrom("conversations").select("contact_id").where("id", "in", mine).execute();
      const ids = of.map((row) => row.contact_id);
      await tx
        .updateTable("contacts")
        .set({ email, email_key: contactEmailKey(email) })
        .where("id", "in", ids)
        .execute();
    });
    await settled([...mine, other]);
    return { mine, other };
  }

  it("is deleted when the erasure ends, and nothing of it remains queued", async () => {
    const { store, clock } = app;
    const { secrets } = app.app.services;
    await addWebhook(
      { store, clock, secrets, allowPrivate: true },
      { workspaceId: app.workspace.id, url: "http://127.0.0.1:9/hook" },
    );
    const { other } = await askAll();
    expect(await erase()).toMatchObject({ conversations: theirs, searchEngine: "erased" });
    expect(await held()).toEqual([other]);
    await settled([other]);
    const queued = [
      ...(await store.read.selectFrom("events").selectAll().execute()),
      ...(await store.read.selectFrom("webhook_attempts").selectAll().execute()),
      ...(await store.read.selectFrom("outbox").selectAll().execute()),
    ];
    expect(JSON.stringify(queued)).not.toMatch(/xylophone number|zdenka/);
  });

  it("is deleted after an outage of Typesense", async () => {
    const { other } = await askAll();
    engine.behave("lagging");
    expect(await erase()).toMatchObject({ conversations: theirs, searchEngine: "queued" });
    engine.behave("well");
    expect(await held()).toHaveLength(theirs + 1);
    await settled([other]);
  });

  it("is deleted even while Typesense's disk is full", async () => {
    const { other } = await askAll();
    engine.refuseWrites(422);
    expect(await erase()).toMatchObject({ searchEngine: "erased" });
    expect(await held()).toEqual([other]);
    engine.refuseWrites(undefined);
    await settled([other]);
  });

  it("is deleted without the queued work that also concerns other customers", async () => {
    const { mine, other } = await askAll();
    const [first = ""] = mine;
    const now = app.clock.now();
    const place = { startedAt: now, id: first };
    const later = now + 3_600_000;
    await app.store.write((tx) =>
      insertWork(
        tx,
        [
          { lane: "index", kind: "index", payload: { conversationIds: [first, other] }, dueAt: later },
          { lane: "retime:x", kind: "retime", payload: { workspaceId: app.workspace.id, after: place }, dueAt: later },
          { lane: `timer:${first}`, kind: "timer", payload: { conversationId: first }, dueAt: later },
        ],
        now,
      ),
    );
    await erase();
    const left = await app.store.read.selectFrom("outbox").select("kind").where("due_at", "=", later).execute();
    expect(left.map(({ kind }) => kind).toSorted()).toEqual(["index", "retime"]);
  });

  it("is deleted with collections left over from a time without Typesense", async () => {
    const { other } = await askAll();
    await app.learn("kettle.md", "# Kettle\n\nThe kettle boils three litres of water.");
    await advanceUntilPasses(app, async () => expect(await workOf(app, "knowledge")).toEqual([]));
    const before = await engine.collections();
    // The cleanup of a start without Typesense.
    await leaveTypesense(app.store);
    await leaveTypesenseIndex(app.store);
    await erase();
    // Another collection may be there already.
    expect(new Set(await held())).toEqual(new Set([other]));
    await app.app.services.outside?.ensure();
    await app.app.services.knowledge?.ensure();
    await advanceUntilPasses(app, async () => {
      const now = await engine.collections();
      expect(now.filter((name) => before.includes(name))).toEqual([]);
      expect(now.filter((name) => name.startsWith("parley_conversations"))).toHaveLength(1);
    });
    await settled([other]);
  });

  it("is reported as not reached while Typesense is configured off, and deleted once it is used again", async () => {
    const { other } = await askAll();
    await leaveTypesense(app.store);
    const { store, clock } = app;
    const withoutTypesense = { store, clock, search: createConversationSearch(app.store) };
    const workspace = await createWorkspaces(store, clock).get(app.workspace.id);
    if (workspace === undefined) throw new Error("the workspace is gone");
    expect(await eraseCustomer(withoutTypesense, workspace, { email })).toMatchObject({
      conversations: theirs,
      searchEngine: "left",
    });
    expect(await held()).toHaveLength(theirs + 1);
    await app.app.services.outside?.ensure();
    await advanceUntilPasses(app, async () => expect(await held()).toEqual([other]));
    await settled([other]);
  });

  it("is kept in collections of another installation", async () => {
    const foreign = "parley_conversations_wt_other0_0123456789_v1_0123456789";
    await fetch(`${engine.url}/collections`, {
      method: "POST",
      headers: { "x-typesense-api-key": engine.apiKey },
      body: JSON.stringify({ name: foreign, fields: [{ name: "body", type: "string" }] }),
    });
    await app.app.services.outside?.ensure();
    await settled([]);
    expect(await engine.collections()).toContain(foreign);
  });

  it("is searched in the database while a restarted server replays its log, and no collection is replaced", async () => {
    const first = await ask("one xylophone");
    await app.learn("kettle.md", "# Kettle\n\nThe kettle boils three litres of water.");
    await settled([first]);
    const replay = await engine.recordForReplay();
    const second = await ask("two xylophones");
    await app.learn("kettle.md", "# Kettle\n\nThe kettle boils seven litres of water, says the new manual.");
    await settled([first, second]);
    await advanceUntilPasses(app, async () => expect(await workOf(app, "knowledge")).toEqual([]));
    const before = await engine.collections();
    replay();
    const found = await app.get(`/v1/conversations?workspace_id=${app.workspace.id}&q=xylophone`);
    expect(found.body.conversations.map(({ id }) => id)).toEqual([second, first]);
    const answer = await app.post("/v1/query", { workspace_id: app.workspace.id, query: "litres of the kettle" });
    expect(answer.body.answer).toContain("seven");
    // The check has made the server read its log to the end.
    await advanceUntilPasses(app, async () => {
      expect(await workOf(app, "search")).toEqual([]);
      expect(await workOf(app, "knowledge")).toEqual([]);
    });
    expect(await engine.collections()).toEqual(before);
  });

  it("is not rebuilt while a restarted server has not replayed the collection's creation yet", async () => {
    const replay = await engine.recordForReplay();
    const id = await ask("one xylophone");
    // The workspace's collection is made before the recording: this one is not.
    await app.store.write((tx) => tx.updateTable("search_collections").set({ live: null, live_version: 0 }).execute());
    await app.app.services.outside?.ensure();
    await settled([id]);
    const [live] = (await engine.collections()).filter((name) => name.startsWith("parley_conversations"));
    replay();
    const state = await searchEngineState(app);
    expect(state).toMatchObject({ state: "degraded", cause: expect.stringContaining("are not in Typesense yet") });
    const found = await app.get(`/v1/conversations?workspace_id=${app.workspace.id}&q=xylophone`);
    expect(found.body.conversations).toHaveLength(1);
    await advanceUntilPasses(app, async () => expect(await workOf(app, "search")).toEqual([]));
    expect(await engine.collections()).toContain(live);
    expect(await searchEngineState(app)).toMatchObject({ state: "ready" });
  });

  it("is rebuilt if the server comes back with an older state", async () => {
    const first = await ask("one xylophone");
    await settled([first]);
    const [name = ""] = (await engine.collections()).filter((each) => each.startsWith("parley_conversations"));
    const old = (await engine.documents(name)) ?? [];
    const second = await ask("two xylophones");
    await settled([first, second]);
    // The state after a restored backup.
    const request = (method: string, path: string, body?: string) =>
      fetch(`${engine.url}${path}`, {
        method,
        headers: { "x-typesense-api-key": engine.apiKey },
        ...(body === undefined ? {} : { body }),
      });
    await request("DELETE", `/collections/${name}/documents/${second}`);
    const mark = { ...old[0], id: "mark", body: "", tie_a: 1 };
    await request("POST", `/collections/${name}/documents/import?action=upsert`, JSON.stringify(mark));
    const found = await app.get(`/v1/conversations?workspace_id=${app.workspace.id}&q=xylophone`);
    expect(found.body.conversations.map(({ id }) => id)).toEqual([second, first]);
    await settled([first, second]);
    expect(await engine.collections()).not.toContain(name);
  });

  it("is reported as degraded, and not ready, while Typesense is empty", async () => {
    await settled([await ask("one xylophone")]);
    await app.learn("kettle.md", "# Kettle\n\nThe kettle boils three litres of water.");
    await advanceUntilPasses(app, async () => expect(await workOf(app, "knowledge")).toEqual([]));
    expect(await searchEngineState(app)).toMatchObject({ state: "ready" });
    await engine.wipe();
    expect(await searchEngineState(app)).toMatchObject({ state: "degraded" });
    // The maintenance every ten minutes finds it without a search.
    app.clock.advance(600_000);
    await advanceUntilPasses(app, async () => expect(await searchEngineState(app)).toMatchObject({ state: "ready" }));
  });
});
