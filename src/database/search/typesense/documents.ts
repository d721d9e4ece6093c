import { createHash } from "node:crypto";
import type { ConversationFilter, ListPosition } from "#database/search/contract.ts";
import type { Phrase } from "#database/search/words.ts";
import type { Typesense } from "./client.ts";
import type { CollectionSchema, Mark, Search } from "./collections.ts";
import { markId, multiSearchSince } from "./collections.ts";

// One collection per workspace, one document per conversation. The text has the same tokens as the databases' own indexes:
// lower-case ASCII, digits and `_`, so that the server's tokenizer does not decide what a word is. Filter values are
// letters and digits only, since Typesense ignores other characters and cannot quote all of them.

/** Raised with every change of the schema or of the documents; collections are then rebuilt. */
export const schemaVersion = 2;

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
 * The order of conversations that start in the same millisecond: the first 100 of an id's 130 bits, as two numbers that
 * JavaScript and Typesense represent exactly. Typesense sorts by at most three numbers.
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

/** Makes a filter value of any text. */
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

/** The mark has no words, so that no search finds it. */
export function markDocument(written: number): ConversationDocument {
  const nothing = { body: "", channel: "", status: "", sla_state: "", tags: [], email: "" };
  return { id: markId, ...nothing, started_at: 0, tie_a: written, tie_b: 0 };
}

/** Requires that the collection has all writes up to this one. */
export const markOf = (collection: string, written: number): Mark => ({
  collection,
  field: "tie_a",
  query: "body",
  atLeast: written,
});

export function conversationSchema(name: string): CollectionSchema {
  return {
    name,
    // `_` begins the tokens of words that are not ASCII, and separates messages.
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

export const perPageMax = 250;

/** The server's matches after `before`, in the order of the list. */
export async function searchPage(
  typesense: Typesense,
  mark: Mark,
  filter: ConversationFilter,
  phrases: readonly Phrase[],
  before: ListPosition | undefined,
  limit: number,
): Promise<readonly Hit[]> {
  const conditions = filterBy(filter, before);
  const search: Search = {
    collection: mark.collection,
    q: phrases.map((phrase) => (phrase.length === 1 ? (phrase[0] ?? "") : `"${phrase.join(" ")}"`)).join(" "),
    query_by: "body",
    // Exact words only.
    prefix: "false",
    num_typos: "0",
    typo_tokens_threshold: 0,
    drop_tokens_threshold: 0,
    split_join_tokens: "off",
    enable_synonyms: false,
    sort_by: "started_at:desc,tie_a:desc,tie_b:desc",
    ...(conditions === "" ? {} : { filter_by: conditions }),
    page: 1,
    per_page: limit,
    include_fields: "id,started_at",
    highlight_fields: "none",
    highlight_full_fields: "none",
    search_cutoff_ms: 2_500,
  };
  const [result] = await multiSearchSince<{ readonly id: string; readonly started_at: number }>(typesense, mark, [
    search,
  ]);
  return (result?.hits ?? []).map(({ id, started_at: startedAt }) => ({ id, startedAt }));
}

/** Every operand is in parentheses, since `&&` and `||` have equal precedence. */
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
