/** The name of a channel. Adapters declare theirs (`src/channels/catalog.ts`), and the set is known at run time only. */
export type Channel = string;

export type Role = "user" | "assistant" | "agent";

export const confidences = ["high", "medium", "low"] as const;
export type Confidence = (typeof confidences)[number];

/**
 * The purpose of a message. `answer` and `refusal`: of the bot, which found an answer or none. `survey`: asks for a
 * rating; `rating`: a customer's number in reply.
 */
export type MessageKind = "answer" | "refusal" | "survey" | "rating";

/** A customer's rating of a conversation: 1 is poor, 5 is very good. */
export type Score = 1 | 2 | 3 | 4 | 5;

/** A retrieved chunk that supports an answer. `url` is "" for an uploaded file that has no address. */
export interface Source {
  readonly title: string;
  readonly url: string;
  readonly chunk: string;
  readonly score: number;
}

export type ActorType = "customer" | "assistant" | "agent" | "api_key" | "system";

/** The author of an action. `id` is an agent's e-mail address, a key's id, a contact's id, or a system part's name. */
export interface Actor {
  readonly type: ActorType;
  readonly id: string | null;
  readonly name: string | null;
}

export const systemActor = (id: string): Actor => ({ type: "system", id, name: null });

export const auditActions = [
  "status_changed",
  "assigned",
  "tagged",
  "untagged",
  "priority_changed",
  "note_added",
  "deleted",
  "exported",
  "skill_called",
  "rule_fired",
  "rated",
] as const;
/** The additional actions concern contacts and the workspace; no conversation's log contains them. */
export type AuditAction = (typeof auditActions)[number] | "contact_merged" | "contact_unmerged" | "secret_rotated";

/** Length as the contract counts it: Unicode code points. */
export function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

export const queryCodePointsMax = 1_000;
export const messageCodePointsMax = 4_000;
