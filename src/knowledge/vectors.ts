import { createHash } from "node:crypto";
import type { Clock, Log, Store, Tx } from "#engine/ports.ts";
import type { OutboxRow } from "#store/outbox.ts";
import { finishWork } from "#store/outbox.ts";
import type { Embedder } from "./embedder.ts";
import { TextRefused } from "./embedder.ts";
import { everyWorkspace, queueVectors, vectorKind, vectorLane } from "./knowledge-queue.ts";

// A vector costs money or minutes, so they are kept in the database, where every process finds them, and a passage whose
// text stays as it was keeps its own. They are made in the background; until then a passage is found by its words.

export interface Near {
  readonly chunkId: string;
  readonly similarity: number;
}

export interface Vectors {
  /** The passages nearest to this vector, nearest first. */
  nearest(workspaceId: string, vector: Float32Array, limit: number): Promise<readonly Near[]>;
  /** Does the outbox's work of kind `embed`. */
  work(rows: readonly OutboxRow[], signal: AbortSignal): Promise<void>;
  /** Queues the making of all vectors that are missing. */
  ensure(): Promise<void>;
}

const batchMax = 64;
const batchesMax = 8;
/** More than a passage has; models refuse or cut what is longer. */
const charactersMax = 6_000;
/** Passages of a workspace that are compared: beyond it the time for one question would be felt. */
const comparedMax = 50_000;
/** Numbers that are held in memory, over all workspaces. */
const heldMax = 60_000_000;
/** While vectors are being made they change with every batch, and need not be read each time. */
const rereadMs = 5_000;

interface Held {
  readonly stamp: number;
  readonly readAt: number;
  readonly ids: readonly string[];
  readonly numbers: Float32Array;
  readonly dimensions: number;
}

export function createVectors({
  store,
  embedder,
  clock,
  log,
}: {
  readonly store: Store;
  readonly embedder: Embedder;
  readonly clock: Clock;
  readonly log: Log;
}): Vectors {
  const held = new Map<string, Held>();
  const { model } = embedder;

  async function stampOf(workspaceId: string): Promise<number | undefined> {
    const row = await store.read
      .selectFrom("vector_models")
      .select(["stamp", "model"])
      .where("workspace_id", "=", workspaceId)
      .executeTakeFirst();
    return row?.model === model ? row.stamp : undefined;
  }

  async function heldOf(workspaceId: string, dimensions: number): Promise<Held | undefined> {
    const stamp = await stampOf(workspaceId);
    if (stamp === undefined) return undefined;
    const known = held.get(workspaceId);
    const fresh = known !== undefined && (known.stamp === stamp || clock.now() - known.readAt < rereadMs);
    const current = fresh ? known : await readAll(workspaceId, stamp, dimensions);
    held.delete(workspaceId);
    held.set(workspaceId, current);
    let sum = [...held.values()].reduce((all, each) => all + each.numbers.length, 0);
    for (const [id, each] of held) {
      if (sum <= heldMax || id === workspaceId) break;
      held.delete(id);
      sum -= each.numbers.length;
    }
    return current;
  }

  async function readAll(workspaceId: string, stamp: number, dimensions: number): Promise<Held> {
    const rows = await store.read
      .selectFrom("chunk_vectors")
      .select(["chunk_id", "vector"])
      .where("workspace_id", "=", workspaceId)
      .where("model", "=", model)
      .orderBy("chunk_id")
      .limit(comparedMax)
      .execute();
    const usable = rows.filter(({ vector }) => vector.byteLength === dimensions * 4);
    const numbers = new Float32Array(usable.length * dimensions);
    for (const [at, { vector }] of usable.entries()) {
      const bytes = new Uint8Array(vector);
      numbers.set(new Float32Array(bytes.buffer), at * dimensions);
    }
    return { stamp, readAt: clock.now(), ids: usable.map((row) => row.chunk_id), numbers, dimensions };
  }

  async function nearest(workspaceId: string, vector: Float32Array, limit: number): Promise<readonly Near[]> {
    const all = await heldOf(workspaceId, vector.length);
    if (all === undefined || all.dimensions !== vector.length) return [];
    const found: Near[] = [];
    let least = Number.NEGATIVE_INFINITY;
    for (const [at, chunkId] of all.ids.entries()) {
      const start = at * all.dimensions;
      let similarity = 0;
      for (let i = 0; i < all.dimensions; i += 1) similarity += (vector[i] ?? 0) * (all.numbers[start + i] ?? 0);
      if (found.length >= limit * 2 && similarity <= least) continue;
      found.push({ chunkId, similarity });
      if (found.length >= limit * 4) {
        found.sort((left, right) => right.similarity - left.similarity);
        found.length = limit;
        least = found.at(-1)?.similarity ?? least;
      }
    }
    return found.toSorted((left, right) => right.similarity - left.similarity).slice(0, limit);
  }

  /** False: there are more. */
  async function makeSome(workspaceId: string, signal: AbortSignal): Promise<boolean> {
    const missing = await store.read
      .selectFrom("chunks")
      .innerJoin("documents", "documents.id", "chunks.document_id")
      .leftJoin("chunk_vectors", (join) =>
        join.onRef("chunk_vectors.chunk_id", "=", "chunks.id").on("chunk_vectors.model", "=", model),
      )
      .select(["chunks.id", "chunks.title", "chunks.text"])
      .where("chunks.workspace_id", "=", workspaceId)
      .whereRef("chunks.version", "=", "documents.indexed_version")
      .where("chunk_vectors.chunk_id", "is", null)
      .orderBy("chunks.id")
      .limit(batchMax)
      .execute();
    if (missing.length === 0) return true;
    const wanted = missing.map(({ id, title, text }) => {
      const whole = `${title}\n${text}`.slice(0, charactersMax);
      return { id, text: whole, digest: createHash("sha256").update(`${model}\n${whole}`).digest("base64url") };
    });
    const known = await store.read
      .selectFrom("chunk_vectors")
      .select(["digest", "vector"])
      .where("workspace_id", "=", workspaceId)
      .where(
        "digest",
        "in",
        wanted.map(({ digest }) => digest),
      )
      .execute();
    const vectors = new Map<string, Uint8Array>(known.map(({ digest, vector }) => [digest, vector]));
    const fresh = wanted.filter(({ digest }) => !vectors.has(digest));
    for (const [at, vector] of (
      await embedAll(
        fresh.map(({ text }) => text),
        signal,
      )
    ).entries()) {
      vectors.set(fresh[at]?.digest ?? "", vector);
    }
    await store.write(async (tx) => {
      await tx
        .deleteFrom("chunk_vectors")
        .where(
          "chunk_id",
          "in",
          wanted.map(({ id }) => id),
        )
        .execute();
      await tx
        .insertInto("chunk_vectors")
        .values(
          wanted.map(({ id, digest }) => ({
            chunk_id: id,
            workspace_id: workspaceId,
            model,
            digest,
            vector: vectors.get(digest) ?? new Uint8Array(),
          })),
        )
        .execute();
      await raiseStamp(tx, workspaceId);
    });
    return missing.length < batchMax;
  }

  async function embedAll(texts: readonly string[], signal: AbortSignal): Promise<readonly Uint8Array[]> {
    if (texts.length === 0) return [];
    try {
      return (await embedder.embed(texts, "background", signal)).map(bytesOf);
    } catch (error) {
      if (!(error instanceof TextRefused)) throw error;
      if (texts.length === 1) {
        log.warn({ reason: error.message }, "a passage gets no vector; it is found by its words alone");
        return [new Uint8Array()];
      }
      const half = Math.ceil(texts.length / 2);
      return [...(await embedAll(texts.slice(0, half), signal)), ...(await embedAll(texts.slice(half), signal))];
    }
  }

  /** Of passages that are gone, or of another model. */
  async function removeOld(workspaceId: string): Promise<void> {
    const old = await store.read
      .selectFrom("chunk_vectors")
      .leftJoin("chunks", "chunks.id", "chunk_vectors.chunk_id")
      .select("chunk_vectors.chunk_id")
      .where("chunk_vectors.workspace_id", "=", workspaceId)
      .where((eb) => eb.or([eb("chunks.id", "is", null), eb("chunk_vectors.model", "<>", model)]))
      .limit(5_000)
      .execute();
    for (let start = 0; start < old.length; start += 500) {
      const ids = old.slice(start, start + 500).map((row) => row.chunk_id);
      await store.write(async (tx) => {
        await tx.deleteFrom("chunk_vectors").where("chunk_id", "in", ids).execute();
        await raiseStamp(tx, workspaceId);
      });
    }
  }

  async function note(tx: Tx, workspaceId: string): Promise<void> {
    const row = await tx
      .selectFrom("vector_models")
      .select("model")
      .where("workspace_id", "=", workspaceId)
      .executeTakeFirst();
    if (row?.model === model) return;
    if (row === undefined)
      await tx.insertInto("vector_models").values({ workspace_id: workspaceId, model, stamp: 0 }).execute();
    else await tx.updateTable("vector_models").set({ model }).where("workspace_id", "=", workspaceId).execute();
  }

  return {
    nearest,
    async work(rows, signal) {
      const [first] = rows;
      if (first === undefined) return;
      const workspaceId = first.lane.slice(vectorLane("").length);
      let done = false;
      await store.write((tx) => note(tx, workspaceId));
      for (let batch = 0; batch < batchesMax && !done; batch += 1) {
        signal.throwIfAborted();
        done = await makeSome(workspaceId, signal);
      }
      // Last, since a passage that was written anew takes over the vector of the old one.
      if (done) await removeOld(workspaceId);
      await store.write(async (tx) => {
        await finishWork(tx, rows);
        if (!done) await queueVectors(tx, workspaceId, clock.now());
      });
    },
    async ensure() {
      const workspaces = await store.read
        .selectFrom("workspaces")
        .select("id")
        .where("deleted_at", "is", null)
        .execute();
      await store.write((tx) => note(tx, everyWorkspace));
      for (const { id } of workspaces) await store.write((tx) => queueVectors(tx, id, clock.now()));
    },
  };
}

async function raiseStamp(tx: Tx, workspaceId: string): Promise<void> {
  await tx
    .updateTable("vector_models")
    .set((eb) => ({ stamp: eb("stamp", "+", 1) }))
    .where("workspace_id", "=", workspaceId)
    .execute();
}

const bytesOf = (vector: Float32Array): Uint8Array =>
  new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength);

/** For a start without an embedding server: nobody would remove the vectors of what is removed from now on. */
export async function leaveVectors(store: Store): Promise<void> {
  const left = await store.read.selectFrom("vector_models").select("workspace_id").limit(1).executeTakeFirst();
  if (left === undefined) return;
  await store.write(async (tx) => {
    await tx.deleteFrom("vector_models").execute();
    await tx.deleteFrom("chunk_vectors").execute();
    await tx.deleteFrom("outbox").where("kind", "=", vectorKind).execute();
  });
}
