import type { Word } from "#language/terms.ts";

/**
 * Where passages come from. An index only finds candidates and tells what the terms weigh in the whole workspace;
 * ranking, confidence and answers are made of that in one place (`answering/`), the same for every index.
 */
export interface KnowledgeIndex {
  /**
   * Never finds what was removed, or closed to the asker, before the call. Sees the texts that were committed before it
   * too, but where so many are new that it would take long: then each document is found by its older text until the
   * newer one is there, and what had no older text is told by `partial`. Throws `Problem` search_unavailable when it
   * cannot answer.
   */
  search(request: SearchRequest): Promise<SearchResult>;
  /** Takes in all that was committed before the call, so that no search has to wait for it. */
  prepare(workspaceId: string, signal: AbortSignal): Promise<void>;
  /** The workspace was deleted: drops what the index holds of it. */
  drop?(workspaceId: string): Promise<void>;
  close(): Promise<void>;
}

export interface SearchRequest {
  readonly workspaceId: string;
  /** Distinct stems as `answering/terms.ts` makes them; a passage with any one of them is a candidate. */
  readonly terms: readonly string[];
  /**
   * Words of the question, folded, that may be spelt wrong; with the stem that each has in `terms`. For those that no
   * passage has, the index looks for words of the workspace that are written almost alike.
   */
  readonly misspelt?: readonly Word[];
  /** The question as it was asked, without personal data, for what understands more than words. */
  readonly text?: () => string;
  /** The same object in all searches for one message: what a text of it means is looked up once, and kept as long as it. */
  readonly message?: object;
  /** Only passages of these documents, when given. */
  readonly documentIds?: readonly string[];
  /** The asker's tags: a document with tags of its own is found by those only who have one of them. */
  readonly audience: readonly string[];
  /** How many candidates, at most. */
  readonly limit: number;
  /** Ends the waiting when nobody wants the answer any more: the search rejects with its reason. */
  readonly signal?: AbortSignal;
}

/** What can be asked of another thread. */
export type IndexSearch = Omit<SearchRequest, "signal" | "text" | "message">;

export interface Candidate {
  readonly chunkId: string;
  readonly documentId: string;
  /** Place in the document, from 0. */
  readonly position: number;
  readonly title: string;
  readonly text: string;
  readonly url: string | null;
  /** Stems in order, repeats kept, without stop words. */
  readonly titleTerms: readonly string[];
  readonly bodyTerms: readonly string[];
  /** How near its meaning is to the question's, -1 to 1; absent: not known. */
  readonly similarity?: number;
}

export interface SearchResult {
  /** Best first, roughly: the caller ranks them. */
  readonly candidates: readonly Candidate[];
  /** Passages in the workspace, whoever may see them. */
  readonly chunkCount: number;
  /** Terms of a passage, title and body together, on average. */
  readonly averageTerms: number;
  /** In how many passages of the workspace each asked term occurs; absent: in none. */
  readonly frequency: ReadonlyMap<string, number>;
  /** For stems of `misspelt` that occur nowhere: stems of words written almost alike, which candidates were found by too. */
  readonly repaired?: ReadonlyMap<string, readonly string[]>;
  /** There are passages that the index has never had, and is about to take in: that it finds nothing says little. */
  readonly partial?: boolean;
}
