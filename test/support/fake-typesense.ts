import { once } from "node:events";
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { matchesFilter } from "./fake-typesense-filter.ts";
import { mistakeIn } from "./fake-typesense-rules.ts";

/**
 * A server that speaks as much of Typesense's API as is used, over real HTTP: collections, aliases, import, deletion and
 * multi_search as its OpenAPI description and its documented behaviour have them. It knows nothing of what uses it.
 */
export interface FakeTypesense {
  readonly url: string;
  readonly apiKey: string;
  /** Requests so far, as `METHOD /path`. */
  readonly requests: readonly string[];
  /** What in them is not as the API's description has it. */
  readonly mistakes: readonly string[];
  /** Documents of a collection, or of what an alias points to; undefined when there is none. */
  documents(name: string): readonly FakeDocument[] | undefined;
  collections(): readonly string[];
  alias(name: string): string | undefined;
  /** What the server does from now on. `away`: closes every connection. `lagging`: 503. `hang`: never answers. */
  behave(as: "well" | "away" | "lagging" | "hang" | "cut_off" | "cut_short"): void;
  /** Takes only this key from now on. */
  changeKey(key: string): void;
  /** Loses everything, as a server without its disk. */
  wipe(): void;
  /** The next documents whose line holds this text are refused with this code. */
  refuse(text: string, code: number): void;
  close(): Promise<void>;
}

export type FakeValue = string | number | readonly string[];

export type FakeDocument = Readonly<Record<string, FakeValue>> & { readonly id: string };

interface Field {
  readonly name: string;
  readonly type: string;
  readonly optional?: boolean;
}

interface Collection {
  readonly name: string;
  readonly fields: readonly Field[];
  readonly symbols: ReadonlySet<string>;
  readonly documents: Map<string, FakeDocument>;
}

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

const perPageMax = 250;
const searchesMax = 50;

export async function startFakeTypesense(): Promise<FakeTypesense> {
  const apiKey = "a key for tests";
  const collections = new Map<string, Collection>();
  const aliases = new Map<string, string>();
  const requests: string[] = [];
  const refused = new Map<string, number>();
  const mistakes: string[] = [];
  let keyTaken = apiKey;
  let behaviour: Parameters<FakeTypesense["behave"]>[0] = "well";

  const server = createServer((request, response) => {
    void answer(request, response).catch((error: unknown) => {
      response.writeHead(500, { "content-type": "application/json" });
      response.end(JSON.stringify({ message: String(error) }));
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", "http://typesense");
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    requests.push(`${request.method} ${url.pathname}`);
    if (behaviour === "hang") return;
    if (behaviour === "away") {
      request.socket.destroy();
      return;
    }
    const body = Buffer.concat(chunks).toString("utf8");
    const mistake = mistakeIn(request.method ?? "", url, body);
    if (mistake !== undefined) mistakes.push(mistake);
    const { status, body: answered } =
      mistake === undefined ? reply(request, url, body) : { status: 400, body: { message: mistake } };
    const text = typeof answered === "string" ? answered : JSON.stringify(answered);
    response.writeHead(status, { "content-type": "application/json; charset=utf-8" });
    response.end(behaviour === "cut_short" && text.length > 20 ? text.slice(0, text.length / 2) : text);
  }

  function reply(request: IncomingMessage, url: URL, body: string): Answer {
    const path = url.pathname.split("/").slice(1).map(decodeURIComponent);
    const route = `${request.method} ${path[0] ?? ""}`;
    if (behaviour === "lagging") {
      return { status: 503, body: { message: "Not Ready or Lagging", ...(path[0] === "health" ? { ok: false } : {}) } };
    }
    if (route === "GET health") return { status: 200, body: { ok: true } };
    if (request.headers["x-typesense-api-key"] !== keyTaken) {
      return { status: 401, body: { message: "Forbidden - a valid `x-typesense-api-key` header must be sent." } };
    }
    if (route === "GET debug") return { status: 200, body: { state: 1, version: "30.2" } };
    if (route === "POST multi_search") return multiSearch(body);
    if (path[0] === "aliases") return aliasReply(request.method ?? "", path[1], body);
    if (path[0] === "collections") return collectionReply(request.method ?? "", path.slice(1), url, body);
    return notFound("Not Found");
  }

  function aliasReply(method: string, name: string | undefined, body: string): Answer {
    if (name === undefined) {
      return { status: 200, body: { aliases: [...aliases].map(([n, c]) => ({ name: n, collection_name: c })) } };
    }
    if (method === "PUT") {
      const { collection_name } = JSON.parse(body) as { readonly collection_name?: string };
      if (typeof collection_name !== "string")
        return { status: 400, body: { message: "Parameter `collection_name` is required." } };
      aliases.set(name, collection_name);
    }
    const target = aliases.get(name);
    return target === undefined ? notFound("Not Found") : { status: 200, body: { name, collection_name: target } };
  }

  function collectionReply(method: string, [name, ...rest]: readonly string[], url: URL, body: string): Answer {
    if (method === "POST" && name === undefined) return create(body);
    const collection = resolve(name ?? "");
    if (collection === undefined) return notFound("Not Found");
    const [documents, second] = rest;
    if (documents === undefined && method === "GET") {
      return {
        status: 200,
        body: { name: collection.name, num_documents: collection.documents.size, fields: collection.fields },
      };
    }
    if (documents === undefined && method === "DELETE") {
      collections.delete(collection.name);
      return { status: 200, body: { name: collection.name } };
    }
    if (documents === "documents" && second === undefined && method === "DELETE") {
      const filter = url.searchParams.get("filter_by") ?? "";
      if (filter === "") return { status: 400, body: { message: "Parameter `filter_by` must be provided." } };
      let gone: FakeDocument[];
      try {
        gone = [...collection.documents.values()].filter((each) => matchesFilter(each, filter, types(collection)));
      } catch (error) {
        return { status: 400, body: { message: String(error) } };
      }
      for (const { id } of gone) collection.documents.delete(id);
      return { status: 200, body: { num_deleted: gone.length } };
    }
    if (documents === "documents" && second === "import" && method === "POST") {
      return { status: 200, body: importLines(collection, url.searchParams.get("action") ?? "create", body) };
    }
    if (documents === "documents" && second !== undefined && method === "DELETE") {
      const document = collection.documents.get(second);
      if (document === undefined) return notFound(`Could not find a document with id: ${second}`);
      collection.documents.delete(second);
      return { status: 200, body: document };
    }
    return notFound("Not Found");
  }

  function create(body: string): Answer {
    const schema = JSON.parse(body) as {
      readonly name: string;
      readonly fields: readonly Field[];
      readonly symbols_to_index?: readonly string[];
    };
    if (collections.has(schema.name)) {
      return { status: 409, body: { message: `A collection with name \`${schema.name}\` already exists.` } };
    }
    collections.set(schema.name, {
      name: schema.name,
      fields: schema.fields,
      symbols: new Set(schema.symbols_to_index),
      documents: new Map(),
    });
    return { status: 201, body: { ...schema, num_documents: 0 } };
  }

  /** A line for each document, whatever became of it. */
  function importLines(collection: Collection, action: string, body: string): string {
    const lines = body.split("\n").filter((line) => line !== "");
    const results = lines.map((line) => {
      const code = [...refused].find(([text]) => line.includes(text))?.[1];
      if (code !== undefined) return { success: false, code, error: "Refused.", document: line };
      let document: FakeDocument;
      try {
        document = JSON.parse(line) as FakeDocument;
      } catch {
        return { success: false, code: 400, error: "Bad JSON.", document: line };
      }
      const error = collection.fields.map((field) => fault(field, document)).find((each) => each !== undefined);
      if (error !== undefined) return { success: false, code: 400, error, document: line };
      if (action === "create" && collection.documents.has(document.id)) {
        return {
          success: false,
          code: 409,
          error: `A document with id ${document.id} already exists.`,
          document: line,
        };
      }
      collection.documents.set(document.id, document);
      return { success: true };
    });
    return results.map((result) => JSON.stringify(result)).join("\n");
  }

  function multiSearch(body: string): Answer {
    const { searches } = JSON.parse(body) as { readonly searches: readonly Record<string, string | number>[] };
    if (searches.length > searchesMax) {
      return { status: 400, body: { message: `Number of multi searches exceeds \`limit_multi_searches\`` } };
    }
    return { status: 200, body: { results: searches.map(searchOne) } };
  }

  function searchOne(search: Readonly<Record<string, string | number | undefined>>): object {
    const collection = resolve(String(search["collection"]));
    if (collection === undefined) return { code: 404, error: "Not found." };
    const perPage = Number(search["per_page"] ?? 10);
    if (perPage > perPageMax) return { code: 422, error: `Only upto ${perPageMax} hits can be fetched per page.` };
    for (const [name, wanted] of [
      ["prefix", "false"],
      ["drop_tokens_threshold", "0"],
    ] as const) {
      // What these loosen is not imitated here.
      if (
        !String(search[name])
          .split(",")
          .every((each) => each === wanted)
      )
        return { code: 501, error: `this fake needs ${name}: ${wanted}` };
    }
    const sort = String(search["sort_by"] ?? "").split(",");
    if (sort.length > 3) return { code: 400, error: "Only upto 3 sort_by fields can be specified." };
    const fields = String(search["query_by"]).split(",");
    const parts = [...String(search["q"]).matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, word]) =>
      tokens(quoted ?? word ?? "", collection.symbols),
    );
    const typos = Number(String(search["num_typos"] ?? "2").split(",")[0]);
    // Two phrases' words are not looked for with typos here.
    const [only = "", ...others] = parts.flat();
    if (typos > 0 && others.length > 0) return { code: 501, error: "this fake looks for one word with typos" };
    const matching = (document: FakeDocument): number =>
      fields.filter((field) => {
        const held = tokensOf(document, field, collection.symbols);
        return typos === 0 ? holds(held, parts) : held.some((word) => isNear(only, word, typos));
      }).length;
    let found: FakeDocument[];
    try {
      found = [...collection.documents.values()].filter(
        (document) =>
          matchesFilter(document, String(search["filter_by"] ?? ""), types(collection)) && matching(document) > 0,
      );
    } catch (error) {
      return { code: 400, error: error instanceof Error ? error.message : "Could not parse the filter query." };
    }
    const sorted = found.toSorted((a, b) => compare(a, b, sort, matching));
    const page = Number(search["page"] ?? 1);
    const include = String(search["include_fields"] ?? "").split(",");
    return {
      found: found.length,
      out_of: collection.documents.size,
      page,
      search_cutoff: behaviour === "cut_off",
      hits: sorted.slice((page - 1) * perPage, page * perPage).map((document) => ({
        document: Object.fromEntries(Object.entries(document).filter(([name]) => include.includes(name))),
        highlight: {},
      })),
    };
  }

  function resolve(name: string): Collection | undefined {
    return collections.get(name) ?? collections.get(aliases.get(name) ?? "");
  }

  return {
    url: `http://127.0.0.1:${port}`,
    apiKey,
    requests,
    mistakes,
    documents: (name) => {
      const collection = resolve(name);
      return collection === undefined ? undefined : [...collection.documents.values()];
    },
    collections: () => [...collections.keys()],
    alias: (name) => aliases.get(name),
    behave(as) {
      behaviour = as;
    },
    changeKey(key) {
      keyTaken = key;
    },
    wipe() {
      collections.clear();
      aliases.clear();
    },
    refuse: (text, code) => void refused.set(text, code),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

const notFound = (message: string): Answer => ({ status: 404, body: { message } });

function types(collection: Collection): ReadonlyMap<string, string> {
  return new Map(collection.fields.map(({ name, type }) => [name, type]));
}

function fault({ name, type, optional }: Field, document: FakeDocument): string | undefined {
  const value = document[name];
  if (value === undefined) {
    return optional === true
      ? undefined
      : `Field \`${name}\` has been declared in the schema, but is not found in the document.`;
  }
  const right =
    type === "int64" || type === "int32"
      ? Number.isSafeInteger(value)
      : type === "string[]"
        ? Array.isArray(value) && value.every((each) => typeof each === "string")
        : typeof value === "string";
  return right ? undefined : `Field \`${name}\` must be ${type}.`;
}

const tokenized = new WeakMap<FakeDocument, Map<string, readonly string[]>>();

function tokensOf(document: FakeDocument, field: string, symbols: ReadonlySet<string>): readonly string[] {
  const known = tokenized.get(document) ?? new Map<string, readonly string[]>();
  tokenized.set(document, known);
  const held = known.get(field) ?? tokens(String(document[field]), symbols);
  known.set(field, held);
  return held;
}

/** Letters and digits of ASCII and the symbols to index are kept; white space separates; all else is dropped. */
function tokens(text: string, symbols: ReadonlySet<string>): string[] {
  return text
    .split(/\s+/)
    .map((word) =>
      [...word.toLowerCase()].filter((character) => /[a-z0-9]/.test(character) || symbols.has(character)).join(""),
    )
    .filter((word) => word !== "");
}

/** So many letters added, left out, wrong or swapped, the first never among them; none in short words. */
function isNear(word: string, other: string, typos: number): boolean {
  if (word === other) return true;
  const most = Math.min(typos, word.length < 4 ? 0 : word.length < 7 ? 1 : 2);
  if (most === 0 || Math.abs(word.length - other.length) > most) return false;
  const table = Array.from({ length: word.length + 1 }, (_, i) =>
    Array.from({ length: other.length + 1 }, (__, j) => (i === 0 ? j : j === 0 ? i : 0)),
  );
  const at = (i: number, j: number): number => table[i]?.[j] ?? Number.POSITIVE_INFINITY;
  for (let i = 1; i <= word.length; i += 1) {
    for (let j = 1; j <= other.length; j += 1) {
      const same = word[i - 1] === other[j - 1];
      const swapped = i > 1 && j > 1 && word[i - 1] === other[j - 2] && word[i - 2] === other[j - 1];
      const slips = [at(i - 1, j) + 1, at(i, j - 1) + 1, at(i - 1, j - 1) + (same ? 0 : 1)];
      const row = table[i];
      if (row !== undefined) row[j] = Math.min(...slips, swapped ? at(i - 2, j - 2) + 1 : Number.POSITIVE_INFINITY);
    }
  }
  return at(word.length, other.length) <= most;
}

/** Every part, and a quoted part as a phrase. */
function holds(text: readonly string[], parts: readonly (readonly string[])[]): boolean {
  if (parts.length === 0) return false;
  if (!parts.every((part) => part.every((word) => text.includes(word)))) return false;
  const places = Map.groupBy(text.keys(), (at) => text[at]);
  return parts.every(
    ([first, ...others]) =>
      places.get(first)?.some((at) => others.every((word, i) => text[at + 1 + i] === word)) === true,
  );
}

function compare(
  a: FakeDocument,
  b: FakeDocument,
  sort: readonly string[],
  matching: (document: FakeDocument) => number,
): number {
  for (const each of sort) {
    const [name = "", order] = each.split(":");
    const value = (document: FakeDocument): number =>
      name === "_text_match" ? matching(document) : Number(document[name]);
    const difference = value(a) - value(b);
    if (difference !== 0) return order === "desc" ? -difference : difference;
  }
  return 0;
}
