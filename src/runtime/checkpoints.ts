/** Named points on the path of a message. The crash test ends the process at each of them. */
export const checkpoints = [
  "accept.committed",
  "accept.acknowledged",
  "answer.before",
  "answer.stored",
  "send.before",
  "send.after",
  "send.marked",
] as const;

/** Passed when the bytes of a customer's file are stored, and its row is not updated yet. */
export type FileCheckpoint = "file.stored";

/** Passed before and after a rule's reply is stored. */
export type RuleCheckpoint = "speak.before" | "speak.stored";

/** Passed before and after a survey is stored. */
export type SurveyCheckpoint = "survey.before" | "survey.stored";

/** Called when a point is passed; does nothing in production. */
export type Checkpoint = (
  point: (typeof checkpoints)[number] | FileCheckpoint | RuleCheckpoint | SurveyCheckpoint,
) => void;
