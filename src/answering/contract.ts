import type { Confidence, Source } from "#domain/conversation/message.ts";
import type { SkillCall } from "#domain/workspace/skill.ts";
import type { Strictness, WorkspaceSettings } from "#domain/workspace/settings.ts";

/** Finds passages for a question, and makes an answer of them. Holds no transaction. */
export interface Answerer {
  answer(question: Question, signal: AbortSignal): Promise<Answer>;
}

export interface Question {
  readonly workspaceId: string;
  readonly text: string;
  /** Earlier messages of the conversation, oldest first. */
  readonly history: readonly { readonly role: "user" | "assistant" | "agent"; readonly content: string }[];
  readonly strictness: Strictness;
  /** How many chunks may support the answer, 1 to 10. */
  readonly topK: number;
  /** Only these documents, when given. */
  readonly documentIds?: readonly string[];
  /** Tags of gated documents that this asker may see; documents without tags are for everyone. */
  readonly audience: readonly string[];
  readonly settings: WorkspaceSettings;
  /** The question in its conversation; absent where there is none, and nothing may be changed anywhere. */
  readonly turn?: Turn;
  /** What was looked up for it elsewhere: sources of their own, beside the documents. */
  readonly lookups?: readonly Lookup[];
  /** For a language model, 0 to 1; absent: 0. */
  readonly temperature?: number;
  /**
   * Where a language model fails: `tell`, for who can try again, throws a `Problem`; `extract` answers in the documents'
   * own sentences instead, and is what happens when this is absent.
   */
  readonly whenModelFails?: "tell" | "extract";
  /** Called with each piece of the answer's text as it is made. */
  readonly onToken?: (delta: string) => void;
}

export interface Turn {
  readonly conversationId: string;
  /** The first of the customer's messages that are answered: the same, however often the answer is tried. */
  readonly firstSeq: number;
  /** Who asks, where that is proven. */
  readonly user: Asker | null;
}

/** A proven user, with only what the company vouches for. */
export interface Asker {
  readonly id: string;
  readonly email: string | null;
  readonly plan: string | null;
}

/** What a skill has found. */
export interface Lookup {
  /** Its name. */
  readonly skill: string;
  readonly title: string;
  /** A line for each field. */
  readonly text: string;
  /** As the skill's own template tells it. */
  readonly told: string;
}

export interface Answer {
  /** Markdown. */
  readonly text: string;
  /** The chunks that the text is taken from; where nothing was good enough, what came nearest. At most 5. */
  readonly sources: readonly Source[];
  readonly confidence: Confidence;
  /** False: the text says that the documents hold no answer. */
  readonly answered: boolean;
  readonly skillsFired: readonly string[];
  readonly tokensUsed: number;
  /** For the audit log. */
  readonly calls?: readonly SkillCall[];
  /** What the customer has told of themselves, to be kept. */
  readonly lead?: { readonly name?: string; readonly email?: string; readonly phone?: string };
  /** People are to take over, and why. */
  readonly escalate?: string;
}

/** Judges how angry or frustrated a customer's message is. */
export type JudgeAnger = (text: string, by: WorkspaceSettings["angerJudgedBy"], signal: AbortSignal) => Promise<number>;
