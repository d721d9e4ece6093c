import type { Candidate } from "#knowledge/index/contract.ts";

export interface Ranked {
  readonly candidate: Candidate;
  /** BM25 over body and title. */
  readonly score: number;
  /** Sort key: the score plus the bonuses for the title, for word pairs and for vector similarity. */
  readonly worth: number;
  /** Added to the evidence for an answer from this passage, by its lead over others in words and meaning together. */
  readonly lead: number;
  /** Added to the evidence for a text whose meaning was compared, by its similarity. */
  readonly near: number;
  /** Taken from the evidence for a text whose meaning was compared, and not only its words. */
  readonly doubt: number;
  /** How well the title matches the question, 0 to 1. */
  readonly fit: number;
  /** True when the heading repeats the question nearly word for word. */
  readonly verbatim: boolean;
}
