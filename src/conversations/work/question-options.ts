import type { Question } from "#answering/contract.ts";

/** Options of one API query, stored with its work. `audience`: tags of the documents that the user may see. */
export type QuestionOptions = Partial<
  Pick<Question, "strictness" | "topK" | "documentIds" | "audience" | "temperature">
> & {
  /** The user whom this request has verified. */
  readonly userId?: string;
};
