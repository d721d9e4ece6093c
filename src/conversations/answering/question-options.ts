import type { Question } from "#answering/contract.ts";

/** How one question over the API is to be answered; stored with its work. `audience`: what this asker may see. */
export type QuestionOptions = Partial<
  Pick<Question, "strictness" | "topK" | "documentIds" | "audience" | "temperature">
> & {
  /** The user whom this very request has proven. */
  readonly userId?: string;
};
