/** Turns texts into vectors, such that texts of like meaning have vectors that lie close. */
export interface Embedder {
  /** Names the model: vectors of two models are never compared. */
  readonly model: string;
  /**
   * A vector of length 1 for each text, in their order. `background` has time and tries again; `question` has somebody
   * waiting. Throws {@link EmbedderAway}, or {@link TextRefused} where the model does not take one of the texts.
   */
  embed(
    texts: readonly string[],
    purpose: "background" | "question",
    signal?: AbortSignal,
  ): Promise<readonly Float32Array[]>;
  /** Why it does not answer now, in words for the operator; null: nothing is known against it. */
  trouble(): string | null;
}

/** It does not answer, or not as it should: another time it may. */
export class EmbedderAway extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "EmbedderAway";
  }
}

export class TextRefused extends Error {
  constructor(message: string) {
    super(message);
    this.name = "TextRefused";
  }
}
