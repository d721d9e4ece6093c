import type { CitationOptions } from "./citations.ts";
import type { CheckedStatements, OpenStatements, Statement } from "./open-statements.ts";
import { createOpenStatements } from "./open-statements.ts";
import type { Piece } from "./pieces.ts";
import { createPieces } from "./pieces.ts";
import { declinesToAnswer } from "./prompt.ts";
import type { Review } from "./review.ts";
import { createReview } from "./review.ts";

/** The answer that a model is writing. Each function returns the text that can be shown after it. */
export interface Draft {
  feed(delta: string): string;
  /** `isCut`: the text was truncated. */
  end(isCut: boolean): string;
  /** Statements for a model to decide about. The text behind the first of them is held back. */
  readonly open: OpenStatements;
  /** Called last. `supported`: those of the open statements that are true; undefined: words decide. */
  settle(supported: ReadonlySet<Statement> | undefined): string;
  sum: Review["sum"];
  /** Whether the model says that the passages do not answer. */
  declines(): boolean;
}

export function createDraft({
  checked,
  isTranslated,
  ...options
}: Omit<CitationOptions, "open"> & {
  /** Undefined: words decide about all statements. */
  readonly checked: CheckedStatements | undefined;
  readonly isTranslated: boolean;
}): Draft {
  const open = createOpenStatements(checked ?? "doubtful", isTranslated);
  const newReview = (): Review => createReview(checked === undefined ? options : { ...options, open });
  const pieces = createPieces();
  const taken: Piece[] = [];
  let review = newReview();
  let shown = "";
  let said = "";

  function take(more: readonly Piece[]): string {
    let text = "";
    for (const piece of more) {
      taken.push(piece);
      const reviewed = review.take([piece]);
      // Statements after an open one are collected, and not shown before it.
      if (open.waiting().length === 0) text += reviewed;
    }
    shown += text;
    return text;
  }

  return {
    open,
    feed(delta) {
      said += delta;
      return take(pieces.feed(delta));
    },
    end: (isCut) => take(pieces.end(isCut)),
    settle(supported) {
      if (open.waiting().length === 0) return "";
      if (supported !== undefined) open.decide(supported);
      review = newReview();
      return review.take(taken).slice(shown.length);
    },
    sum: () => review.sum(),
    declines: () => declinesToAnswer(said),
  };
}
