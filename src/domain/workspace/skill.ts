/** An argument of a skill, taken from the customer's messages. */
export interface SkillArgument {
  readonly name: string;
  readonly type: "string" | "integer" | "number" | "boolean";
  /** For the language model. */
  readonly description: string;
  readonly optional: boolean;
  readonly choices?: readonly string[];
  /** Accepted forms, such as `A-####`: # is a digit, @ a letter, * either; a following + means one or more. */
  readonly shapes?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  /** Question to the customer when the argument is missing. */
  readonly ask?: string;
}

interface SkillBase {
  readonly name: string;
  /** False: the skill is kept and not used. Absent: it is on. */
  readonly enabled?: false;
  /** For the language model: purpose and use. */
  readonly description: string;
  /** Phrases that select the skill without a model, with `{argument}` placeholders. */
  readonly phrases: readonly string[];
  readonly arguments: readonly SkillArgument[];
  /** Answer to the customer, with the result's fields in braces. */
  readonly answer: string | null;
}

/** Sends a request to a server of the company. */
export interface LookupSkill extends SkillBase {
  readonly kind: "lookup";
  /** For verified customers only. */
  readonly verified: boolean;
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** The request may be repeated. */
  readonly safe: boolean;
  /** JSON of {@link LookupRequest}; encrypted in the database. */
  readonly request: string;
  readonly timeoutMs: number;
  readonly bytesMax: number;
  /** Paths of the result's fields that may be used; empty: all. */
  readonly fields: readonly string[];
  /** Answer to the customer when the server responds with 404. */
  readonly notFound: string | null;
}

export interface LookupRequest {
  /** Arguments in braces are allowed after the host only. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON with arguments in braces in its strings; null: no body. */
  readonly body: unknown;
}

export interface BuiltinSkill extends SkillBase {
  readonly kind: "business_hours" | "capture_lead" | "talk_to_human";
  /** Business hours: answer while the company is closed. */
  readonly closed: string | null;
}

export type Skill = LookupSkill | BuiltinSkill;

export const builtinSkills = ["business_hours", "capture_lead", "talk_to_human"] as const;

/** Record of a skill's run for the audit log, without arguments' values and result. */
export interface SkillCall {
  readonly skill: string;
  readonly arguments: readonly string[];
  readonly outcome: string;
}
