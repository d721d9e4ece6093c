import { once } from "node:events";
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { readFilter } from "./filter.ts";
import type { FakeCollection, FakeDocument, FakeField, FakeSchema } from "./collection.ts";
import { createFakeCollection } from "./collection.ts";
import type { FakeSearch } from "./search.ts";
import { searchCollection } from "./search.ts";

/**
 * Implements the parts of Typesense's API that are used, over real HTTP: collections, aliases, import, deletion and
 * multi_search, by its OpenAPI description and its documentation. It does not depend on the program.
 */
export interface FakeTypesense {
  readonly url: string;
  readonly apiKey: string;
  close(): Promise<void>;
}

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

const searchesMax = 50;

export async function startFakeTypesense(): Promise<FakeTypesense> {
  const apiKey = "a key for tests";
  const collections = new Map<string, FakeCollection>();
  const aliases = new Map<string, string>();

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
    const { status, body } = reply(request, url, Buffer.concat(chunks).toString("utf8"));
    response.writeHead(status, { "content-type": "application/json; charset=utf-8" });
    response.end(typeof body === "string" ? body : JSON.stringify(body));
  }

  function reply(request: IncomingMessage, url: URL, body: string): Answer {
    const path = url.pathname.split("/").slice(1).map(decodeURIComponent);
    const route = `${request.method} ${path[0] ?? ""}`;
    if (route === "GET health") return { status: 200, body: { ok: true } };
    if (request.headers["x-typesense-api-key"] !== apiKey) {
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
      if (collections.has(name))
        return { status: 500, body: { message: `Name \`${name}\` conflicts with an existing collection name.` } };
      aliases.set(name, collection_name);
    }
    if (method === "DELETE") {
      const collection_name = aliases.get(name);
      aliases.delete(name);
      return collection_name === undefined
        ? notFound("Collection not found")
        : { status: 200, body: { name, collection_name } };
    }
    const target = aliases.get(name);
    return target === undefined ? notFound("Not Found") : { status: 200, body: { name, collection_name: target } };
  }

  function collectionReply(method: string, [name, ...rest]: readonly string[], url: URL, body: string): Answer {
    if (method === "POST" && name === undefined) return create(body);
    if (name === undefined) {
      const all = [...collections.values()].map((each) => ({ name: each.name, num_documents: each.documents.size }));
      return { status: 200, body: all };
    }
    const collection = resolve(name);
    if (collection === undefined) return notFound("Collection not found");
    const [documents, second] = rest;
    if (documents === undefined && method === "GET") {
      return {
        status: 200,
        body: {
          name: collection.name,
          num_documents: collection.documents.size,
          fields: collection.fields,
          symbols_to_index: collection.symbols,
        },
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
        const fits = readFilter(filter, collection.types);
        gone = [...collection.documents.values()].filter(fits);
      } catch (error) {
        return { status: 400, body: { message: String(error) } };
      }
      for (const { id } of gone) collection.remove(id);
      return { status: 200, body: { num_deleted: gone.length } };
    }
    if (documents === "documents" && second === "export" && method === "GET") {
      return { status: 200, body: [...collection.documents.values()].map((each) => JSON.stringify(each)).join("\n") };
    }
    if (documents === "documents" && second === "import" && method === "POST") {
      return { status: 200, body: importLines(collection, url.searchParams.get("action") ?? "create", body) };
    }
    if (documents === "documents" && second !== undefined && method === "DELETE") {
      const document = collection.documents.get(second);
      if (document === undefined) return notFound(`Could not find a document with id: ${second}`);
      collection.remove(second);
      return { status: 200, body: document };
    }
    return notFound("Not Found");
  }

  function create(body: string): Answer {
    const schema = JSON.parse(body) as FakeSchema;
    if (collections.has(schema.name)) {
      return { status: 409, body: { message: `A collection with name \`${schema.name}\` already exists.` } };
    }
    collections.set(schema.name, createFakeCollection(schema));
    return { status: 201, body: { ...schema, num_documents: 0 } };
  }

  /** One result line for each document of the import. */
  function importLines(collection: FakeCollection, action: string, body: string): string {
    const lines = body.split("\n").filter((line) => line !== "");
    const results = lines.map((line) => {
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
      collection.put(document);
      return { success: true };
    });
    return results.map((result) => JSON.stringify(result)).join("\n");
  }

  function multiSearch(body: string): Answer {
    const { searches } = JSON.parse(body) as { readonly searches: readonly FakeSearch[] };
    if (searches.length > searchesMax) {
      return { status: 400, body: { message: `Number of multi searches exceeds \`limit_multi_searches\`` } };
    }
    return { status: 200, body: { results: searches.map(searchOne) } };
  }

  function searchOne(search: FakeSearch): object {
    const collection = resolve(String(search["collection"]));
    if (collection === undefined) return { code: 404, error: "Collection not found" };
    return searchCollection(collection, search);
  }

  function resolve(name: string): FakeCollection | undefined {
    return collections.get(name) ?? collections.get(aliases.get(name) ?? "");
  }

  return {
    url: `http://127.0.0.1:${port}`,
    apiKey,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

const notFound = (message: string): Answer => ({ status: 404, body: { message } });

function fault({ name, type, optional }: FakeField, document: FakeDocument): string | undefined {
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
