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

/** The bytes of a customer's file are stored, and its row does not say so yet: passed only where a platform gives files. */
export type FileCheckpoint = "file.stored";

/** What a rule says to the customer is about to be stored, and is stored: passed only where there are rules. */
export type RuleCheckpoint = "speak.before" | "speak.stored";

/** Called when a point is passed; does nothing in production. */
export type Checkpoint = (point: (typeof checkpoints)[number] | FileCheckpoint | RuleCheckpoint) => void;
