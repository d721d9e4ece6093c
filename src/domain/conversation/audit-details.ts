import type { Actor } from "./message.ts";

// Details of audit entries that the inbox and the reports recognise. They must not change.

/** A resolve that was taken back. */
export const undoneDetail = "resolve taken back";
/** A search of the documents without an answer. */
export const foundNoAnswer = "found no answer";

export const askedForPerson = "the customer asked for a person";
export const seemsAngry = "the customer seems to be angry or frustrated";
const lowConfidenceEnd = "answers in a row of low confidence";
export const lowConfidence = (answers: number): string => `${answers} ${lowConfidenceEnd}`;

export const handoverReasons = ["asked", "low_confidence", "anger", "rule", "other"] as const;
export type HandoverReason = (typeof handoverReasons)[number];

/** The reason of a hand-over. `other`: agents, API clients, and messages that are not for the bot. */
export function handoverReasonOf({ type, id }: Pick<Actor, "type" | "id">, detail: string | null): HandoverReason {
  if (type !== "system") return "other";
  if (id?.startsWith("rule:") === true) return "rule";
  if (detail === askedForPerson) return "asked";
  if (detail === seemsAngry) return "anger";
  return detail?.endsWith(lowConfidenceEnd) === true ? "low_confidence" : "other";
}
