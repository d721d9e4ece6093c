import { createHash } from "node:crypto";
import type { ConversationFilter, ListPosition, Log } from "#engine/ports.ts";
import type { Phrase } from "./conversation-search-words.ts";
import type { Typesense } from "./typesense-client.ts";
import { TypesenseAway, reasonOf } from "./typesense-client.ts";

// One collection a workspace, one document a conversation. The text is the same tokens as in the databases' own
// indexes: lower-case ASCII, digits and `_`, so that what a word is does not depend on the server's tokenizer. Values
// that are filtered by are letters and digits only: Typesense compares them without signs, and has no complete way to
// quote them.

/** To be raised with every change of the schema or of what a document holds: collections are then built anew. */
export const schemaVersion = 1;

export interface ConversationDocument {
  readonly id: string;
  readonly body: string;
  readonly started_at: number;
  readonly tie_a: number;
  readonly tie_b: number;
  readonly channel: string;
  readonly status: string;
  readonly sla_state: string;
  readonly tags: readonly string[];
  readonly email: string;
}

export interface Hit extends ListPosition {
  readonly id: string;
  readonly startedAt: number;
}

const alphabet = "0123456789abcdefghjkmnpqrstvwxyz";

/**
 * The list's order among conversations that start in the same millisecond: the first 100 of an id's 130 bits, as two
 * numbers that JavaScript and Typesense both hold exactly. It sorts by numbers, three at most.
 */
function ties(id: string): { readonly a: number; readonly b: number } {
  const characters = id.slice(id.indexOf("_") + 1);
  const part = (from: number): number => {
    let value = 0;
    for (let at = from; at < from + 10; at += 1) {
      value = value * 32 + Math.max(0, alphabet.indexOf(characters.charAt(at) || "0"));
    }
    return value;
  };
  return { a: part(0), b: part(10) };
}

/** A value that is filtered by, whatever it holds. */
const digest = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 16);
const letters = (value: string): string => value.replaceAll("_", "");

export interface DocumentSource {
  readonly id: string;
  readonly startedAt: number;
  readonly channel: string;
  readonly status: string;
  readonly slaState: string;
  readonly emailKey: string | null;
  readonly tags: readonly string[];
  readonly text: string;
}

export function documentFor(source: DocumentSource): ConversationDocument {
  const { a, b } = ties(source.id);
  return {
    id: source.id,
    body: source.text.trim(),
    started_at: source.startedAt,
    tie_a: a,
    tie_b: b,
    channel: letters(source.channel),
    status: letters(source.status),
    sla_state: letters(source.slaState),
    tags: source.tags.map(digest),
    email: source.emailKey === null ? "none" : digest(source.emailKey),
  };
}

function schema(name: string): object {
  return {
    name,
    // Begins the tokens of words that are not ASCII, and stands between two messages.
    symbols_to_index: ["_"],
    fields: [
      { name: "body", type: "string" },
      { name: "started_at", type: "int64", range_index: true },
      { name: "tie_a", type: "int64" },
      { name: "tie_b", type: "int64" },
      { name: "channel", type: "string", facet: true },
      { name: "status", type: "string", facet: true },
      { name: "sla_state", type: "string", facet: true },
      { name: "tags", type: "string[]", facet: true },
      { name: "email", type: "string" },
    ],
  };
}

/** Thrown when the collection is not there: somebody deleted it, or the server is another one. */
export class CollectionGone extends Error {
  constructor(name: string) {
    super(`Typesense has no collection ${name}`);
    this.name = "CollectionGone";
  }
}

const importTimeoutMs = 30_000;
const importCharactersMax = 2_000_000;

export async function createCollection(typesense: Typesense, name: string): Promise<void> {
  const { status, text } = await typesense.request("POST", "/collections", { body: schema(name) });
  // There already: from a try before this one.
  if (status !== 201 && status !== 200 && status !== 409) throw refusal("make a collection", status, text);
}

export async function dropCollection(typesense: Typesense, name: string): Promise<void> {
  const { status, text } = await typesense.request("DELETE", `/collections/${name}`, { timeoutMs: importTimeoutMs });
  if (status !== 200 && status !== 404) throw refusal("delete a collection", status, text);
}

export async function pointAlias(typesense: Typesense, alias: string, collection: string): Promise<void> {
  const { status, text } = await typesense.request("PUT", `/aliases/${alias}`, {
    body: { collection_name: collection },
  });
  if (status !== 200) throw refusal("set an alias", status, text);
}

/** Writes documents, each in place of the one with its id. One that the server will never take is logged and left out. */
export async function importDocuments(
  typesense: Typesense,
  collection: string,
  documents: readonly ConversationDocument[],
  log: Log,
): Promise<void> {
  let lines: string[] = [];
  let characters = 0;
  const send = async (): Promise<void> => {
    if (lines.length === 0) return;
    const sent = lines;
    lines = [];
    characters = 0;
    const { status, text } = await typesense.request(
      "POST",
      `/collections/${collection}/documents/import?action=upsert`,
      {
        body: sent.join("\n"),
        timeoutMs: importTimeoutMs,
      },
    );
    if (status === 404) throw new CollectionGone(collection);
    if (status !== 200) throw refusal("take documents", status, text);
    checkImport(text, sent.length, log);
  };
  for (const document of documents) {
    const line = JSON.stringify(document);
    lines.push(line);
    characters += line.length;
    if (characters >= importCharactersMax) await send();
  }
  await send();
}

/** The answer is 200 whatever became of the documents; a line each tells. */
function checkImport(text: string, count: number, log: Log): void {
  const results = text.split("\n").filter((line) => line !== "");
  if (results.length !== count) throw new TypesenseAway("it answered to an import with too few lines");
  for (const line of results) {
    let result: { readonly success?: unknown; readonly code?: unknown; readonly error?: unknown };
    try {
      result = JSON.parse(line) as typeof result;
    } catch (error) {
      throw new TypesenseAway("its answer to an import was cut off", { cause: error });
    }
    if (result.success === true) continue;
    const code = typeof result.code === "number" ? result.code : 0;
    // Out of memory or disk, or behind its leader: it may take them later.
    if (code === 0 || code >= 500 || code === 422) throw new TypesenseAway(`it refused a document with ${code}`);
    log.error(
      { code, error: String(result.error).slice(0, 200) },
      "Typesense does not take a conversation: q misses it",
    );
  }
}

export async function deleteDocument(typesense: Typesense, collection: string, id: string): Promise<void> {
  const path = `/collections/${collection}/documents/${encodeURIComponent(id)}`;
  const { status, text } = await typesense.request("DELETE", path);
  if (status !== 200 && status !== 404) throw refusal("delete a document", status, text);
}

export const perPageMax = 250;

/** The conversations after `before`, in the list's order, that the server says hold what is searched. */
export async function searchPage(
  typesense: Typesense,
  collection: string,
  filter: ConversationFilter,
  phrases: readonly Phrase[],
  before: ListPosition | undefined,
  limit: number,
): Promise<readonly Hit[]> {
  const conditions = filterBy(filter, before);
  const search = {
    collection,
    q: phrases.map((phrase) => (phrase.length === 1 ? (phrase[0] ?? "") : `"${phrase.join(" ")}"`)).join(" "),
    query_by: "body",
    // Every word as it is, or nothing.
    prefix: "false",
    num_typos: "0",
    typo_tokens_threshold: 0,
    drop_tokens_threshold: 0,
    split_join_tokens: "off",
    enable_synonyms: false,
    enable_overrides: false,
    sort_by: "started_at:desc,tie_a:desc,tie_b:desc",
    ...(conditions === "" ? {} : { filter_by: conditions }),
    page: 1,
    per_page: limit,
    include_fields: "id,started_at",
    highlight_fields: "none",
    highlight_full_fields: "none",
    search_cutoff_ms: 2_500,
  };
  const { status, text } = await typesense.request("POST", "/multi_search", { body: { searches: [search] } });
  if (status !== 200) throw refusal("search", status, text);
  const [result] = (parse(text) as MultiSearch).results ?? [];
  // The whole answer is 200 though its only search failed.
  if (result?.code === 404) throw new CollectionGone(collection);
  if (result?.code !== undefined && result.code >= 500) throw new TypesenseAway(`a search ended with ${result.code}`);
  if (result?.hits === undefined) throw new Error(`Typesense refused a search: ${String(result?.error).slice(0, 200)}`);
  if (result.search_cutoff === true) throw new SearchCutOff();
  return result.hits.map(({ document }) => ({ id: document.id, startedAt: document.started_at }));
}

/** The server ended the search in the middle: what it gave is not all. */
export class SearchCutOff extends Error {
  constructor() {
    super("Typesense ended a search that took too long");
    this.name = "SearchCutOff";
  }
}

interface MultiSearch {
  readonly results?: readonly {
    readonly code?: number;
    readonly error?: string;
    readonly search_cutoff?: boolean;
    readonly hits?: readonly { readonly document: { readonly id: string; readonly started_at: number } }[];
  }[];
}

/** Every operand has parentheses of its own: `&&` and `||` bind alike. */
function filterBy(filter: ConversationFilter, before: ListPosition | undefined): string {
  const conditions = [
    ...(filter.channel === undefined ? [] : [`channel:=${letters(filter.channel)}`]),
    ...(filter.status === undefined ? [] : [`status:=${letters(filter.status)}`]),
    ...(filter.slaState === undefined ? [] : [`sla_state:=${letters(filter.slaState)}`]),
    ...(filter.tags ?? []).map((tag) => `tags:=${digest(tag)}`),
    ...(filter.email === undefined ? [] : [`email:=${digest(filter.email.toLowerCase())}`]),
    ...(filter.since === undefined || filter.since < 0 ? [] : [`started_at:>${Math.floor(filter.since)}`]),
    ...(filter.until === undefined || filter.until > 1e15 ? [] : [`started_at:<${Math.ceil(filter.until)}`]),
  ];
  if (before !== undefined) {
    const { a, b } = ties(before.id);
    const tied = `(tie_a:<${a}) || ((tie_a:=${a}) && (tie_b:<=${b}))`;
    conditions.push(`(started_at:<${before.startedAt}) || ((started_at:=${before.startedAt}) && (${tied}))`);
  }
  return conditions.map((condition) => `(${condition})`).join(" && ");
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new TypesenseAway("its answer was cut off", { cause: error });
  }
}

function refusal(what: string, status: number, text: string): Error {
  const mend = status === 401 || status === 403 ? ": check TYPESENSE_API_KEY" : "";
  // Nothing was wrong with the work itself, so it waits until the operator has mended it.
  return new TypesenseAway(`Typesense refused to ${what} with ${status}${reasonOf(text)}${mend}`);
}

/** The state of all things that the program depends on is asked for in one, which must not be late for this one. */
const troubleMsMax = 1_000;

/** What the server says of itself: why it cannot do its work now, or null. */
export async function typesenseTrouble(typesense: Typesense): Promise<string | null> {
  const signal = AbortSignal.timeout(troubleMsMax);
  try {
    const { status, text } = await typesense.request("GET", "/health", { signal });
    const { ok, resource_error } = parse(text) as { readonly ok?: unknown; readonly resource_error?: unknown };
    if (typeof resource_error === "string") return `Typesense reports ${resource_error.slice(0, 100)}`;
    if (status !== 200 || ok !== true) return `Typesense says that it is not ready (${status})`;
    // Anybody may ask for its health; the key has to be right too.
    const aliases = await typesense.request("GET", "/aliases", { signal });
    return aliases.status === 200 ? null : refusal("list aliases", aliases.status, aliases.text).message;
  } catch (error) {
    if (signal.aborted) return `Typesense does not answer within ${troubleMsMax} ms`;
    return error instanceof Error ? error.message : "unknown failure";
  }
}

/** The server's version, or that it does not tell: that takes more rights than the work does. */
export async function typesenseVersion(typesense: Typesense): Promise<string> {
  const { status, text } = await typesense.request("GET", "/debug");
  const version = status === 200 ? (parse(text) as { readonly version?: unknown }).version : undefined;
  return typeof version === "string" ? version.slice(0, 40) : "of an unknown version";
}
