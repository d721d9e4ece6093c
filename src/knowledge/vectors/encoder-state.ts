import { Type } from "typebox";
import Value from "typebox/value";
import type { Static } from "typebox";
import type { Calibration, Embedder } from "#models/embedding.ts";
import { kindsOf } from "#database/work.ts";
import type { PrefixName } from "./prefixes.ts";
import { prefixesOf } from "./prefixes.ts";

/** How the evidence of similarities counts, on the scale of the built-in encoder. Chosen by `bench:answers --meaning`. */
export const evidence: Calibration = { orderShare: 4, leadShare: 0.2, nearFrom: 0.5, nearShare: 0.6, doubt: 0.08 };

/**
 * The spread of the built-in encoder's similarities, as `calibrate` finds it: the mean of what it finds in the documents
 * of `bench/answers`.
 */
const builtInSpread = { mean: 0.293, deviation: 0.15 };

/** An encoder that separates less is hardly better than chance. The built-in one has 0.77 to 0.94 in its language. */
const fitFrom = 0.6;

const prefixKinds = kindsOf<PrefixName>({ none: true, e5: true, nomic: true, instruct: true });

/** The result of a calibration of the server's encoder, on a workspace's documents. */
const EncoderState = Type.Object({
  /** The server, its model and the setting of prefixes. Any other one needs its own calibration. */
  server: Type.String(),
  prefixes: prefixKinds,
  dimensions: Type.Integer({ minimum: 1 }),
  /** Passages of the workspace at that time. */
  passages: Type.Integer({ minimum: 0 }),
  at: Type.Integer(),
  /** Absent: the workspace has too few passages. */
  measured: Type.Optional(
    Type.Object({
      /** The share of related pairs that are nearer than an unrelated one. */
      separation: Type.Number(),
      mean: Type.Number(),
      deviation: Type.Number(),
    }),
  ),
});
export type EncoderState = Readonly<Static<typeof EncoderState>>;

/** A row of `vector_models`. */
export interface ModelRow {
  readonly model: string;
  /** JSON of an {@link EncoderState}; null: the built-in encoder, or not calibrated yet. */
  readonly calibration: string | null;
}

/** How the vectors of a workspace are made and read. */
export interface WorkspaceEncoder {
  /** The model, as it is stored beside the vectors. Vectors of another one are replaced. */
  readonly model: string;
  readonly dimensions: number;
  /** Comes before each question. */
  readonly question: string;
  /** Comes before each part of a passage. */
  readonly passage: string;
  /** Absent: similarities only order passages. */
  readonly calibration?: Calibration;
  /** The similarity on the scale of the built-in encoder, which the calibration is for. */
  onScale(similarity: number): number;
}

/** Undefined for a state of another server, or of a version that is not known. */
export function readState(
  { server }: Pick<Embedder, "server">,
  calibration: string | null | undefined,
): EncoderState | undefined {
  if (calibration === null || calibration === undefined || server === undefined) return undefined;
  const state: unknown = JSON.parse(calibration);
  return Value.Check(EncoderState, state) && state.server === server.key ? state : undefined;
}

export const isFit = ({ measured }: EncoderState): boolean => measured === undefined || measured.separation >= fitFrom;

/** The way of reading the vectors of a server. */
export function encoderOf({ model }: Pick<Embedder, "model">, state: EncoderState): WorkspaceEncoder {
  const { measured, prefixes, dimensions } = state;
  const { mean, deviation } = measured ?? builtInSpread;
  const factor = builtInSpread.deviation / deviation;
  return {
    model: `${model}#${dimensions}${prefixes === "none" ? "" : `-${prefixes}`}`,
    dimensions,
    ...prefixesOf[prefixes],
    ...(measured === undefined ? {} : { calibration: evidence }),
    onScale: (similarity) => builtInSpread.mean + (similarity - mean) * factor,
  };
}
