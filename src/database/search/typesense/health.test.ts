import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import { searchEngineState } from "#admin/installation/search.ts";
import type { OpenStore } from "#database/open.ts";
import { openStore } from "#database/open.ts";
import { newSqlite } from "#test/support/database/databases.ts";
import type { TestTypesense } from "#test/support/typesense/typesense-server.ts";
import { startTypesense } from "#test/support/typesense/typesense-server.ts";

let engine: TestTypesense;
let store: OpenStore;
let remove: () => Promise<void>;

beforeAll(async () => {
  const database = await newSqlite();
  ({ remove } = database);
  store = await openStore(database.url);
  await store.migrate();
  engine = await startTypesense();
});
afterAll(async () => {
  await store.close();
  await remove();
  await engine.close();
  if (engine.violations.length > 0)
    throw new Error(`requests that the API does not describe: ${engine.violations.join("; ")}`);
});

const state = (options: { readonly url?: string; readonly apiKey?: string } = {}): Promise<string> =>
  searchEngineState(store, { urls: [options.url ?? engine.url], apiKey: options.apiKey ?? engine.apiKey });

it("reports the version of a server that supports everything needed, and leaves nothing on it", async () => {
  expect(await state()).toMatch(/^Typesense v?3\d\.\S+, 1 server$/);
  expect(engine.requests.filter((each) => each === "POST /collections")).toHaveLength(1);
  expect(await engine.collections()).toEqual([]);
  const aliases = await fetch(`${engine.url}/aliases`, { headers: { "x-typesense-api-key": engine.apiKey } });
  expect(await aliases.text()).not.toContain("parley_doctor");
});

it("reports the remedy for a wrong key", async () => {
  await expect(state({ apiKey: "wrong" })).rejects.toThrow(/401.*: check TYPESENSE_API_KEY\. Until/);
});

it("reports the missing rights of a read-only key", async () => {
  engine.refuseWrites(401);
  await expect(state()).rejects.toThrow(
    /refused to make a collection with 401.*check TYPESENSE_API_KEY, which needs all actions on collections, documents and aliases whose names begin with parley_\./,
  );
  engine.refuseWrites(undefined);
});

it("reports a full disk", async () => {
  engine.refuseWrites(422);
  await expect(state()).rejects.toThrow(
    "Typesense reports OUT_OF_DISK and takes no writes: give it more disk or memory. Until then the embedded index answers questions, and the database searches conversations",
  );
  engine.refuseWrites(undefined);
});

it("reports a server that is too old", async () => {
  engine.changeVersion("0.25.2");
  await expect(state()).rejects.toThrow("Typesense 0.25.2 is too old: install version 30 or later");
  engine.changeVersion(undefined);
});

it("reports that no server answers, or a server that is not Typesense", async () => {
  await expect(state({ url: "http://127.0.0.1:1" })).rejects.toThrow(
    /does not answer: .*check TYPESENSE_URL and that the server runs/,
  );
  const other = createServer((_, response) => void response.writeHead(404).end("<h1>Not here</h1>"));
  other.listen(0, "127.0.0.1");
  await once(other, "listening");
  const { port } = other.address() as AddressInfo;
  await expect(state({ url: `http://127.0.0.1:${port}` })).rejects.toThrow(
    "what answers there is no Typesense server (it said 404 to GET /health): check TYPESENSE_URL",
  );
  other.closeAllConnections();
  other.close();
  engine.behave("lagging");
  await expect(state()).rejects.toThrow(/^Typesense is not ready \(503\): it is replaying its log/);
  engine.behave("well");
});
