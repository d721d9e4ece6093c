/** A group of similar questions in the response of `/admin/v1/unanswered`. */
export interface Question {
  readonly id: string;
  /** The newest of the similar questions. */
  readonly question: string;
  readonly state: "open" | "done" | "ignored";
  readonly count: number;
  readonly reasons: Readonly<Record<Reason, number>>;
  readonly channels: readonly string[];
  readonly last_asked_at: string;
  readonly document: { readonly id: string; readonly title: string } | null;
}

export type Reason = "refused" | "unsure" | "disliked" | "handed_over";

export interface QuestionWithExamples extends Question {
  readonly examples: readonly {
    readonly message_id: string;
    readonly conversation_id: string;
    readonly channel: string;
    readonly asked_at: string;
    readonly question: string;
    readonly reasons: readonly Reason[];
  }[];
}

export const reasonNames: Readonly<Record<Reason, string>> = {
  refused: "No answer",
  unsure: "Low confidence",
  disliked: "Thumb down",
  handed_over: "Handed over",
};
export const reasonOrder = Object.keys(reasonNames) as readonly Reason[];

export const stateNames = { open: "Open", done: "Answered", ignored: "Ignored" } as const;

/** A document, as far as the pages of questions need it. */
export interface DocumentItem {
  readonly id: string;
  readonly title: string;
  readonly status: "pending" | "processing" | "indexed" | "failed";
  readonly error: string | null;
  readonly editable: boolean;
  /** The version that a change is based on. */
  readonly content_version: string;
  readonly audience: readonly string[];
}

export interface OneDocument {
  readonly document: DocumentItem;
}
