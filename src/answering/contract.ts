import type { Confidence, Source } from "#domain/conversation/message.ts";
import type { SpokenLanguage } from "#language/locale.ts";
import type { SkillCall } from "#domain/workspace/skill.ts";
import type { Strictness, WorkspaceSettings } from "#domain/workspace/settings.ts";

/** Answers questions from passages. Must not be called within a transaction: it is slow. */
export interface Answerer {
  answer(question: Question, signal: AbortSignal): Promise<Answer>;
}

export interface Question {
  readonly workspaceId: string;
  readonly text: string;
  /** The part that the asker has written, if others wrote the rest. This part alone chooses skills. */
  readonly ownText?: string;
  /** Earlier messages of the conversation, oldest first. */
  readonly history: readonly PastMessage[];
  readonly strictness: Strictness;
  /** How many chunks may support the answer, 1 to 10. */
  readonly topK: number;
  /** Restricts the search to these documents. */
  readonly documentIds?: readonly string[];
  /** Tags of the gated documents that this asker may see. Documents without tags are public. */
  readonly audience: readonly string[];
  readonly settings: WorkspaceSettings;
  /** The conversation of the question. Absent for API queries, which must not change anything. */
  readonly turn?: Turn;
  /** Results of skills, used as sources in addition to the documents. */
  readonly lookups?: readonly Lookup[];
  /** For a language model, 0 to 1. Default: 0. */
  readonly temperature?: number;
  /**
   * Behaviour when the language model fails: with `throw` a `Problem` is thrown, for callers that can retry; `extract`,
   * the default, answers in the documents' own sentences.
   */
  readonly whenModelFails?: "throw" | "extract";
  /** Called with each piece of the answer's text while it is generated. */
  readonly onToken?: (delta: string) => void;
  /** The customer's language. Absent: recognised by the messages. */
  readonly language?: SpokenLanguage;
  /** True: an administrator tries the question. Skills that may change something are not called. */
  readonly isTrial?: true;
  /** Called with each step that led to the answer. */
  readonly onTrace?: (trace: AnswerTrace) => void;
}

export interface PastMessage {
  readonly role: "user" | "assistant" | "agent";
  readonly content: string;
  /** The passages that an answer cites, or that are near to what a refusal did not answer. */
  readonly sources?: readonly Pick<Source, "title" | "chunk" | "score">[];
  readonly isRefusal?: true;
}

/** A step on the way to an answer, for administrators. */
export type AnswerTrace =
  | { readonly kind: "small_talk" }
  | { readonly kind: "skills"; readonly names: readonly string[]; readonly chosenBy: "phrase" | "model" }
  /** The language model put the question in other words, to search with them too. */
  | { readonly kind: "further_search"; readonly queries: readonly string[] }
  /** A reranker chose the passages that the language model reads, among so many. */
  | { readonly kind: "choice"; readonly among: number }
  | {
      readonly kind: "search";
      /** How much of the question the passages cover, 0 to 1. */
      readonly evidence: number;
      /** Below this, no answer is given. */
      readonly floor: number;
      /** Best first. */
      readonly passages: readonly TracedPassage[];
    };

export interface TracedPassage {
  readonly id: string;
  readonly documentId: string;
  readonly position: number;
  readonly title: string;
  /** Empty for an uploaded file that has no address. */
  readonly url: string;
  readonly text: string;
  /** 0 to 1. */
  readonly score: number;
  /** Whether the answer cites it. */
  readonly used: boolean;
}

export interface Turn {
  readonly conversationId: string;
  /** Sequence number of the first message that is answered. Stays the same over retries. */
  readonly firstSeq: number;
  /** The asker, when their identity is verified. */
  readonly user: Asker | null;
}

/** A verified user. Holds only data that the company has signed. */
export interface Asker {
  readonly id: string;
  readonly email: string | null;
  readonly plan: string | null;
}

/** The result of a skill. */
export interface Lookup {
  /** Name of the skill. */
  readonly skill: string;
  readonly title: string;
  /** One line per field. */
  readonly text: string;
  /** The result in the words of the skill's template. */
  readonly message: string;
}

export interface Answer {
  /** Markdown. */
  readonly text: string;
  /** The chunks that the text is taken from, or the nearest ones when there is no answer. At most 5. */
  readonly sources: readonly Source[];
  readonly confidence: Confidence;
  /** False when the text says that the documents have no answer. */
  readonly answered: boolean;
  readonly skillsFired: readonly string[];
  readonly tokensUsed: number;
  /** Calls of skills, for the audit log. */
  readonly calls?: readonly SkillCall[];
  /** Contact details that the customer gave, to be stored. */
  readonly lead?: { readonly name?: string; readonly email?: string; readonly phone?: string };
  /** The reason to hand the conversation over to agents. Absent when none is needed. */
  readonly escalate?: string;
}

/** Judges how angry a customer's message is. Returns 0 to 1. */
export type JudgeAnger = (text: string, by: WorkspaceSettings["angerJudgedBy"], signal: AbortSignal) => Promise<number>;
