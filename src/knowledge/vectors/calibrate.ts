import type { Reader } from "#database/contract.ts";
import type { Embedder } from "#models/embedding.ts";
import { ModelAway } from "#models/model-away.ts";
import type { EncoderState } from "./encoder-state.ts";
import type { PrefixName } from "./prefixes.ts";
import { prefixesOf, prefixNames } from "./prefixes.ts";
import type { Pair, Pairs, SampledPassage, Similarities } from "./separation.ts";
import { isBetter, pairsOf, separationOf, spreadOf } from "./separation.ts";
import { similarityOfParts } from "./thread.ts";

/** Passages that are compared. More would hardly change the result. */
const sampleMax = 100;
/** Passages of which the sample is chosen. */
const choiceMax = 10_000;
/** Fewer pairs of a kind say nothing reliable. */
const pairsMin = 30;
/** Fewer passages cannot have so many. */
const passagesMin = pairsMin / 2;
const textsAtOnce = 64;

/** Returns an empty vector for a text that the model refuses. */
export type EmbedAll = (texts: readonly string[], signal: AbortSignal) => Promise<readonly Float32Array[]>;

interface CalibrationRequest {
  readonly server: NonNullable<Embedder["server"]>;
  readonly workspaceId: string;
  /** The workspace's passages. */
  readonly passages: number;
  /** The previous calibration, with the same server. */
  readonly before: EncoderState | undefined;
  readonly now: number;
  readonly signal: AbortSignal;
}

/** Whether the encoder is new, or the documents changed much since it was calibrated. */
export function isDue(before: EncoderState | undefined, passages: number): boolean {
  if (before === undefined) return true;
  const isLarger = passages >= 2 * before.passages || before.passages < passagesMin;
  return (isLarger && passages >= passagesMin) || (before.measured !== undefined && 2 * passages <= before.passages);
}

/**
 * Finds out how the server's encoder is used on a workspace's documents: its dimension, the prefixes by which it
 * separates best, and the spread of its similarities. Calls the server, so it must not run in a transaction.
 */
export async function calibrate(read: Reader, embedAll: EmbedAll, request: CalibrationRequest): Promise<EncoderState> {
  const { server, workspaceId, passages, before, now, signal } = request;
  const pairs = pairsOf(await sampleOf(read, workspaceId));
  const allowed: readonly PrefixName[] = server.prefixes === "auto" ? prefixNames : [server.prefixes];
  // Other prefixes need new vectors for all passages, so those in use are kept where others are not clearly better.
  const [first = "none", ...others] = [...allowed].toSorted(
    (left, right) => Number(right === before?.prefixes) - Number(left === before?.prefixes),
  );
  const isEnough = pairs.related.length >= pairsMin && pairs.unrelated.length >= pairsMin;
  const measure = (name: PrefixName): Promise<Measured> => measured(isEnough ? pairs : noPairs, name, embedAll, signal);
  let best = await measure(first);
  const rest = isEnough ? others : [];
  for (const name of rest) {
    const other = await measure(name);
    if (isBetter(best, other)) best = other;
  }
  return {
    server: server.key,
    prefixes: best.prefixes,
    dimensions: best.dimensions,
    passages,
    at: now,
    ...(best.related.length < pairsMin || best.unrelated.length < pairsMin
      ? {}
      : { measured: { separation: separationOf(best), ...spreadOf(best) } }),
  };
}

interface Measured extends Similarities {
  readonly prefixes: PrefixName;
  readonly dimensions: number;
}

const noPairs: Pairs = { related: [], unrelated: [] };
/** Embedded where there is nothing else, for the dimension. */
const anyText = "How long does the delivery take?";

async function measured(
  pairs: Pairs,
  prefixes: PrefixName,
  embedAll: EmbedAll,
  signal: AbortSignal,
): Promise<Measured> {
  const { question, passage } = prefixesOf[prefixes];
  const all = [...pairs.related, ...pairs.unrelated];
  const texts = [
    ...new Set(all.flatMap((pair) => [question + pair.question, ...pair.parts.map((part) => passage + part)])),
  ];
  if (texts.length === 0) texts.push(anyText);
  const vectors = new Map<string, Float32Array>();
  for (let start = 0; start < texts.length; start += textsAtOnce) {
    signal.throwIfAborted();
    const some = texts.slice(start, start + textsAtOnce);
    for (const [at, vector] of (await embedAll(some, signal)).entries()) {
      if (vector.length > 0) vectors.set(some[at] ?? "", vector);
    }
  }
  const similarities = (of: readonly Pair[]): number[] =>
    of.flatMap((pair) => {
      const asked = vectors.get(question + pair.question);
      const parts = pair.parts.flatMap((part) => vectors.get(passage + part) ?? []);
      return asked === undefined || parts.length === 0 ? [] : [similarityOfParts(asked, parts)];
    });
  const dimensions = vectors.values().next().value?.length;
  // A server that refuses everything has not loaded the model, or does not know it. A later try may find it.
  if (dimensions === undefined) throw new ModelAway("the embedding server refuses every text");
  return { prefixes, dimensions, related: similarities(pairs.related), unrelated: similarities(pairs.unrelated) };
}

/** Passages from all over the workspace. The same ones for the same documents. */
async function sampleOf(read: Reader, workspaceId: string): Promise<readonly SampledPassage[]> {
  const all = await read
    .selectFrom("chunks")
    .innerJoin("documents", "documents.id", "chunks.document_id")
    .select("chunks.id")
    .where("chunks.workspace_id", "=", workspaceId)
    .whereRef("chunks.version", "=", "documents.indexed_version")
    .orderBy("chunks.id")
    .limit(choiceMax)
    .execute();
  if (all.length === 0) return [];
  const size = Math.min(sampleMax, all.length);
  const ids = Array.from({ length: size }, (_, at) => all[Math.floor((at * all.length) / size)]?.id ?? "");
  const rows = await read
    .selectFrom("chunks")
    .select(["document_id", "title", "text"])
    .where("id", "in", ids)
    .orderBy("id")
    .execute();
  return rows.map(({ document_id: documentId, title, text }) => ({ documentId, title, text }));
}
