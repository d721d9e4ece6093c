import { createHash } from "node:crypto";
import type { Clock } from "#runtime/clock.ts";
import type { Log } from "#runtime/log.ts";
import type { Store, Tx } from "#database/contract.ts";
import type { PayloadOf, Work, WorkDeclaration } from "#database/work.ts";
import { declareWork } from "#database/work.ts";
import { finishWork } from "#database/queries/outbox.ts";
import type { Embedder } from "#models/embedding.ts";
import { everyWorkspace, queueVectors, vectorKind, vectorLane } from "#knowledge/index/work.ts";
import { createEmbedAll } from "./embed-all.ts";
import type { EncoderReport } from "./encoder-report.ts";
import { reportOf } from "./encoder-report.ts";
import type { WorkspaceEncoder } from "./encoder-state.ts";
import { readState } from "./encoder-state.ts";
import { createEncoders, modelRow, recordModel } from "./encoders.ts";
import { vectorsFromBytes, vectorsToBytes } from "./packed.ts";
import { partsOf } from "./parts.ts";
import type { VectorCache } from "./cache.ts";
import { createVectorCache } from "./cache.ts";

// Vectors cost money or minutes, so they are stored in the database for all processes, and a passage with unchanged text
// keeps its vector. They are made in the background; until then a passage is found by its words.

export interface Vectors extends VectorCache {
  readonly work: WorkDeclaration;
  /** How the workspace's vectors are made and read. Undefined: they are not used. */
  encoderOf(workspaceId: string): Promise<WorkspaceEncoder | undefined>;
  /** Reads the calibration of a server's encoder; null: none yet, or the encoder is the built-in one. */
  report(workspaceId: string): Promise<EncoderReport | null>;
  /** Queues the embedding of all passages without a vector. */
  ensure(): Promise<void>;
}

/** Passages that are embedded in one step. */
const batchMax = 32;
/** The built-in encoder takes about a third of a second for a passage; its lease must not expire. */
const localBatchMax = 12;
const batchesMax = 8;

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
  const passagesMax = embedder.isLocal === true ? localBatchMax : batchMax;
  const embedAll = createEmbedAll(embedder, log);
  const encoders = createEncoders({ store, embedder, embedAll, clock, log });
  const { encoderIn } = encoders;
  const cache = createVectorCache({ store, encoderIn, clock, log, vectorsIn: vectorsFromBytes });

  /** Embeds passages after this id. Returns the last id; undefined where no passage is left. */
  async function embedBatch(
    workspaceId: string,
    { model, passage, dimensions }: WorkspaceEncoder,
    after: string,
    signal: AbortSignal,
  ): Promise<string | undefined> {
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
      .where("chunks.id", ">", after)
      .orderBy("chunks.id")
      .limit(passagesMax)
      .execute();
    if (missing.length === 0) return undefined;
    const wanted = missing.map(({ id, title, text }) => {
      const digest = createHash("sha256").update(`${model}\n${title}\n${text}`).digest("base64url");
      return { id, parts: partsOf(title, text), digest };
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
    const encoded = await embedAll(
      fresh.flatMap(({ parts }) => parts.map((part) => passage + part)),
      signal,
    );
    if (encoded.some((vector) => vector.length > 0 && vector.length !== dimensions)) throw new OtherDimensions();
    let at = 0;
    for (const { digest, parts } of fresh) {
      const own = encoded.slice(at, (at += parts.length)).filter((vector) => vector.length > 0);
      vectors.set(digest, vectorsToBytes(own));
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
    return missing.length < passagesMax ? undefined : missing.at(-1)?.id;
  }

  /** Removes the vectors of removed passages and of other models. */
  async function removeOld(workspaceId: string, { model }: WorkspaceEncoder): Promise<void> {
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

  async function run(rows: readonly Work<PayloadOf<typeof vectorKind>>[], signal: AbortSignal): Promise<void> {
    const [first] = rows;
    if (first === undefined) return;
    const workspaceId = first.lane.slice(vectorLane("").length);
    // The position of the previous work, since scanning all embedded passages takes long.
    const { after: from = "" } = first.payload;
    let after = from;
    let done = false;
    // A retry of the work must not repeat the calibration that it was queued for.
    const asked = rows.flatMap(({ payload, created_at: at }) => (payload.calibrate === true ? [at] : []));
    const encoder = await encoders.current(workspaceId, Math.max(Number.NEGATIVE_INFINITY, ...asked), signal);
    if (encoder === undefined) {
      await store.write((tx) => finishWork(tx, rows));
      return;
    }
    try {
      for (let batch = 0; batch < batchesMax && !done; batch += 1) {
        signal.throwIfAborted();
        const last = await embedBatch(workspaceId, encoder, after, signal);
        // Passages that were committed late can have lower ids, so a last pass starts from the beginning.
        done = last === undefined && after === "";
        after = last ?? "";
      }
    } catch (error) {
      if (!(error instanceof OtherDimensions)) throw error;
      await encoders.current(workspaceId, Number.POSITIVE_INFINITY, signal);
      after = "";
    }
    // Removed last, since a rewritten passage reuses the vector of the previous one.
    if (done) await removeOld(workspaceId, encoder);
    await store.write(async (tx) => {
      await finishWork(tx, rows);
      if (!done) await queueVectors(tx, workspaceId, clock.now(), after);
    });
  }

  return {
    ...cache,
    async encoderOf(workspaceId) {
      const row = await modelRow(store.read, workspaceId);
      return row && encoderIn(row);
    },
    async report(workspaceId) {
      const state = readState(embedder, (await modelRow(store.read, workspaceId))?.calibration);
      return state === undefined ? null : reportOf(embedder, state);
    },
    work: declareWork(vectorKind, {
      batch: true,
      // Retried however long the server is away; passages are found by their words meanwhile.
      attemptsMax: Number.POSITIVE_INFINITY,
      lanesMax: 2,
      run,
    }),
    async ensure() {
      const workspaces = await store.read
        .selectFrom("workspaces")
        .select("id")
        .where("deleted_at", "is", null)
        .execute();
      await store.write((tx) => recordModel(tx, everyWorkspace, { model: embedder.model, calibration: null }));
      for (const { id } of workspaces) await store.write((tx) => queueVectors(tx, id, clock.now()));
    },
  };
}

/** The server has another model under the same name. */
class OtherDimensions extends Error {}

async function raiseStamp(tx: Tx, workspaceId: string): Promise<void> {
  await tx
    .updateTable("vector_models")
    .set((eb) => ({ stamp: eb("stamp", "+", 1) }))
    .where("workspace_id", "=", workspaceId)
    .execute();
}

/** Called by a start without an embedding server, which would not remove the vectors of removed passages. */
export async function leaveVectors(store: Store): Promise<void> {
  const left = await store.read.selectFrom("vector_models").select("workspace_id").limit(1).executeTakeFirst();
  if (left === undefined) return;
  await store.write(async (tx) => {
    await tx.deleteFrom("vector_models").execute();
    await tx.deleteFrom("chunk_vectors").execute();
    await tx.deleteFrom("outbox").where("kind", "=", vectorKind.kind).execute();
  });
}
