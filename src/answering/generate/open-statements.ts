/** A statement of an answer, with the indexes of the passages that it cites. */
export interface Statement {
  readonly text: string;
  readonly passages: readonly number[];
}

/** Which statements a language model checks: those that the comparison of words leaves in doubt, or each. */
export type CheckedStatements = "doubtful" | "every";

/** The statements of one answer that a model has to decide about, and its decisions. */
export interface OpenStatements {
  /** The answer is in another language than the passages. */
  readonly isTranslated: boolean;
  /** The statements that have no decision yet. */
  waiting(): readonly Statement[];
  /**
   * The passages that support a statement. `byWords`: those by comparison of words, none if it is in doubt. A statement
   * without a decision is added to `waiting`, and words decide for now. One with a veto is not asked about.
   */
  supporters(statement: Statement, byWords: readonly number[], isVetoed: () => boolean): readonly number[];
  /** Decides about all that are waiting. */
  decide(supported: ReadonlySet<Statement>): void;
}

export function createOpenStatements(checked: CheckedStatements, isTranslated: boolean): OpenStatements {
  const waiting = new Map<string, Statement>();
  const decisions = new Map<string, boolean>();
  return {
    isTranslated,
    waiting: () => [...waiting.values()],
    supporters(statement, byWords, isVetoed) {
      if (byWords.length > 0 && checked === "doubtful") return byWords;
      const key = JSON.stringify([statement.text, statement.passages]);
      const decision = decisions.get(key);
      if (decision !== undefined) return decision ? (byWords.length > 0 ? byWords : statement.passages) : [];
      if (byWords.length > 0 || !isVetoed()) waiting.set(key, statement);
      return byWords;
    },
    decide(supported) {
      for (const [key, statement] of waiting) decisions.set(key, supported.has(statement));
      waiting.clear();
    },
  };
}
