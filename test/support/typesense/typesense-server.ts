import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { TypesenseOptions } from "#database/search/typesense/client.ts";
import { startFakeTypesense } from "./fake-typesense.ts";
import type { FakeDocument } from "./collection.ts";
import { violationIn } from "./rules.ts";

/**
 * A Typesense server behind a proxy that counts requests and injects faults. The server is the one named by
 * `TEST_TYPESENSE_URL`, with the key in `TEST_TYPESENSE_KEY`; a test run starts one if the program is installed.
 * Otherwise it is an imitation.
 */
export interface TestTypesense {
  readonly url: string;
  readonly apiKey: string;
  readonly options: TypesenseOptions;
  /** Requests so far, as `METHOD /path`. */
  readonly requests: readonly string[];
  /** Violations of the API's description in the requests. */
  readonly violations: readonly string[];
  /** Documents of a collection or an alias, without the sync marker; undefined if it does not exist. */
  documents(name: string): Promise<readonly FakeDocument[] | undefined>;
  /** Existing collections that were created through this proxy. */
  collections(): Promise<readonly string[]>;
  alias(name: string): Promise<string | undefined>;
  /**
   * Sets the server's behaviour. `away`: closes every connection. `hang`: never answers. `lagging`: 503, as while it
   * replays its log after a start, or permanently after its disk filled up without a limit.
   */
  behave(as: "well" | "away" | "lagging" | "hang" | "cut_off" | "cut_short"): void;
  /** Reports this version. */
  changeVersion(version: string | undefined): void;
  /** Accepts only this key from now on. */
  changeKey(key: string): void;
  /** Deletes all collections that these tests created, like a lost disk. */
  wipe(): Promise<void>;
  /** Answers writes with this status from now on, as for a full disk (422) or a read-only key (401). */
  refuseWrites(status: number | undefined): void;
  /** Answers the next request whose `METHOD /path` matches with 503. */
  failOnce(request: RegExp): void;
  /** Refuses documents whose line contains this text with this code. */
  refuse(text: string, code: number): void;
  /**
   * Records from now on. The returned function then serves the recorded state to reads, like a restarted server that is
   * ready and still replays its log. A write to a collection runs after the whole log, and ends the replay there.
   */
  recordForReplay(): Promise<() => void>;
  close(): Promise<void>;
}

type Behaviour = Parameters<TestTypesense["behave"]>[0];

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

const env = (...names: readonly string[]): string | undefined =>
  names.map((name) => process.env[name]).find((value) => value !== undefined && value !== "");

/** Undefined if only the imitation is available. */
function namedTypesense(): TypesenseOptions | undefined {
  const url = env("TEST_TYPESENSE_URL", "TYPESENSE_URL");
  if (url === undefined) return undefined;
  return { urls: url.split(","), apiKey: env("TEST_TYPESENSE_KEY", "TYPESENSE_API_KEY") ?? "" };
}

export async function startTypesense(options = namedTypesense()): Promise<TestTypesense> {
  const fake = options === undefined ? await startFakeTypesense() : undefined;
  const target = fake?.url ?? options?.urls[0] ?? "";
  const apiKey = fake?.apiKey ?? options?.apiKey ?? "";
  const requests: string[] = [];
  const violations: string[] = [];
  const refused = new Map<string, number>();
  const failing: RegExp[] = [];
  const made = new Set<string>();
  const aliases = new Set<string>();
  const copies = new Set<string>();
  let writesRefused: number | undefined;
  let version: string | undefined;
  let keyTaken: string | undefined;
  let behaviour: Behaviour = "well";
  /** Earlier states of collections that were written since; undefined: the collection did not exist. */
  let stale: Map<string, string | undefined> | undefined;

  const direct = (method: string, path: string, body?: string): Promise<Response> =>
    fetch(`${target}${path}`, {
      method,
      headers: { "x-typesense-api-key": apiKey },
      ...(body === undefined ? {} : { body }),
    });

  const server = createServer((request, response) => {
    void answer(request, response).catch((error: unknown) => {
      response.writeHead(502, { "content-type": "application/json" });
      response.end(JSON.stringify({ message: String(error) }));
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const requestUrl = new URL(request.url ?? "/", url);
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    requests.push(`${request.method} ${requestUrl.pathname}`);
    if (behaviour === "hang") return;
    if (behaviour === "away") {
      request.socket.destroy();
      return;
    }
    const body = Buffer.concat(chunks).toString("utf8");
    const violation = violationIn(request.method ?? "", requestUrl, body);
    if (violation !== undefined) violations.push(violation);
    const failed = failure(request, requestUrl);
    const { status, body: answered } = failed ?? (await passOn(request, requestUrl, body));
    const text = typeof answered === "string" ? answered : JSON.stringify(answered);
    response.writeHead(status, { "content-type": "application/json; charset=utf-8" });
    response.end(behaviour === "cut_short" && text.length > 20 ? text.slice(0, text.length / 2) : text);
  }

  function failure(request: IncomingMessage, { pathname }: URL): Answer | undefined {
    const route = `${request.method} ${pathname}`;
    if (behaviour === "lagging" && route !== "GET /debug") {
      return { status: 503, body: pathname === "/health" ? { ok: false } : { message: "Not Ready or Lagging" } };
    }
    if (route === "GET /health") {
      // With a disk limit, the server still serves reads.
      return writesRefused === 422 ? { status: 200, body: { ok: true, resource_error: "OUT_OF_DISK" } } : undefined;
    }
    const forbidden = "Forbidden - a valid `x-typesense-api-key` header must be sent.";
    if (keyTaken !== undefined && request.headers["x-typesense-api-key"] !== keyTaken)
      return { status: 401, body: { message: forbidden } };
    if (failing.some((each) => each.test(route))) {
      failing.splice(0);
      return { status: 503, body: { message: "Not Ready or Lagging" } };
    }
    const writes = request.method !== "GET" && route !== "POST /multi_search";
    if (writesRefused === 401 && writes) return { status: 401, body: { message: forbidden } };
    if (writesRefused === 422 && writes && request.method !== "DELETE")
      return { status: 422, body: { message: "Rejecting write: running out of resource type: OUT_OF_DISK" } };
    return undefined;
  }

  async function passOn(request: IncomingMessage, requestUrl: URL, body: string): Promise<Answer> {
    const { method = "GET" } = request;
    const [first, name] = requestUrl.pathname.split("/").slice(1).map(decodeURIComponent);
    const writes = method !== "GET" && first === "collections";
    const of = name ?? (writes ? (JSON.parse(body) as { readonly name: string }).name : "");
    if (method === "POST" && first === "collections" && name === undefined) made.add(of);
    if (method === "PUT" && first === "aliases") aliases.add(of);
    if (writes) stale?.delete(of);
    const isImport = requestUrl.pathname.endsWith("/documents/import");
    const isSearch = requestUrl.pathname === "/multi_search";
    const refusedLines = isImport ? withoutRefused(body) : undefined;
    if (refusedLines?.rest === "") return { status: 200, body: refusedLines.join("") };
    const sent = refusedLines?.rest ?? (isSearch ? redirected(body) : body);
    const key = String(request.headers["x-typesense-api-key"] ?? "");
    const response = await fetch(`${target}${requestUrl.pathname}${requestUrl.search}`, {
      method,
      headers: { "x-typesense-api-key": keyTaken === undefined ? key : apiKey },
      ...(method === "GET" || sent === "" ? {} : { body: sent }),
    });
    const text = await response.text();
    if (method === "GET" && first === "collections" && name === undefined && response.status === 200)
      return { status: 200, body: createdHere(JSON.parse(text) as readonly { readonly name: string }[]) };
    if (refusedLines !== undefined && response.status === 200) return { status: 200, body: refusedLines.join(text) };
    if (isSearch && behaviour === "cut_off" && response.status === 200) {
      const { results } = JSON.parse(text) as { readonly results: readonly object[] };
      return { status: 200, body: { results: results.map((each) => ({ ...each, search_cutoff: true })) } };
    }
    if (requestUrl.pathname === "/debug" && version !== undefined) return { status: 200, body: { state: 1, version } };
    return { status: response.status, body: text };
  }

  /** Removes the documents to be refused from an import, and merges their refusedLines into the answer. */
  function withoutRefused(body: string): { readonly rest: string; join(answered: string): string } | undefined {
    const lines = body.split("\n").filter((line) => line !== "");
    const codes = lines.map((line) => [...refused].find(([text]) => line.includes(text))?.[1]);
    if (codes.every((code) => code === undefined)) return undefined;
    return {
      rest: lines.filter((_, index) => codes[index] === undefined).join("\n"),
      join(answered) {
        const taken = answered.split("\n").filter((line) => line !== "");
        return codes
          .map((code, index) =>
            code === undefined
              ? (taken.shift() ?? "")
              : JSON.stringify({ success: false, code, error: "Refused.", document: lines[index] }),
          )
          .join("\n");
      },
    };
  }

  function redirected(body: string): string {
    if (stale === undefined) return body;
    const { searches } = JSON.parse(body) as { readonly searches: readonly { readonly collection: string }[] };
    return JSON.stringify({
      searches: searches.map((each) =>
        stale?.has(each.collection) === true
          ? { ...each, collection: stale.get(each.collection) ?? "parley_not_there_yet" }
          : each,
      ),
    });
  }

  function createdHere<T extends { readonly name: string }>(all: readonly T[]): readonly T[] {
    return all.filter(({ name }) => !copies.has(name) && (stale?.has(name) !== true || stale.get(name) !== undefined));
  }

  async function collections(): Promise<readonly string[]> {
    const there = (await (await direct("GET", "/collections?exclude_fields=fields")).json()) as readonly {
      readonly name: string;
    }[];
    return there.map(({ name }) => name).filter((name) => made.has(name));
  }

  async function alias(name: string): Promise<string | undefined> {
    const response = await direct("GET", `/aliases/${name}`);
    if (response.status !== 200) return undefined;
    return ((await response.json()) as { readonly collection_name: string }).collection_name;
  }

  async function linesOf(name: string): Promise<string | undefined> {
    const response = await direct("GET", `/collections/${name}/documents/export`);
    return response.status === 200 ? response.text() : undefined;
  }

  async function wipe(): Promise<void> {
    for (const name of [...made, ...copies]) await direct("DELETE", `/collections/${name}`);
    for (const name of aliases) await direct("DELETE", `/aliases/${name}`);
  }

  /** Copies a collection and returns the copy's name. */
  async function copyOf(name: string): Promise<string> {
    const copy = `${name}_copy`;
    const schema = (await (await direct("GET", `/collections/${name}`)).json()) as { readonly fields: unknown };
    const { fields, symbols_to_index } = schema as { readonly fields: unknown; readonly symbols_to_index?: unknown };
    await direct("POST", "/collections", JSON.stringify({ name: copy, fields, symbols_to_index }));
    const lines = (await linesOf(name)) ?? "";
    if (lines !== "") await direct("POST", `/collections/${copy}/documents/import?action=upsert`, lines);
    copies.add(copy);
    return copy;
  }

  return {
    url,
    apiKey,
    options: { urls: [url], apiKey },
    requests,
    violations,
    async documents(name) {
      const lines = await linesOf((await alias(name)) ?? name);
      return lines
        ?.split("\n")
        .filter((line) => line !== "")
        .map((line) => JSON.parse(line) as FakeDocument)
        .filter(({ id }) => id !== markId);
    },
    collections,
    alias,
    behave(as) {
      behaviour = as;
    },
    changeVersion(to) {
      version = to;
    },
    changeKey(key) {
      keyTaken = key;
    },
    wipe,
    refuseWrites(status) {
      writesRefused = status;
    },
    failOnce: (request) => void failing.push(request),
    refuse: (text, code) => void refused.set(text, code),
    async recordForReplay() {
      const then = new Map<string, string>();
      for (const name of await collections()) then.set(name, await copyOf(name));
      return () => {
        stale = new Map([...made].map((name) => [name, then.get(name)]));
      };
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
      await wipe();
      await fake?.close();
    },
  };
}

/** The id of the program's own sync marker, which no test adds. */
const markId = "mark";
