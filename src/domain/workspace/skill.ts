/** What a skill has to be told, taken from what the customer writes. */
export interface SkillArgument {
  readonly name: string;
  readonly type: "string" | "integer" | "number" | "boolean";
  /** For the language model. */
  readonly description: string;
  readonly optional: boolean;
  readonly choices?: readonly string[];
  /** `A-####`: # a digit, @ a letter, * either; + behind one of them: one or more. */
  readonly shapes?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  /** Asked of the customer where it is missing. */
  readonly ask?: string;
}

interface SkillBase {
  readonly name: string;
  /** For the language model: what it does, and when it is needed. */
  readonly description: string;
  /** By which it is chosen without a model: words, and `{argument}`. */
  readonly phrases: readonly string[];
  readonly arguments: readonly SkillArgument[];
  /** What the customer is told, with the result's fields in braces. */
  readonly answer: string | null;
}

/** Asks a server of the company. */
export interface LookupSkill extends SkillBase {
  readonly kind: "lookup";
  /** For verified customers only. */
  readonly verified: boolean;
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** It may be called twice without harm. */
  readonly safe: boolean;
  /** JSON of {@link LookupRequest}; sealed where it is stored. */
  readonly request: string;
  readonly timeoutMs: number;
  readonly bytesMax: number;
  /** Which fields of the result may be used, by their paths; empty: all. */
  readonly fields: readonly string[];
  /** What the customer is told where the server answers 404. */
  readonly notFound: string | null;
}

export interface LookupRequest {
  /** With arguments in braces, behind the host only. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON with arguments in braces in its texts; null: none is sent. */
  readonly body: unknown;
}

export interface BuiltinSkill extends SkillBase {
  readonly kind: "business_hours" | "capture_lead" | "talk_to_human";
  /** Business hours: what the customer is told while nobody is there. */
  readonly closed: string | null;
}

export type Skill = LookupSkill | BuiltinSkill;

export const builtinSkills = ["business_hours", "capture_lead", "talk_to_human"] as const;

/** That a skill ran, for the audit log: no value of an argument, nothing of the result. */
export interface SkillCall {
  readonly skill: string;
  readonly arguments: readonly string[];
  readonly outcome: string;
}
