import { afterAll, beforeAll, expect, it } from "vitest";
import { newId } from "#domain/ids.ts";
import { knowledgeLane } from "#knowledge/index/work.ts";
import { insertWork } from "#database/queries/outbox.ts";
import { rebuildSearch } from "#admin/installation/search.ts";
import type { TestApp } from "#test/support/http/app.ts";
import { startApp } from "#test/support/http/app.ts";
import { advanceUntilPasses, workOf } from "#test/support/typesense/search-engine.ts";
import { eachDatabase } from "#test/support/database/databases.ts";
import type { TestTypesense } from "#test/support/typesense/typesense-server.ts";
import { startTypesense } from "#test/support/typesense/typesense-server.ts";

eachDatabase("passages in a failing Typesense", (open) => {
  let engine: TestTypesense;
  let app: TestApp;
  beforeAll(async () => {
    engine = await startTypesense();
    app = await startApp(open, { typesense: { urls: [engine.url], apiKey: engine.apiKey } });
    await app.learn("kettle.md", "# Kettle\n\nThe kettle boils three litres of water.");
    await settled();
  });
  afterAll(async () => {
    await app.close();
    await engine.close();
    if (engine.violations.length > 0)
      throw new Error(`requests that the API does not describe: ${engine.violations.join("; ")}`);
  });

  const alias = (): string => `parley_knowledge_${app.workspace.id}`;
  const ours = async (): Promise<readonly string[]> =>
    (await engine.collections()).filter((name) => name.startsWith("parley_knowledge"));
  const ask = (query: string) => app.post("/v1/query", { workspace_id: app.workspace.id, query });
  async function source(query: string): Promise<string> {
    const { status, body, text } = await ask(query);
    return status === 200 ? (body.sources[0]?.title ?? "nothing") : text;
  }
  const kettle = (): Promise<string> => source("How many litres does the kettle boil?");
  const soon = (check: () => unknown): Promise<void> => advanceUntilPasses(app, check);
  const settled = (): Promise<void> => soon(async () => expect(await workOf(app, "knowledge")).toEqual([]));

  it.each([
    ["its disk is full", 422, "lamp", "How many hours does the lamp shine?", "The lamp shines for nine hours."],
    ["its key may only read", 401, "stove", "How many plates does the stove heat?", "The stove heats four plates."],
  ])(
    "are searched in the embedded index while %s, and in Typesense after the repair",
    async (_, status, name, query, text) => {
      engine.refuseWrites(status);
      await app.learn(`${name}.md`, `# ${name}\n\n${text}`);
      expect(await kettle()).toBe("Kettle");
      expect(await source(query)).toBe(name);
      engine.refuseWrites(undefined);
      await settled();
      const before = engine.requests.length;
      expect(await source(query)).toBe(name);
      expect(engine.requests.slice(before)).toContain("POST /multi_search");
    },
  );

  it("cause one log line for an outage and one for its end, whatever the number of retries", async () => {
    // Waits for retries of earlier outages, including those of conversations, so that this is a new outage.
    await app.learn("stool.md", "# Stool\n\nThe stool has three legs.");
    await soon(async () => {
      const kinds = ["search", "index", "knowledge"];
      const left = await app.store.read.selectFrom("outbox").select("id").where("kind", "in", kinds).execute();
      expect(left).toEqual([]);
    });
    const before = app.logged.length;
    const lines = (...wanted: readonly string[]): readonly { readonly level: number }[] =>
      app.logged
        .slice(before)
        .map((line): { readonly level: number; readonly msg: string } => JSON.parse(line))
        .filter(({ msg }) => wanted.some((each) => msg.includes(each)));
    engine.behave("away");
    await app.learn("towel.md", "# Towel\n\nThe towel is two metres long.");
    await soon(() => expect(lines("outbox: work failed").length).toBeGreaterThan(2));
    expect(lines("outbox: work failed").filter(({ level }) => level >= 40)).toHaveLength(1);
    expect(lines("available again")).toEqual([]);
    engine.behave("well");
    await settled();
    expect(lines("available again")).toMatchObject([{ level: 30 }]);
  });

  it("are searched in an incomplete collection while another process writes many", async () => {
    const now = app.clock.now();
    const ids = Array.from({ length: 60 }, () => newId("doc", now));
    const lane = knowledgeLane(app.workspace.id);
    const before = engine.requests.length;
    await app.store.write(async (tx) => {
      const rest = { media_type: "text/markdown", url: null, audience: "[]", body_id: null, parent_id: null };
      const state = { status: "indexed", error: null, chunks: 1, pages: 1, indexed_version: 1 } as const;
      const made = { workspace_id: app.workspace.id, source: "upload", created_at: now, indexed_at: now } as const;
      await tx
        .insertInto("documents")
        .values(ids.map((id) => ({ id, title: id, origin_key: id, content_hash: id, ...rest, ...state, ...made })))
        .execute();
      await tx
        .insertInto("chunks")
        .values(
          ids.map((id, n) => ({
            id: newId("chk", now),
            workspace_id: app.workspace.id,
            document_id: id,
            version: 1,
            position: 0,
            title: `Chair ${n}`,
            text: `Chair number ${n} is made of oak.`,
            url: null,
          })),
        )
        .execute();
      await tx
        .updateTable("workspaces")
        .set((eb) => ({ knowledge_version: eb("knowledge_version", "+", 1) }))
        .where("id", "=", app.workspace.id)
        .execute();
      const lease = { id: "another process", until: now + 1_000_000_000 };
      await insertWork(tx, [{ lane, kind: "knowledge", payload: {}, dueAt: now, lease }], now);
    });
    expect(await kettle()).toBe("Kettle");
    // "I don't know" would not be true.
    expect((await ask("Which chair is made of oak?")).body.code).toBe("search_unavailable");
    expect(engine.requests.slice(before)).toContain("POST /multi_search");
    await app.store.write((tx) =>
      tx.updateTable("outbox").set({ lease_id: null, lease_until: null }).where("lane", "=", lane).execute(),
    );
    await settled();
    expect(await source("Is chair number 17 made of oak?")).toContain("Chair");
  });

  it("leave no collection behind if a step of the exchange fails", async () => {
    for (const step of [/^PUT \/aliases\/parley_knowledge/, /^DELETE \/collections\/parley_knowledge[^/]*$/]) {
      const old = await engine.alias(alias());
      engine.failOnce(step);
      await rebuildSearch(app.store, app.clock, undefined);
      await soon(async () => {
        expect(await kettle()).toBe("Kettle");
        expect(await engine.alias(alias())).not.toBe(old);
        expect(await ours()).toEqual([await engine.alias(alias())]);
      });
      await settled();
    }
  });

  it("are found without the alias", async () => {
    await fetch(`${engine.url}/aliases/${alias()}`, {
      method: "PUT",
      headers: { "x-typesense-api-key": engine.apiKey },
      body: JSON.stringify({ collection_name: "nowhere" }),
    });
    expect(await kettle()).toBe("Kettle");
  });

  it("are searched in a collection of an older form until a new one is complete", async () => {
    const [old = ""] = await ours();
    const begun = `${alias()}_v1_begun`;
    await fetch(`${engine.url}/collections`, {
      method: "POST",
      headers: { "x-typesense-api-key": engine.apiKey },
      body: JSON.stringify({ name: begun, fields: [{ name: "terms", type: "string" }] }),
    });
    await app.store.write((tx) =>
      tx
        .updateTable("knowledge_collections")
        .set({ live_form: 1, building: begun })
        .where("workspace_id", "=", app.workspace.id)
        .execute(),
    );
    const before = engine.requests.length;
    expect(await kettle()).toBe("Kettle");
    expect(engine.requests.slice(before)).toContain("POST /multi_search");
    await app.app.services.knowledge?.ensure();
    await settled();
    expect(await ours()).toHaveLength(1);
    expect(await ours()).not.toContain(old);
    // The misspelling is only found in the current form.
    expect(await source("How many litres does the kettel boil?")).toBe("Kettle");
  });
});
