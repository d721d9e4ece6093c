/** Orders passages by how well they answer a question. */
export interface Reranker {
  /**
   * Indexes of the best `count` texts, best first. A customer waits for at most `timeoutMs`. Throws `ModelAway`, and
   * `TextRefused` where the model refuses one of the texts.
   */
  rank(request: RerankRequest, signal?: AbortSignal): Promise<readonly number[]>;
  /** The last failure, for the operator; null after a success. */
  trouble(): string | null;
}

export interface RerankRequest {
  readonly query: string;
  readonly texts: readonly string[];
  readonly count: number;
  readonly timeoutMs: number;
}
