import type { Reader } from "#database/contract.ts";
import type { Embedder } from "#models/embedding.ts";
import type { EncoderState } from "./encoder-state.ts";
import { isFit, readState } from "./encoder-state.ts";

/** The result of a calibration, for administrators. */
export interface EncoderReport {
  readonly model: string;
  readonly dimensions: number;
  readonly prefixes: string;
  /** Share of related passages that are nearer than unrelated ones; null: too few passages. */
  readonly separation: number | null;
  /** Whether the vectors are used. */
  readonly fit: boolean;
  readonly calibrated_at: number;
}

export const reportOf = (embedder: Pick<Embedder, "model">, state: EncoderState): EncoderReport => ({
  model: embedder.model,
  dimensions: state.dimensions,
  prefixes: state.prefixes,
  separation: state.measured?.separation ?? null,
  fit: isFit(state),
  calibrated_at: state.at,
});

const fix =
  "use a model for search in the language of the documents, check EMBEDDING_NAME and EMBEDDING_PREFIXES; until then words alone answer";

/** Describes the result of a calibration to operators. */
export function stateText(state: EncoderState): string {
  const { measured, dimensions, prefixes, at } = state;
  const made = `vectors of ${dimensions} numbers, prefixes ${prefixes}`;
  if (measured === undefined) return `${made}, too few passages to calibrate it: its vectors only order passages`;
  const share = `${Math.round(measured.separation * 100)} %`;
  const day = new Date(at).toISOString().slice(0, 10);
  return isFit(state)
    ? `${made}, tells passages apart in ${share}, calibrated on ${day}`
    : `${made}, tells passages apart in ${share} only, little better than chance: ${fix}`;
}

/** The calibrations of this server in all workspaces in use. */
export async function encoderStates(
  read: Reader,
  embedder: Pick<Embedder, "server">,
): Promise<readonly { readonly workspaceId: string; readonly state: EncoderState }[]> {
  const rows = await read
    .selectFrom("vector_models")
    .innerJoin("workspaces", "workspaces.id", "vector_models.workspace_id")
    .select(["vector_models.workspace_id", "vector_models.calibration"])
    .where("workspaces.deleted_at", "is", null)
    .where("vector_models.calibration", "is not", null)
    .orderBy("vector_models.workspace_id")
    .execute();
  return rows.flatMap(({ workspace_id: workspaceId, calibration }) => {
    const state = readState(embedder, calibration);
    return state === undefined ? [] : [{ workspaceId, state }];
  });
}

/** Names the workspaces whose passages the server cannot tell apart; null: none. */
export async function unfitTrouble(read: Reader, embedder: Pick<Embedder, "server">): Promise<string | null> {
  const unfit = (await encoderStates(read, embedder)).filter(({ state }) => !isFit(state));
  if (unfit.length === 0) return null;
  const where = unfit.length === 1 ? "one workspace" : `${unfit.length} workspaces`;
  return `it tells the passages of ${where} apart little better than chance: ${fix}`;
}
