import type { Calibration } from "#models/embedding.ts";
import type { Word } from "#language/words/terms.ts";

/**
 * A search index for passages. It finds candidates and returns term statistics of the whole workspace. Ranking,
 * confidence and answers are the same for every index, see `answering/`.
 */
export interface KnowledgeIndex {
  /**
   * Must not return passages that were removed, or made inaccessible to the asker, before the call. Normally sees all
   * texts committed before the call. When many are new, it searches the previous text of each document instead, and sets
   * `partial` when some documents have none. Throws `Problem` search_unavailable when it cannot answer.
   */
  search(request: SearchRequest): Promise<SearchResult>;
  /** Indexes everything committed before the call, so that searches need not wait for it. */
  prepare(workspaceId: string, signal: AbortSignal): Promise<void>;
  /** Called after a workspace was deleted. Removes its data from the index. */
  drop?(workspaceId: string): Promise<void>;
  close(): Promise<void>;
}

export interface SearchRequest {
  readonly workspaceId: string;
  /** Distinct stems, see `language/terms.ts`. A passage with any of them is a candidate. */
  readonly terms: readonly string[];
  /**
   * Folded words of the question that may be misspelt, each with its stem in `terms`. For those that no passage has, the
   * index looks for similar words of the workspace.
   */
  readonly misspelt?: readonly Word[];
  /** The question without personal data, for vector search. */
  readonly text?: () => string;
  /** Whether the result by words is enough, so that the text needs no vector. */
  readonly isEnough?: (result: SearchResult) => boolean;
  /** The same object in all searches for one message. Vectors are cached for its lifetime. */
  readonly message?: object;
  /** Restricts the search to these documents. */
  readonly documentIds?: readonly string[];
  /** The asker's tags. Documents with tags are found only by askers with at least one of them. */
  readonly audience: readonly string[];
  /** Maximum number of candidates. */
  readonly limit: number;
  /** Cancels the search, which then rejects with the signal's reason. */
  readonly signal?: AbortSignal;
}

/** The part of a request that can be sent to another thread. */
export type IndexSearch = Omit<SearchRequest, "signal" | "text" | "isEnough" | "message">;

export interface Candidate {
  readonly chunkId: string;
  readonly documentId: string;
  /** Index in the document, from 0. */
  readonly position: number;
  readonly title: string;
  readonly text: string;
  readonly url: string | null;
  /** Stems in order, repeats kept, without stop words. */
  readonly titleTerms: readonly string[];
  readonly bodyTerms: readonly string[];
  /** Cosine similarity to the question, -1 to 1. Absent when unknown. */
  readonly similarity?: number;
}

export interface SearchResult {
  /** Roughly best first. The caller ranks them. */
  readonly candidates: readonly Candidate[];
  /** Number of passages in the workspace, whether accessible or not. */
  readonly chunkCount: number;
  /** Average number of terms of a passage, title and body together. */
  readonly averageTerms: number;
  /** Number of passages of the workspace with each requested term. Terms without passages are absent. */
  readonly frequency: ReadonlyMap<string, number>;
  /** Corrections for stems of `misspelt` that no passage has. Candidates were searched by them too. */
  readonly repaired?: ReadonlyMap<string, readonly string[]>;
  /** True while passages are being indexed for the first time. An empty result then proves nothing. */
  readonly partial?: boolean;
  /** How the similarities are read. Absent: they only order passages. */
  readonly calibration?: Calibration;
}
