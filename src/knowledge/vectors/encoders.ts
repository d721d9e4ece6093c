import type { Reader, Store, Tx } from "#database/contract.ts";
import type { Embedder } from "#models/embedding.ts";
import type { Clock } from "#runtime/clock.ts";
import type { Log } from "#runtime/log.ts";
import type { EmbedAll } from "./calibrate.ts";
import { calibrate, isDue } from "./calibrate.ts";
import { encoderDimensions } from "./encoder/model.ts";
import type { EncoderState, ModelRow, WorkspaceEncoder } from "./encoder-state.ts";
import { encoderOf, evidence, isFit, readState } from "./encoder-state.ts";

export interface Encoders {
  /** Undefined: the workspace's vectors are of another model, or not fit for use. */
  encoderIn(row: ModelRow): WorkspaceEncoder | undefined;
  /**
   * Stores the model of the workspace, after a calibration where one is due, or where the last one was before
   * `notBefore`. Undefined: its passages get no vectors.
   */
  current(workspaceId: string, notBefore: number, signal: AbortSignal): Promise<WorkspaceEncoder | undefined>;
}

export function createEncoders({
  store,
  embedder,
  embedAll,
  clock,
  log,
}: {
  readonly store: Store;
  readonly embedder: Embedder;
  readonly embedAll: EmbedAll;
  readonly clock: Clock;
  readonly log: Log;
}): Encoders {
  const builtIn: WorkspaceEncoder = {
    model: embedder.model,
    dimensions: encoderDimensions,
    question: "",
    passage: "",
    calibration: evidence,
    onScale: (similarity) => similarity,
  };

  async function calibrated(
    workspaceId: string,
    row: ModelRow | undefined,
    notBefore: number,
    signal: AbortSignal,
  ): Promise<EncoderState> {
    const { server } = embedder;
    if (server === undefined) throw new Error("the built-in encoder needs no calibration");
    const before = readState(embedder, row?.calibration);
    const passages = await passagesOf(store.read, workspaceId);
    if (before !== undefined && before.at >= notBefore && !isDue(before, passages)) return before;
    const now = clock.now();
    const state = await calibrate(store.read, embedAll, { server, workspaceId, passages, before, now, signal });
    const result = { workspaceId, ...state.measured, prefixes: state.prefixes, dimensions: state.dimensions };
    if (isFit(state)) log.info(result, "vectors: encoder calibrated");
    else log.warn(result, "vectors: encoder unfit, words alone answer");
    return state;
  }

  return {
    encoderIn(row) {
      if (embedder.server === undefined) return row.model === builtIn.model ? builtIn : undefined;
      const state = readState(embedder, row.calibration);
      if (state === undefined || !isFit(state)) return undefined;
      const encoder = encoderOf(embedder, state);
      return row.model === encoder.model ? encoder : undefined;
    },
    async current(workspaceId, notBefore, signal) {
      const row = await modelRow(store.read, workspaceId);
      const state = embedder.server && (await calibrated(workspaceId, row, notBefore, signal));
      const encoder = state === undefined ? builtIn : encoderOf(embedder, state);
      const wanted: ModelRow = {
        model: encoder.model,
        calibration: state === undefined ? null : JSON.stringify(state),
      };
      if (row?.model !== wanted.model || row.calibration !== wanted.calibration)
        await store.write((tx) => recordModel(tx, workspaceId, wanted));
      return state === undefined || isFit(state) ? encoder : undefined;
    },
  };
}

export function modelRow(read: Reader, workspaceId: string): Promise<ModelRow | undefined> {
  return read
    .selectFrom("vector_models")
    .select(["model", "calibration"])
    .where("workspace_id", "=", workspaceId)
    .executeTakeFirst();
}

/** Stores the model of a workspace's vectors. */
export async function recordModel(tx: Tx, workspaceId: string, { model, calibration }: ModelRow): Promise<void> {
  const row = await tx
    .selectFrom("vector_models")
    .select("model")
    .where("workspace_id", "=", workspaceId)
    .executeTakeFirst();
  const values = { model, calibration };
  if (row === undefined)
    await tx
      .insertInto("vector_models")
      .values({ workspace_id: workspaceId, stamp: 0, ...values })
      .execute();
  else await tx.updateTable("vector_models").set(values).where("workspace_id", "=", workspaceId).execute();
}

async function passagesOf(read: Reader, workspaceId: string): Promise<number> {
  const { count } = await read
    .selectFrom("documents")
    .select((eb) => eb.fn.sum<number | string | null>("chunks").as("count"))
    .where("workspace_id", "=", workspaceId)
    .where("status", "=", "indexed")
    .executeTakeFirstOrThrow();
  return Number(count ?? 0);
}
