import type { Clock } from "#runtime/clock.ts";
import type { Log } from "#runtime/log.ts";
import type { Store } from "#database/contract.ts";
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
import { vectorsFromBytes } from "./packed.ts";
import { OtherDimensions, createPassageVectors } from "./passage-vectors.ts";
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
  const embedAll = createEmbedAll(embedder, log);
  const encoders = createEncoders({ store, embedder, embedAll, clock, log });
  const { encoderIn } = encoders;
  const passages = createPassageVectors(store, embedAll, embedder.isLocal === true);
  const cache = createVectorCache({ store, encoderIn, clock, log, vectorsIn: vectorsFromBytes });

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
        const last = await passages.embedAfter(after, workspaceId, encoder, signal);
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
    if (done) await passages.removeOld(workspaceId, encoder);
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
