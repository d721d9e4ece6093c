/** Named points on the path of a message. The crash test ends the process at each of them. */
export const checkpoints = [
  "accept.committed",
  "accept.acknowledged",
  "answer.before",
  "answer.stored",
  "send.before",
  "send.after",
  "send.marked",
  "file.stored",
] as const;

/** Called when a point is passed; does nothing in production. */
export type Checkpoint = (point: (typeof checkpoints)[number]) => void;
