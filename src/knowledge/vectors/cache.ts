import { setImmediate as turn } from "node:timers/promises";
import { untilAborted } from "#runtime/abort.ts";
import type { Clock } from "#runtime/clock.ts";
import type { Log } from "#runtime/log.ts";
import type { Store } from "#database/contract.ts";
import type { VectorBlock } from "./thread.ts";
import { createNearest } from "./thread.ts";

export interface Near {
  readonly chunkId: string;
  readonly similarity: number;
}

/** The vectors of workspaces that are asked, held in memory. */
export interface VectorCache {
  /** The passages nearest to this vector, nearest first. */
  nearest(workspaceId: string, vector: Float32Array, limit: number, signal?: AbortSignal): Promise<readonly Near[]>;
  /** Takes in what has changed, so that no question has to wait for it. */
  prepare(workspaceId: string): Promise<void>;
  close(): Promise<void>;
}

/** Passages of a workspace that are compared: beyond it the time for one question would be felt. */
const comparedMax = 50_000;
/** Numbers that are held in memory, over all workspaces. */
const heldMax = 60_000_000;
/** While vectors are being made they change with every batch, and need not be read each time. */
const rereadMs = 5_000;
/** So long a question waits for what has changed. */
const patienceMs = 1_000;
const idsAtOnce = 2_000;
const vectorsAtOnce = 200;
const blockSize = 1_000;

interface Block extends VectorBlock {
  readonly ids: string[];
  count: number;
}

interface CachedVectors {
  readonly dimensions: number;
  stamp: number;
  readAt: number;
  blocks: readonly Block[];
  /** Without a vector, or with one of another length. */
  useless: Set<string>;
}

export function createVectorCache({
  store: { read },
  model,
  clock,
  log,
  hereMax,
}: {
  readonly store: Pick<Store, "read">;
  readonly model: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly hereMax?: number;
}): VectorCache {
  // The one asked last is at the end.
  const held = new Map<string, CachedVectors>();
  const reading = new Map<string, Promise<void>>();
  const comparison = createNearest({ log, ...(hereMax === undefined ? {} : { hereMax }) });

  async function stampOf(workspaceId: string): Promise<number | undefined> {
    const row = await read
      .selectFrom("vector_models")
      .select(["stamp", "model"])
      .where("workspace_id", "=", workspaceId)
      .executeTakeFirst();
    return row?.model === model ? row.stamp : undefined;
  }

  /** One at a time for each workspace; what is read is used as it comes. */
  function catchUp(workspaceId: string, dimensions: number | undefined): Promise<void> {
    const running = reading.get(workspaceId);
    if (running !== undefined) return running;
    const run = readChanges(workspaceId, dimensions).finally(() => reading.delete(workspaceId));
    reading.set(workspaceId, run);
    return run;
  }

  async function readChanges(workspaceId: string, dimensions: number | undefined): Promise<void> {
    const stamp = await stampOf(workspaceId);
    if (stamp === undefined) {
      held.delete(workspaceId);
      return;
    }
    const present = await idsOf(workspaceId);
    let all = held.get(workspaceId);
    if (all !== undefined && dimensions !== undefined && all.dimensions !== dimensions) all = undefined;
    if (all !== undefined) {
      all.blocks = all.blocks.map((block) => without(block, present, all?.dimensions ?? 0));
      all.useless = new Set([...all.useless].filter((id) => present.has(id)));
    }
    const known = new Set([...(all?.blocks ?? []).flatMap(({ ids }) => ids), ...(all?.useless ?? [])]);
    const fresh = [...present].filter((id) => !known.has(id));
    for (let start = 0; start < fresh.length; start += vectorsAtOnce) {
      const rows = await read
        .selectFrom("chunk_vectors")
        .select(["chunk_id", "vector"])
        .where("chunk_id", "in", fresh.slice(start, start + vectorsAtOnce))
        .where("model", "=", model)
        .execute();
      for (const { chunk_id: id, vector } of rows) {
        const length = vector.byteLength / 4;
        all ??= length === 0 ? undefined : empty(dimensions ?? length);
        if (all === undefined) continue;
        if (length === all.dimensions) put(all, id, vector);
        else all.useless.add(id);
      }
      if (all !== undefined) hold(workspaceId, all);
      // A database in this process answers at once, and would let nobody else have a turn.
      await turn();
    }
    if (all === undefined) return;
    all.stamp = stamp;
    all.readAt = clock.now();
    hold(workspaceId, all);
  }

  async function idsOf(workspaceId: string): Promise<ReadonlySet<string>> {
    const ids = new Set<string>();
    for (let after = { digest: "", chunk_id: "" }; ids.size < comparedMax; await turn()) {
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

  function hold(workspaceId: string, all: CachedVectors): void {
    held.delete(workspaceId);
    held.set(workspaceId, all);
    const sizeOf = ({ blocks, dimensions }: CachedVectors): number => blocks.length * blockSize * dimensions;
    let sum = [...held.values()].reduce((size, each) => size + sizeOf(each), 0);
    for (const [id, each] of held) {
      if (sum <= heldMax || id === workspaceId) break;
      held.delete(id);
      sum -= sizeOf(each);
    }
  }

  return {
    async nearest(workspaceId, vector, limit, signal) {
      const stamp = await stampOf(workspaceId);
      if (stamp === undefined) return [];
      const known = held.get(workspaceId);
      const usable = known?.dimensions === vector.length ? known : undefined;
      if (usable === undefined || (usable.stamp !== stamp && clock.now() - usable.readAt >= rereadMs)) {
        // What is there answers until the rest is.
        await untilAborted(withinPatience(catchUp(workspaceId, vector.length)), signal);
      }
      const all = held.get(workspaceId);
      if (all === undefined || all.dimensions !== vector.length) return [];
      hold(workspaceId, all);
      const blocks = all.blocks.map(({ ids, numbers, count }) => ({ ids, numbers, count }));
      const hits = await comparison.find(
        { vector, blocks: blocks.map(({ numbers, count }) => ({ numbers, count })), limit },
        signal,
      );
      return hits.flatMap(({ block, at, similarity }) => {
        const chunkId = blocks[block]?.ids[at];
        return chunkId === undefined ? [] : [{ chunkId, similarity }];
      });
    },
    async prepare(workspaceId) {
      const stamp = await stampOf(workspaceId);
      if (stamp !== undefined && held.get(workspaceId)?.stamp !== stamp) await catchUp(workspaceId, undefined);
    },
    close: () => comparison.stop(),
  };

  async function withinPatience(work: Promise<void>): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, patienceMs);
    // It may fail when nobody waits for it any more; the next question tries again.
    work.catch((error: unknown) => log.debug({ err: error }, "vectors: reading failed"));
    try {
      await Promise.race([work, promise]);
    } finally {
      clearTimeout(timer);
    }
  }
}

const empty = (dimensions: number): CachedVectors => ({
  dimensions,
  stamp: -1,
  readAt: Number.NEGATIVE_INFINITY,
  blocks: [],
  useless: new Set(),
});

const newBlock = (dimensions: number): Block => ({
  ids: [],
  numbers: new SharedArrayBuffer(blockSize * dimensions * 4),
  count: 0,
});

function put(all: CachedVectors, id: string, vector: Uint8Array): void {
  const last = all.blocks.at(-1);
  const block = last === undefined || last.count === blockSize ? newBlock(all.dimensions) : last;
  if (block !== last) all.blocks = [...all.blocks, block];
  // Behind what a comparison that runs now looks at.
  new Uint8Array(block.numbers).set(vector, block.count * all.dimensions * 4);
  block.ids.push(id);
  block.count += 1;
}

/** The block without what is gone: another one, since the old one may be looked at now. */
function without(block: Block, present: ReadonlySet<string>, dimensions: number): Block {
  if (block.ids.every((id) => present.has(id))) return block;
  const made = newBlock(dimensions);
  const [from, to] = [new Float32Array(block.numbers), new Float32Array(made.numbers)];
  for (const [at, id] of block.ids.entries()) {
    if (!present.has(id)) continue;
    to.set(from.subarray(at * dimensions, (at + 1) * dimensions), made.count * dimensions);
    made.ids.push(id);
    made.count += 1;
  }
  return made;
}
