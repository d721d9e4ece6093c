import type { EmbeddingServer } from "#config/models.ts";

/** Turns texts into vectors; texts of similar meaning have similar vectors. */
export interface Embedder {
  /** Name of the model. Vectors of two models must not be compared. */
  readonly model: string;
  /**
   * Returns a vector of length 1 for each text, in their order. `background` retries; for `question` a customer waits.
   * Throws `ModelAway`, and `TextRefused` where the model refuses one of the texts.
   */
  embed(
    texts: readonly string[],
    purpose: "background" | "question",
    signal?: AbortSignal,
  ): Promise<readonly Float32Array[]>;
  /** An embedding server: its similarities are read by a calibration. Absent: the built-in encoder. */
  readonly server?: {
    /** Changes with all that makes a new calibration necessary. */
    readonly key: string;
    /** The words before each text; `auto`: those that separate best. */
    readonly prefixes: NonNullable<EmbeddingServer["prefixes"]>;
  };
  /** True: it computes in this process, and takes time from others. */
  readonly isLocal?: true;
  /** The last failure, for the operator; null after a success. */
  trouble(): string | null;
  close?(): Promise<void>;
}

export interface Calibration {
  /** Weight of the similarity in the order of passages, as a share of the best by words. */
  readonly orderShare: number;
  /** Evidence for a passage by its lead over the best one with another heading, for each unit of that order. */
  readonly leadShare: number;
  /** The least similarity from which a lead is evidence: among passages that are all far, one always leads. */
  readonly nearFrom: number;
  /** Evidence for a passage by its similarity above `nearFrom`, and against it below, for each unit. */
  readonly nearShare: number;
  /** Taken from the evidence for every passage, with or without a lead. */
  readonly doubt: number;
}
