import { afterEach, expect, it } from "vitest";
import { dashboardUser } from "#test/support/http/administrators.ts";
import { eventually } from "#test/support/eventually.ts";
import type { StartOptions, TestApp } from "#test/support/http/app.ts";
import { startApp } from "#test/support/http/app.ts";
import { eachDatabase } from "#test/support/database/databases.ts";
import type { EmbeddingServer } from "#test/support/servers/embedding-server.ts";
import { queueVectors } from "#knowledge/index/work.ts";
import { startEmbeddingServer } from "#test/support/servers/embedding-server.ts";

const subjects =
  "tent stove bag rope lamp boot map axe knife pan cup mat pole tarp flask torch saw hook sled kayak".split(" ");
const meanings: Readonly<Record<string, string>> = { automobile: "stove", bivouac: "tent" };
const concepts = subjects.map((subject) => {
  const others = Object.keys(meanings).filter((word) => meanings[word] === subject);
  return new RegExp(`\\b(?:${[subject, ...others].join("|")})`, "i");
});

/** Numbers that only depend on the text. */
function noiseOf(text: string, size: number): number[] {
  let state = [...text].reduce((sum, each) => (sum * 31 + (each.codePointAt(0) ?? 0)) % 2_147_483_647, 7);
  return concepts.map(() => {
    state = (state * 48_271 + 11) % 2_147_483_647;
    return size * (state / 1_073_741_823 - 1);
  });
}

type Bend = NonNullable<Parameters<typeof startEmbeddingServer>[1]>;
/** All texts are near each other, and nothing can be told apart without a prefix. */
const needsPrefix: Bend = (vector, text) => [
  ...vector,
  ...noiseOf(text, /^(?:query|passage): /u.test(text) ? 0.5 : 9),
  9,
];
const squeezed: Bend = (vector, text) => [...vector, ...noiseOf(text, 0.5), 9];
const useless: Bend = (_, text) => noiseOf(text, 1);

eachDatabase("the encoder of an embedding server", (open) => {
  const servers: EmbeddingServer[] = [];
  const apps: TestApp[] = [];
  afterEach(async () => {
    for (const app of apps.splice(0).toReversed()) await app.close();
    for (const server of servers.splice(0)) await server.close();
  });

  async function serve(bend: Bend): Promise<EmbeddingServer> {
    const server = await startEmbeddingServer(concepts, bend);
    servers.push(server);
    return server;
  }

  async function start({ url: baseUrl, apiKey }: EmbeddingServer, more: StartOptions = {}): Promise<TestApp> {
    const app = await startApp(open, {
      embedding: { provider: "openai-compatible", name: "bent", baseUrl, apiKey },
      ...more,
    });
    apps.push(app);
    return app;
  }

  async function learn(app: TestApp, names: readonly string[] = subjects): Promise<void> {
    for (const name of names) {
      await app.learn(
        `${name}.md`,
        `# The ${name}\n\nKeep your ${name} dry at all times. A wet ${name} has to hang in the air. Return the ${name} clean.`,
      );
    }
  }

  async function calibrated(app: TestApp, check: (state: Record<string, unknown>) => unknown) {
    await eventually(async () => {
      app.clock.advance(1_000);
      const row = await app.store.read
        .selectFrom("vector_models")
        .select("calibration")
        .where("workspace_id", "=", app.workspace.id)
        .executeTakeFirst();
      await check(JSON.parse(row?.calibration ?? "null") as Record<string, unknown>);
    });
  }

  const vectors = (app: TestApp) => app.store.read.selectFrom("chunk_vectors").select(["chunk_id", "model"]).execute();

  async function haveVectors(app: TestApp, model: string): Promise<void> {
    await eventually(async () => {
      app.clock.advance(1_000);
      const rows = await vectors(app);
      expect(rows).toHaveLength(subjects.length);
      expect(new Set(rows.map((row) => row.model))).toEqual(new Set([model]));
    });
    app.clock.advance(10_000);
  }

  const ask = async (app: TestApp, query: string) => {
    const { body } = await app.post("/v1/query", { workspace_id: app.workspace.id, query });
    return body;
  };

  it("is given the prefixes by which it tells the documents apart, and answers by meaning then", async () => {
    const server = await serve(needsPrefix);
    const app = await start(server);
    await learn(app);
    const model = `openai-compatible:bent#${2 * concepts.length + 2}-e5`;
    await haveVectors(app, model);
    const asked = server.asked.length;
    const { sources } = await ask(app, "May my bivouac get wet?");
    expect(server.asked.slice(asked).flat()[0]).toBe("query: May my bivouac get wet?");
    expect(sources[0]?.title).toBe("The tent");
    const admin = await dashboardUser(app, "admin");
    const { body } = await admin.call("GET", "documents/encoder");
    expect(body).toMatchObject({ encoder: { prefixes: "e5", dimensions: 2 * concepts.length + 2, fit: true } });
    const before = server.asked.length;
    await app.learn("anchor.md", "# The anchor\n\nKeep your anchor dry at all times.");
    await eventually(() => {
      app.clock.advance(1_000);
      expect(server.asked.slice(before)).toEqual([
        ["passage: The anchor", "passage: Keep your anchor dry at all times."],
      ]);
    });
  });

  it("keeps to no prefixes where none helps, and to those of the setting", async () => {
    const server = await serve(squeezed);
    const app = await start(server);
    await learn(app);
    await calibrated(app, (state) =>
      expect(state).toMatchObject({ prefixes: "none", measured: { separation: expect.any(Number) } }),
    );
    const given = await serve(needsPrefix);
    const { url: baseUrl, apiKey } = given;
    const other = await start(given, {
      embedding: { provider: "openai-compatible", name: "bent", baseUrl, apiKey, prefixes: "nomic" },
    });
    await learn(other);
    await calibrated(other, (state) => expect(state).toMatchObject({ prefixes: "nomic" }));
    expect(given.asked.flat().filter((text) => text.startsWith("query: "))).toEqual([]);
  });

  it("is reported where it tells nothing apart, and words answer", async () => {
    const server = await serve(useless);
    const app = await start(server);
    await learn(app);
    await calibrated(app, (state) => expect(state).toMatchObject({ prefixes: "none" }));
    const { text } = await app.get("/health/ready", { key: null });
    expect(JSON.parse(text)).toMatchObject({
      dependencies: expect.arrayContaining([
        { name: "embedding server", state: "degraded", cause: expect.stringContaining("check EMBEDDING_NAME") },
      ]),
    });
    const asked = server.asked.length;
    expect((await ask(app, "How do I keep my tent dry?")).sources[0]?.title).toBe("The tent");
    expect(server.asked.length).toBe(asked);
    expect(await vectors(app)).toEqual([]);
  });

  it("is calibrated after a restart where the server was away, and once", async () => {
    const server = await serve(squeezed);
    const database = await open();
    server.behave("failing");
    const first = await start(server, { databaseUrl: database.url });
    await learn(first);
    await eventually(() => {
      first.clock.advance(1_000);
      expect(server.asked).not.toEqual([]);
    });
    expect(await vectors(first)).toEqual([]);
    expect((await ask(first, "How do I keep my tent dry?")).sources[0]?.title).toBe("The tent");
    await first.close();
    apps.pop();
    server.behave("well");
    const { workspace, clock } = first;
    const second = await start(server, { databaseUrl: database.url, clock });
    const again: TestApp = { ...second, workspace };
    await haveVectors(again, `openai-compatible:bent#${2 * concepts.length + 2}`);
    const asked = server.asked.flat().length;
    await second.close();
    apps.pop();
    const third = await start(server, { databaseUrl: database.url, clock });
    await eventually(async () => {
      clock.advance(1_000);
      const waiting = third.store.read.selectFrom("outbox").select("id").where("kind", "=", "embed");
      expect(await waiting.execute()).toEqual([]);
    });
    expect(
      server.asked
        .flat()
        .slice(asked)
        .filter((text) => text.includes("stove")),
    ).toEqual([]);
    await third.close();
    apps.pop();
    await database.remove();
  });

  it("is calibrated again for another model, with new vectors, and when a command asks for it", async () => {
    const server = await serve(squeezed);
    const database = await open();
    const first = await start(server, { databaseUrl: database.url });
    await learn(first);
    await haveVectors(first, `openai-compatible:bent#${2 * concepts.length + 2}`);
    await first.close();
    apps.pop();
    const { url: baseUrl, apiKey } = server;
    const embedding = { provider: "openai-compatible", name: "other", baseUrl, apiKey } as const;
    const { workspace, clock } = first;
    const second = await start(server, { databaseUrl: database.url, clock, embedding });
    await haveVectors({ ...second, workspace }, `openai-compatible:other#${2 * concepts.length + 2}`);
    clock.advance(60_000);
    const before = clock.now();
    expect(await second.app.services.calibrateAgain?.(workspace.id)).toEqual([workspace.id]);
    await calibrated({ ...second, workspace }, ({ at }) => expect(at).toBeGreaterThanOrEqual(before));
    await second.close();
    apps.pop();
    await database.remove();
  });

  it("waits for a server that refuses every text, as one does whose model is not loaded", async () => {
    const server = await serve(squeezed);
    server.behave("refusing");
    const app = await start(server);
    await learn(app);
    await eventually(() => {
      app.clock.advance(1_000);
      expect(server.asked.length).toBeGreaterThan(0);
    });
    expect(await vectors(app)).toEqual([]);
    server.behave("well");
    await haveVectors(app, `openai-compatible:bent#${2 * concepts.length + 2}`);
  });

  it("is calibrated again if the server has another model under the same name after a restart", async () => {
    const server = await serve(squeezed);
    const database = await open();
    const first = await start(server, { databaseUrl: database.url });
    await learn(first);
    await haveVectors(first, `openai-compatible:bent#${2 * concepts.length + 2}`);
    await first.close();
    apps.pop();
    server.behave("other_length");
    const { workspace, clock } = first;
    const second = await start(server, { databaseUrl: database.url, clock });
    await second.store.write(async (tx) => {
      await tx.deleteFrom("chunk_vectors").execute();
      await queueVectors(tx, workspace.id, clock.now());
    });
    await haveVectors({ ...second, workspace }, `openai-compatible:bent#${2 * concepts.length + 3}`);
    await second.close();
    apps.pop();
    await database.remove();
  });

  it("only orders passages where there are too few to calibrate it", async () => {
    const app = await start(await serve(squeezed), { settings: { strictness: "helpful" } });
    await learn(app, ["tent", "stove"]);
    await calibrated(app, (state) => {
      expect(state).toMatchObject({ dimensions: 2 * concepts.length + 2 });
      expect(state).not.toHaveProperty("measured");
    });
    expect((await ask(app, "How do I keep my stove dry?")).sources[0]?.title).toBe("The stove");
  });
});
