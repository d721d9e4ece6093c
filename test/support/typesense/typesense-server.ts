import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { TypesenseOptions } from "#database/search/typesense/client.ts";
import { startFakeTypesense } from "./fake-typesense.ts";
import type { FakeDocument } from "./collection.ts";
import { mistakeIn } from "./rules.ts";

/**
 * A Typesense server, and between it and the program a proxy that counts what is asked and fails where a test says so.
 * The server is the one that `TEST_TYPESENSE_URL` names, with the key in `TEST_TYPESENSE_KEY`, which a run of the tests
 * starts by itself where the program is installed; and otherwise an imitation.
 */
export interface TestTypesense {
  readonly url: string;
  readonly apiKey: string;
  readonly options: TypesenseOptions;
  /** Requests so far, as `METHOD /path`. */
  readonly requests: readonly string[];
  /** What in them is not as the API's description has it. */
  readonly mistakes: readonly string[];
  /** Documents of a collection, or of what an alias points to, without its mark; undefined when there is none. */
  documents(name: string): Promise<readonly FakeDocument[] | undefined>;
  /** Those that were made through this proxy and are still there. */
  collections(): Promise<readonly string[]>;
  alias(name: string): Promise<string | undefined>;
  /**
   * What the server does from now on. `away`: closes every connection. `hang`: never answers. `lagging`: 503, as while it
   * reads its log after a start, or for ever after its disk ran full without a limit.
   */
  behave(as: "well" | "away" | "lagging" | "hang" | "cut_off" | "cut_short"): void;
  /** Says that it is of this version. */
  changeVersion(version: string | undefined): void;
  /** Takes only this key from now on. */
  changeKey(key: string): void;
  /** Loses all that these tests have made, as a server without its disk. */
  wipe(): Promise<void>;
  /** From now on writes are answered with this status, as with a full disk (422) or a key that may only read (401). */
  refuseWrites(status: number | undefined): void;
  /** The next request whose `METHOD /path` fits is answered with 503. */
  failOnce(request: RegExp): void;
  /** Documents whose line holds this text are refused with this code. */
  refuse(text: string, code: number): void;
  /**
   * Answers to reads as a server that is ready after a restart and still reads its log: as if all that was written since
   * this call had not been. A write into a collection is done after the whole log, and ends it there. Call the result.
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

/** Undefined where there is none but the imitation. */
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
  const mistakes: string[] = [];
  const refused = new Map<string, number>();
  const failing: RegExp[] = [];
  const made = new Set<string>();
  const aliases = new Set<string>();
  const copies = new Set<string>();
  let writesRefused: number | undefined;
  let version: string | undefined;
  let keyTaken: string | undefined;
  let behaviour: Behaviour = "well";
  /** What is answered instead of collections that were written since; undefined: they were not there. */
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
    const asked = new URL(request.url ?? "/", url);
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    requests.push(`${request.method} ${asked.pathname}`);
    if (behaviour === "hang") return;
    if (behaviour === "away") {
      request.socket.destroy();
      return;
    }
    const body = Buffer.concat(chunks).toString("utf8");
    const mistake = mistakeIn(request.method ?? "", asked, body);
    if (mistake !== undefined) mistakes.push(mistake);
    const failed = failure(request, asked);
    const { status, body: answered } = failed ?? (await passOn(request, asked, body));
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
      // With a limit for its disk it goes on reading.
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

  async function passOn(request: IncomingMessage, asked: URL, body: string): Promise<Answer> {
    const { method = "GET" } = request;
    const [first, name] = asked.pathname.split("/").slice(1).map(decodeURIComponent);
    const writes = method !== "GET" && first === "collections";
    const of = name ?? (writes ? (JSON.parse(body) as { readonly name: string }).name : "");
    if (method === "POST" && first === "collections" && name === undefined) made.add(of);
    if (method === "PUT" && first === "aliases") aliases.add(of);
    if (writes) stale?.delete(of);
    const isImport = asked.pathname.endsWith("/documents/import");
    const isSearch = asked.pathname === "/multi_search";
    const held = isImport ? withhold(body) : undefined;
    if (held?.rest === "") return { status: 200, body: held.join("") };
    const sent = held?.rest ?? (isSearch ? redirected(body) : body);
    const key = String(request.headers["x-typesense-api-key"] ?? "");
    const response = await fetch(`${target}${asked.pathname}${asked.search}`, {
      method,
      headers: { "x-typesense-api-key": keyTaken === undefined ? key : apiKey },
      ...(method === "GET" || sent === "" ? {} : { body: sent }),
    });
    const text = await response.text();
    if (method === "GET" && first === "collections" && name === undefined && response.status === 200)
      return { status: 200, body: shown(JSON.parse(text) as readonly { readonly name: string }[]) };
    if (held !== undefined && response.status === 200) return { status: 200, body: held.join(text) };
    if (isSearch && behaviour === "cut_off" && response.status === 200) {
      const { results } = JSON.parse(text) as { readonly results: readonly object[] };
      return { status: 200, body: { results: results.map((each) => ({ ...each, search_cutoff: true })) } };
    }
    if (asked.pathname === "/debug" && version !== undefined) return { status: 200, body: { state: 1, version } };
    return { status: response.status, body: text };
  }

  /** Takes the documents that are to be refused out of an import, and puts the refusals into the answer to the rest. */
  function withhold(body: string): { readonly rest: string; join(answered: string): string } | undefined {
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

  function shown<T extends { readonly name: string }>(all: readonly T[]): readonly T[] {
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

  /** A second collection that holds what this one holds now. */
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
    mistakes,
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

/** What the program notes for itself; no document that a test has given. */
const markId = "mark";
