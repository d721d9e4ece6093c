import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { inspect } from "node:util";
import { describe, expect, it, onTestFinished } from "vitest";
import type { Typesense } from "./client.ts";
import { TypesenseAway, createTypesense } from "./client.ts";
import {
  CollectionGone,
  createCollection,
  deleteDocument,
  deleteDocuments,
  dropCollection,
  importDocuments,
  multiSearch,
} from "./collections.ts";
import { startTypesense } from "#test/support/typesense/typesense-server.ts";

const apiKey = "key-that-nobody-may-see";
const secretText = "My number is 0171";

interface Received {
  readonly route: string;
  readonly key: unknown;
  readonly body: string;
}

type Answer = (response: ServerResponse, body: string, request: IncomingMessage) => void;

async function serve(answer: Answer): Promise<{ readonly url: string; readonly received: readonly Received[] }> {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body = Buffer.concat(chunks).toString("utf8");
      const key = request.headers["x-typesense-api-key"];
      received.push({ route: `${request.method} ${request.url}`, key, body });
      answer(response, body, request);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, received };
}

const json = (status: number, body: unknown): Answer => {
  return (response) => response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
};

const hang: Answer = () => undefined;

const clientOf = (...urls: readonly string[]): Promise<Typesense> => createTypesense({ urls, apiKey });

const importOf = (typesense: Typesense, timeoutMs = 3_000): Promise<string> =>
  typesense("take documents", { timeoutMs })
    .collections("talks")
    .documents()
    .import(JSON.stringify({ id: "1", body: secretText }), { action: "upsert" });

const searchOf = (typesense: Typesense) => multiSearch(typesense, [{ collection: "talks", q: secretText }]);

const failureOf = (request: Promise<unknown>): Promise<unknown> =>
  request.then(
    () => undefined,
    (error: unknown) => error,
  );

/** All that a log or a debugger can show of an error. */
function shownOf(error: unknown): string {
  const seen = new Set<unknown>();
  const parts = [inspect(error, { depth: null, showHidden: true }), JSON.stringify(error), String(error)];
  const walk = (value: unknown): void => {
    if (value === null || (typeof value !== "object" && typeof value !== "function")) {
      parts.push(String(value));
      return;
    }
    if (seen.has(value)) return;
    seen.add(value);
    for (const name of Reflect.ownKeys(value)) {
      parts.push(String(name));
      walk(Reflect.get(value, name));
    }
  };
  walk(error);
  return parts.join("\n");
}

it("sends one request at a time to a hanging server, and fails the others at once", async () => {
  const engine = await startTypesense();
  const typesense = await createTypesense({ urls: [engine.url], apiKey: engine.apiKey });
  const ask = (timeoutMs = 3_000) => typesense("list aliases", { timeoutMs }).aliases().retrieve();
  const askMany = (timeoutMs?: number): Promise<readonly PromiseSettledResult<unknown>[]> =>
    Promise.allSettled(Array.from({ length: 20 }, () => ask(timeoutMs)));
  engine.behave("hang");
  await expect(ask(300)).rejects.toThrow("no answer in time");
  const before = engine.requests.length;
  const answers = await askMany(300);
  expect(answers.filter(({ status }) => status === "fulfilled")).toEqual([]);
  expect(engine.requests.length - before).toBeLessThanOrEqual(1);
  engine.behave("well");
  expect(await ask()).toHaveProperty("aliases");
  expect((await askMany()).filter(({ status }) => status === "fulfilled")).toHaveLength(20);
  await engine.close();
});

it.each<[string, Answer]>([
  ["that never answers", hang],
  ["that stops within its answer", (response) => void response.writeHead(200).write('{"success":')],
])("ends an import at a server %s", async (_, answer) => {
  const { url } = await serve(answer);
  await expect(importOf(await clientOf(url), 200)).rejects.toThrow("Typesense does not answer: no answer in time");
});

it("does not follow a redirect, and sends the key to no other server", async () => {
  const other = await serve(json(200, { results: [] }));
  for (const status of [301, 302, 307, 308]) {
    const first = await serve((response, _, request) => {
      response.writeHead(status, { location: `${other.url}${request.url}` }).end();
    });
    const typesense = await clientOf(first.url);
    await expect(searchOf(typesense)).rejects.toThrow(TypesenseAway);
    await expect(importOf(typesense)).rejects.toThrow(TypesenseAway);
    await expect(dropCollection(typesense, "talks")).rejects.toThrow(TypesenseAway);
    expect(new Set(first.received.map(({ key }) => key))).toEqual(new Set([apiKey]));
  }
  expect(other.received).toEqual([]);
});

it("asks the other nodes of a cluster, and stays with the one that answers", async () => {
  const away = await serve(json(503, { message: "Not Ready or Lagging" }));
  const well = await serve(json(200, { ok: true }));
  const typesense = await clientOf(away.url, `${well.url}/search`);
  await typesense("tell its health").health.retrieve();
  await typesense("tell its health").health.retrieve();
  expect(away.received).toHaveLength(1);
  expect(well.received.map(({ route }) => route)).toEqual(["GET /search/health", "GET /search/health"]);
});

it("refuses an answer that is too large", async () => {
  const { url } = await serve((response) => void response.writeHead(200).end("x".repeat(16_000_001)));
  await expect(importOf(await clientOf(url))).rejects.toThrow("it answered with more than can be its answer");
});

describe("an answer without success", () => {
  it("of 404 tells that the collection is gone, or that nothing is left to delete", async () => {
    const { url } = await serve(json(404, { message: "Not Found" }));
    const typesense = await clientOf(url);
    const gone = { name: "CollectionGone", collection: "talks" };
    await expect(deleteDocuments(typesense, "talks", "id:=1")).rejects.toMatchObject(gone);
    await expect(importDocuments(typesense, "talks", [{ id: "1" }], () => undefined)).rejects.toThrow(CollectionGone);
    await deleteDocument(typesense, "talks", "1");
    await dropCollection(typesense, "talks");
    await expect(searchOf(typesense)).rejects.toThrow("Typesense refused to search with 404 (Not Found)");
  });

  it("of 409 tells that the collection was created before, and of 401 that the key is wrong", async () => {
    const taken = await serve(json(409, { message: "A collection with this name already exists." }));
    const schema = { name: "talks", fields: [{ name: "body", type: "string" as const }] };
    await createCollection(await clientOf(taken.url), schema);
    const locked = await serve(json(401, { message: "Forbidden" }));
    const refusal = "Typesense refused to make a collection with 401 (Forbidden): check TYPESENSE_API_KEY";
    await expect(createCollection(await clientOf(locked.url), schema)).rejects.toThrow(refusal);
    // Another attempt would change nothing.
    expect(locked.received).toHaveLength(1);
  });

  it("of 503 tells that the server is away, after a second attempt", async () => {
    const { url, received } = await serve(json(503, { message: "Not Ready or Lagging" }));
    const away = {
      name: "TypesenseAway",
      status: 503,
      message: "Typesense does not answer: it answered 503 (Not Ready or Lagging)",
    };
    await expect(searchOf(await clientOf(url))).rejects.toMatchObject(away);
    expect(received).toHaveLength(2);
  });

  it("that is no JSON was cut off", async () => {
    const { url, received } = await serve((response) => void response.writeHead(200).end('{"results":[{"hits"'));
    await expect(searchOf(await clientOf(url))).rejects.toThrow("its answer was cut off");
    expect(received).toHaveLength(1);
  });
});

it.each<[string, Answer]>([
  ...[400, 401, 404, 409, 422, 429, 500, 503].map((status): [string, Answer] => [
    `answers ${status}`,
    (response, body) => void response.writeHead(status).end(JSON.stringify({ message: "No.", document: body })),
  ]),
  ["hangs", hang],
  ["closes the connection", (_response, _body, request) => void request.socket.destroy()],
  ["answers with a text", (response) => void response.writeHead(200).end(secretText)],
  ["redirects", (response) => void response.writeHead(307, { location: "http://127.0.0.1:1/" }).end()],
])("shows neither the key nor a text in the error for a server that %s", async (_, answer) => {
  expect(shownOf(new Error("any", { cause: { of: [apiKey] } }))).toContain(apiKey);
  const { url, received } = await serve(answer);
  const typesense = await clientOf(url);
  const search = { searches: [{ collection: "talks", q: secretText }] };
  const timeoutMs = answer === hang ? 500 : 20_000;
  const requests = [importOf(typesense, timeoutMs), typesense("search", { timeoutMs }).multiSearch.perform(search)];
  const errors = (await Promise.all(requests.map(failureOf))).filter((error) => error !== undefined);
  if (answer !== hang)
    expect(received.filter(({ body }) => body.includes(secretText)).length).toBeGreaterThanOrEqual(2);
  expect(errors).not.toEqual([]);
  for (const error of errors) {
    expect(error).toBeInstanceOf(TypesenseAway);
    expect(shownOf(error)).not.toContain(apiKey);
    expect(shownOf(error)).not.toContain(secretText);
  }
});

it("shows no text of a document in the error for a broken line of an import's answer", async () => {
  const { url } = await serve((response) => void response.writeHead(200).end(secretText));
  const error = await failureOf(importDocuments(await clientOf(url), "talks", [{ id: "1" }], () => undefined));
  expect(error).toMatchObject({ message: "its answer to an import was cut off" });
  expect(shownOf(error)).not.toContain(secretText);
});
