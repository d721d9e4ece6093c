import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { eventually } from "#test/support/eventually.ts";
import type { TestApp } from "#test/support/http/app.ts";
import { startApp } from "#test/support/http/app.ts";
import { eachDatabase, newSqlite } from "#test/support/database/databases.ts";
import type { EmbeddingServer } from "#test/support/servers/embedding-server.ts";
import { startEmbeddingServer } from "#test/support/servers/embedding-server.ts";
import { skipped } from "#test/support/skipped.ts";
import { isEncoderInstalled } from "./encoder/model.ts";

const concepts = [/\b(?:car|automobile|vehicle)s?\b/i, /\b(?:phone|mobile|handset)s?\b/i, /\bpartners?\b/i];

eachDatabase("passages with vectors", (open) => {
  let server: EmbeddingServer;
  let app: TestApp;
  beforeEach(async () => {
    server = await startEmbeddingServer(concepts);
    const { url: baseUrl, apiKey } = server;
    app = await startApp(open, {
      embedding: { provider: "openai-compatible", name: "concepts", baseUrl, apiKey },
      settings: { strictness: "helpful" },
    });
  });
  afterEach(async () => {
    await app.close();
    await server.close();
  });

  async function sources(query: string): Promise<readonly string[]> {
    const { status, body, text } = await app.post("/v1/query", { workspace_id: app.workspace.id, query });
    expect(status, text).toBe(200);
    return body.sources.map(({ title }) => title);
  }

  const made = () => app.store.read.selectFrom("chunk_vectors").select(["chunk_id", "vector"]).execute();

  async function soon(check: () => unknown): Promise<void> {
    await eventually(async () => {
      app.clock.advance(1_000);
      await check();
    });
  }
  const have = (count: number) => soon(async () => expect(await made()).toHaveLength(count));
  /** Later than the cached vectors are considered current. */
  const pass = (): void => app.clock.advance(10_000);

  async function learnBoth(): Promise<void> {
    await app.learn("a-phone.md", "# The handset\n\nTo charge it, put it on the pad over night.");
    await app.learn("b-car.md", "# The car\n\nTo charge it, put the plug in over night.");
  }

  it("prefers passages with the same meaning over passages with the same words", async () => {
    await learnBoth();
    await have(2);
    pass();
    expect((await sources("How do I charge an automobile over night?"))[0]).toBe("The car");
    expect((await sources("How do I charge a mobile over night?"))[0]).toBe("The handset");
    await sources("How do I charge the car of jane.doe@example.com?");
    expect(server.asked.at(-1)?.[0]).not.toContain("jane");
    // The document has none of the question's words.
    expect(await sources("Vehicles?")).toContain("The car");
  });

  it("uses words alone while the server is down, without waiting for it after three failures", async () => {
    await learnBoth();
    await have(2);
    server.behave("failing");
    const before = server.asked.length;
    for (let n = 0; n < 6; n += 1) expect(await sources("How do I charge the car over night?")).toContain("The car");
    expect(server.asked.length - before).toBe(3);
    const { text } = await app.get("/health/ready", { key: null });
    expect(JSON.parse(text)).toMatchObject({
      dependencies: expect.arrayContaining([
        { name: "embedding server", state: "degraded", cause: "the embedding server answers 500" },
      ]),
    });
    server.behave("well");
    app.clock.advance(60_000);
    expect((await sources("How do I charge an automobile over night?"))[0]).toBe("The car");
    expect(app.logged.join("\n")).not.toContain(server.apiKey);
  });

  it.each(["away", "broken", "too_few", "not_numbers", "other_length"] as const)(
    "stores no vector from an answer that is %s, and retries later",
    async (behaviour) => {
      await app.learn("first.md", "# The car\n\nTo charge it, put the plug in over night.");
      await have(1);
      server.behave(behaviour);
      await app.learn("second.md", "# The handset\n\nTo charge it, put it on the pad over night.");
      await soon(() => expect(server.asked.flat().filter((text) => text.includes("handset"))).not.toEqual([]));
      expect(await made()).toHaveLength(1);
      expect(await sources("How do I charge the handset over night?")).toContain("The handset");
      server.behave("well");
      await have(2);
    },
  );

  it("never shows a gated passage because of its meaning", async () => {
    await app.learn("gated.md", "# Partners\n\nPartners get a car for seven euros.", ["partner"]);
    await app.learn("open.md", "# The handset\n\nTo charge it, put it on the pad.");
    await have(2);
    pass();
    expect(await sources("What do partners pay for an automobile?")).not.toContain("Partners");
    expect(await sources("Partner vehicles")).not.toContain("Partners");
  });

  it("requests vectors of new passages only, and deletes those of removed ones", async () => {
    const paragraph = (what: string): string => `${what} ${"is told about at length here. ".repeat(60)}`;
    await app.learn("car.md", `# Car\n\n${paragraph("The car")}\n\n## Doors\n\nIt has four doors.`);
    await soon(async () => expect((await made()).length).toBeGreaterThan(1));
    const { length: before } = await made();
    const asked = server.asked.flat().length;
    const id = await app.learn("car.md", `# Car\n\n${paragraph("The car")}\n\n## Doors\n\nIt has five doors.`);
    await soon(async () => {
      expect(server.asked.flat().length).toBeGreaterThan(asked);
      expect(await app.store.read.selectFrom("outbox").select("id").where("kind", "=", "embed").execute()).toEqual([]);
    });
    expect(server.asked.flat().slice(asked)).toEqual(["Car › Doors", "It has five doors."]);
    expect(await made()).toHaveLength(before);
    await app.call("DELETE", `/v1/documents/${id}?workspace_id=${app.workspace.id}`);
    await have(0);
  });

  it("skips a passage that the server refuses, which is still found by its words", async () => {
    server.refuse("oison");
    await app.learn("poison.md", "# Poison\n\nThe poison is kept in the cellar.");
    await app.learn("car.md", "# The car\n\nTo charge it, put the plug in.");
    await have(2);
    const rows = await made();
    expect(rows.map(({ vector }) => vector.byteLength).toSorted((a, b) => a - b)).toEqual([0, 8]);
    expect(await sources("Where is the poison kept?")).toContain("Poison");
  });
});

const builtIn = "the built-in encoder";

if (isEncoderInstalled()) describe(builtIn, withoutServer);
else skipped(builtIn, "its optional packages are not installed");

function withoutServer(): void {
  it("gives passages vectors in the background, and answers meanwhile", async () => {
    const app = await startApp(newSqlite, { embedding: { provider: "built-in" } });
    try {
      const ask = async (query: string) => {
        const { body } = await app.post("/v1/query", { workspace_id: app.workspace.id, query });
        return body.sources.map(({ title }) => title);
      };
      await app.learn("refunds.md", "# When do I get my money back?\n\nWe pay within five days of the return.");
      expect((await ask("How soon do you pay my money?"))[0]).toBe("When do I get my money back?");
      await app.learn("opening.md", "# When is the shop open?\n\nFrom nine to six on weekdays.");
      await eventually(async () => {
        app.clock.advance(10_000);
        expect((await ask("How soon do you pay my money?"))[0]).toBe("When do I get my money back?");
        expect(await app.store.read.selectFrom("chunk_vectors").select("chunk_id").execute()).toHaveLength(2);
      });
    } finally {
      await app.close();
    }
  });
}
