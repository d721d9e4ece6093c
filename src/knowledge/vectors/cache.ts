import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { untilAborted } from "#runtime/abort.ts";
import type { Clock } from "#runtime/clock.ts";
import type { Log } from "#runtime/log.ts";
import type { Store } from "#database/contract.ts";
import type { ModelRow, WorkspaceEncoder } from "./encoder-state.ts";
import type { VectorBlock } from "./thread.ts";
import { createNearest } from "./thread.ts";

export interface Near {
  readonly chunkId: string;
  readonly similarity: number;
}

/** An in-memory cache of the vectors of recently used workspaces. */
export interface VectorCache {
  /** The passages nearest to this vector, nearest first. */
  nearest(workspaceId: string, vector: Float32Array, limit: number, signal?: AbortSignal): Promise<readonly Near[]>;
  /** Number of passages that had a vector, or are known to get none, when the vectors were read last. */
  embedded(workspaceId: string): number;
  /** Loads the changes, so that no question waits for them. */
  prepare(workspaceId: string): Promise<void>;
  close(): Promise<void>;
}

/** Maximum number of passages compared per workspace. More would slow down each question. */
export const comparedMax = 50_000;
/**
 * Maximum size of a workspace's vectors in numbers of four bytes: some models have vectors of thousands. As many as 50,000
 * passages have with the built-in encoder.
 */
const comparedNumbersMax = 128_000_000;
/** Maximum size of the cache in numbers, over all workspaces. */
const cachedMax = 60_000_000;
/** Minimum time between reads. While passages are being embedded, every batch is a change. */
const rereadMs = 5_000;
/** How long a question waits for changes. */
const patienceMs = 1_000;
const idsAtOnce = 2_000;
const vectorsAtOnce = 200;
const blockSize = 1_000;

interface Block extends VectorBlock {
  readonly ids: string[];
  count: number;
}

interface CachedVectors {
  readonly model: string;
  readonly dimensions: number;
  stamp: number;
  readAt: number;
  /** Passages with a row of this model. */
  embedded: number;
  blocks: readonly Block[];
  /** Passages without a vector, or with one of another length. */
  useless: Set<string>;
}

/** The model that a workspace's vectors are of. */
type VectorModel = Pick<WorkspaceEncoder, "model" | "dimensions">;

export function createVectorCache({
  store: { read },
  encoderIn,
  clock,
  log,
  hereMax,
  numbersMax = comparedNumbersMax,
  vectorsIn = floatsIn,
}: {
  readonly store: Pick<Store, "read">;
  /** Undefined: the workspace's vectors are not usable. */
  readonly encoderIn: (row: ModelRow) => VectorModel | undefined;
  readonly clock: Clock;
  readonly log: Log;
  readonly hereMax?: number;
  readonly numbersMax?: number;
  /** The vectors of a passage, as they are stored. */
  readonly vectorsIn?: (bytes: Uint8Array, dimensions: number) => readonly Float32Array[];
}): VectorCache {
  // Most recently used last.
  const cached = new Map<string, CachedVectors>();
  const refreshes = new Map<string, Promise<void>>();
  /** Workspaces of which only a part is compared, so that each is logged once. */
  const cut = new Set<string>();
  const comparison = createNearest({ log, ...(hereMax === undefined ? {} : { hereMax }) });

  async function stateOf(workspaceId: string): Promise<(VectorModel & { readonly stamp: number }) | undefined> {
    const row = await read
      .selectFrom("vector_models")
      .select(["stamp", "model", "calibration"])
      .where("workspace_id", "=", workspaceId)
      .executeTakeFirst();
    const encoder = row && encoderIn(row);
    return encoder && { ...encoder, stamp: row.stamp };
  }

  /** Runs once at a time per workspace. Vectors are usable as soon as they are read. */
  function catchUp(workspaceId: string, dimensions: number | undefined): Promise<void> {
    const running = refreshes.get(workspaceId);
    if (running !== undefined) return running;
    const run = readChanges(workspaceId, dimensions).finally(() => refreshes.delete(workspaceId));
    refreshes.set(workspaceId, run);
    return run;
  }

  async function readChanges(workspaceId: string, dimensions: number | undefined): Promise<void> {
    const state = await stateOf(workspaceId);
    if (state === undefined) {
      cached.delete(workspaceId);
      return;
    }
    const { model, stamp } = state;
    const present = await idsOf(workspaceId, model);
    let all = cached.get(workspaceId);
    if (all?.model !== model || (dimensions !== undefined && all.dimensions !== dimensions)) all = undefined;
    if (all !== undefined) {
      all.blocks = compact(
        all.blocks.map((block) => without(block, present, all?.dimensions ?? 0)),
        all.dimensions,
      );
      all.useless = new Set([...all.useless].filter((id) => present.has(id)));
    }
    const known = new Set([...(all?.blocks ?? []).flatMap(({ ids }) => ids), ...(all?.useless ?? [])]);
    const fresh = [...present].filter((id) => !known.has(id));
    for (let start = 0; start < fresh.length; start += vectorsAtOnce) {
      if (all !== undefined && sizeOf(all) >= numbersMax) {
        if (!cut.has(workspaceId)) log.warn({ workspaceId }, "vectors: too many for the memory, comparing a part");
        cut.add(workspaceId);
        break;
      }
      const rows = await read
        .selectFrom("chunk_vectors")
        .select(["chunk_id", "vector"])
        .where("chunk_id", "in", fresh.slice(start, start + vectorsAtOnce))
        .where("model", "=", model)
        .execute();
      for (const { chunk_id: id, vector } of rows) {
        const parts = vectorsIn(vector, state.dimensions);
        all ??= parts[0] === undefined ? undefined : empty(model, dimensions ?? parts[0].length);
        if (all === undefined) continue;
        const usable = parts.filter((part) => part.length === all?.dimensions);
        put(all, id, usable);
        if (usable.length === 0) all.useless.add(id);
      }
      if (all !== undefined) keep(workspaceId, all);
      // SQLite answers synchronously, and would block the event loop.
      await yieldToEventLoop();
    }
    if (all === undefined) return;
    all.stamp = stamp;
    all.embedded = present.size;
    all.readAt = clock.now();
    keep(workspaceId, all);
  }

  async function idsOf(workspaceId: string, model: string): Promise<ReadonlySet<string>> {
    const ids = new Set<string>();
    for (let after = { digest: "", chunk_id: "" }; ids.size < comparedMax; await yieldToEventLoop()) {
      const page = await read
        .selectFrom("chunk_vectors")
        .select(["digest", "chunk_id"])
        .where("workspace_id", "=", workspaceId)
        .where("model", "=", model)
        .where("digest", ">=", after.digest)
        .where((eb) => eb.or([eb("digest", ">", after.digest), eb("chunk_id", ">", after.chunk_id)]))
        .orderBy("digest")
        .orderBy("chunk_id")
        .limit(Math.min(idsAtOnce, comparedMax - ids.size))
        .execute();
      for (const { chunk_id: id } of page) ids.add(id);
      const last = page.at(-1);
      if (last === undefined || page.length < idsAtOnce) break;
      after = last;
    }
    return ids;
  }

  function keep(workspaceId: string, all: CachedVectors): void {
    cached.delete(workspaceId);
    cached.set(workspaceId, all);
    let sum = [...cached.values()].reduce((size, each) => size + sizeOf(each), 0);
    for (const [id, each] of cached) {
      if (sum <= cachedMax || id === workspaceId) break;
      cached.delete(id);
      sum -= sizeOf(each);
    }
  }

  return {
    async nearest(workspaceId, vector, limit, signal) {
      const state = await stateOf(workspaceId);
      if (state === undefined) return [];
      const isUsable = (each: CachedVectors | undefined): each is CachedVectors =>
        each?.model === state.model && each.dimensions === vector.length;
      const known = cached.get(workspaceId);
      if (!isUsable(known) || (known.stamp !== state.stamp && clock.now() - known.readAt >= rereadMs)) {
        // After that time the cached vectors must do.
        await untilAborted(withinPatience(catchUp(workspaceId, vector.length)), signal);
      }
      const all = cached.get(workspaceId);
      if (!isUsable(all)) return [];
      keep(workspaceId, all);
      const { blocks } = all;
      const compared = blocks.map(({ numbers, firsts, count }) => ({ numbers, firsts, count }));
      const hits = await comparison.find({ vector, blocks: compared, limit }, signal);
      return hits.flatMap(({ block, at, similarity }) => {
        const chunkId = blocks[block]?.ids[at];
        return chunkId === undefined ? [] : [{ chunkId, similarity }];
      });
    },
    embedded: (workspaceId) => cached.get(workspaceId)?.embedded ?? 0,
    async prepare(workspaceId) {
      const state = await stateOf(workspaceId);
      const known = cached.get(workspaceId);
      if (state !== undefined && (known?.stamp !== state.stamp || known.model !== state.model))
        await catchUp(workspaceId, undefined);
    },
    close: () => comparison.stop(),
  };

  async function withinPatience(work: Promise<void>): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, patienceMs);
    // It may fail after the caller has given up. The next question tries again.
    work.catch((error: unknown) => log.debug({ err: error }, "vectors: reading failed"));
    try {
      await Promise.race([work, promise]);
    } finally {
      clearTimeout(timer);
    }
  }
}

/** One vector of four-byte numbers; none for an empty value. The copy is aligned, which the stored bytes need not be. */
const floatsIn = (bytes: Uint8Array): readonly Float32Array[] =>
  bytes.byteLength < 4 ? [] : [new Float32Array(Uint8Array.from(bytes).buffer, 0, Math.floor(bytes.byteLength / 4))];

const sizeOf = ({ blocks, dimensions }: CachedVectors): number => blocks.length * blockSize * dimensions;

const empty = (model: string, dimensions: number): CachedVectors => ({
  model,
  dimensions,
  stamp: -1,
  readAt: Number.NEGATIVE_INFINITY,
  embedded: 0,
  blocks: [],
  useless: new Set(),
});

const newBlock = (dimensions: number): Block => ({
  ids: [],
  numbers: new SharedArrayBuffer(blockSize * dimensions * 4),
  firsts: new SharedArrayBuffer(blockSize),
  count: 0,
});

/** Adds the vectors of a passage, which must be in one block. */
function put(all: CachedVectors, id: string, vectors: readonly Float32Array[]): void {
  const last = all.blocks.at(-1);
  const block = last === undefined || last.count + vectors.length > blockSize ? newBlock(all.dimensions) : last;
  if (block !== last) all.blocks = [...all.blocks, block];
  const numbers = new Float32Array(block.numbers);
  const firsts = new Uint8Array(block.firsts);
  for (const [part, vector] of vectors.entries()) {
    // Appended after the count that a running comparison reads.
    numbers.set(vector, (block.count + part) * all.dimensions);
    firsts[block.count + part] = part === 0 ? 1 : 0;
    block.ids.push(id);
  }
  block.count += vectors.length;
}

/** Joins blocks that deletions have half emptied: new vectors are only added to the last one. */
function compact(blocks: readonly Block[], dimensions: number): readonly Block[] {
  const used = blocks.filter(({ count }) => count > 0);
  const joined: Block[] = [];
  for (const block of used) {
    const last = joined.at(-1);
    if (last === undefined || last.count + block.count > blockSize) {
      joined.push(block);
      continue;
    }
    // A copy: a comparison may be reading the blocks.
    const made = newBlock(dimensions);
    const [numbers, firsts] = [new Float32Array(made.numbers), new Uint8Array(made.firsts)];
    for (const each of [last, block]) {
      numbers.set(new Float32Array(each.numbers).subarray(0, each.count * dimensions), made.count * dimensions);
      firsts.set(new Uint8Array(each.firsts).subarray(0, each.count), made.count);
      made.ids.push(...each.ids);
      made.count += each.count;
    }
    joined[joined.length - 1] = made;
  }
  return joined;
}

/** A copy of the block without deleted passages. The old block must not change: a comparison may be reading it. */
function without(block: Block, present: ReadonlySet<string>, dimensions: number): Block {
  if (block.ids.every((id) => present.has(id))) return block;
  const made = newBlock(dimensions);
  const [from, to] = [new Float32Array(block.numbers), new Float32Array(made.numbers)];
  const [fromFirsts, toFirsts] = [new Uint8Array(block.firsts), new Uint8Array(made.firsts)];
  for (const [at, id] of block.ids.entries()) {
    if (!present.has(id)) continue;
    to.set(from.subarray(at * dimensions, (at + 1) * dimensions), made.count * dimensions);
    toFirsts[made.count] = fromFirsts[at] ?? 0;
    made.ids.push(id);
    made.count += 1;
  }
  return made;
}
