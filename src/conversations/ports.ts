import type { CompiledQuery, Kysely, Transaction } from "kysely";
import type {
  Account,
  Attempt,
  Clock,
  Log,
  OutboundMessage,
  Handover,
  OutboundNote,
  Part,
  Receipt,
  ReplyWindow,
  SendContext,
  ThreadContext,
  ThreadStanding,
  TypingParty,
} from "#channels/contract.ts";
import type { Desk } from "#channels/desk/contract.ts";
import type { Status } from "#domain/conversation/status.ts";
import type { Channel, Confidence, Source } from "#domain/conversation/message.ts";
import type { SkillCall } from "#domain/workspace/skill.ts";
import { sizeText } from "#domain/files.ts";
import { Problem } from "#domain/problem.ts";
import type { SlaState } from "#domain/conversation/sla.ts";
import type { Strictness, WorkspaceSettings } from "#domain/workspace/settings.ts";
import type { Database } from "#database/schema/tables.ts";

export type { Clock, Log };

export type Reader = Kysely<Database>;
export type Tx = Transaction<Database>;

/** The database. The schema and its queries are shared by both dialects; what differs is behind this. */
export interface Store {
  readonly dialect: "sqlite" | "mysql";
  /** For reading what is committed. Refuses to write, and refuses use inside {@link write}. */
  readonly read: Reader;
  /** Runs a statement that {@link read} has compiled; under the same rules, and past what builds statements. */
  select<R>(query: CompiledQuery<R>): Promise<readonly R[]>;
  /**
   * Runs `work` in a transaction and resolves when it is on the disk, or as its options say. Works that wait at the same
   * time share a transaction, a savepoint each: the failure of one undoes that one alone. `work` may run again when the
   * database asks for it, so it has no effect but on `tx`; it must not await anything but `tx`.
   */
  write<T>(work: (tx: Tx) => Promise<T>, options?: WriteOptions): Promise<T>;
  /**
   * For what ends a lease or refunds a count. Resolves after the first attempt. If the database failed, further attempts
   * follow in the background until one succeeds or `ms` are over. `work` may be done twice.
   */
  writeWhenBack(work: (tx: Tx) => Promise<void>, options: WhenBackOptions): Promise<void>;
  /** Whether nothing is written, or waits to be. */
  isCalm(): boolean;
  close(): Promise<void>;
}

export interface WriteOptions {
  /**
   * False: resolves before the disk has it. It outlives this process, but a loss of power may take what was written in
   * the last seconds. For what is then done again, or found out. Database servers flush as they are set to.
   */
  readonly flush?: boolean;
}

export interface WhenBackOptions {
  readonly ms: number;
  /** Called when it was not written in that time. */
  readonly failed: (error: unknown) => void;
}

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
/** By which account, and after how long, a reply goes to a visitor who has not looked at it. */
export interface FollowUp {
  readonly accountId: string;
  readonly afterMs: number;
}

/** The adapters, by account. */
export interface Channels {
  /** Loads the account's adapter; everything else here needs it loaded. Rejects when the account or its adapter is gone. */
  ready(account: Pick<Account, "id">): Promise<void>;
  render(account: Pick<Account, "id">, message: OutboundMessage): readonly Part[];
  send(account: Pick<Account, "id">, part: Part, context: SendContext): Promise<Receipt>;
  reconcile(
    account: Pick<Account, "id">,
    key: string,
    context: SendContext,
    attempt: Attempt,
  ): Promise<Receipt | null | "cannot_tell">;
  /** Whether there is anybody to ask: otherwise {@link reconcile} cannot tell. */
  reconciles(account: Pick<Account, "id">): boolean;
  idempotentSend(account: Pick<Account, "id">): boolean;
  /** The largest file that the account's channel carries; 0 where it carries none. */
  fileBytesMax(account: Pick<Account, "id">): number;
  /** Undefined where customers can be written to at any time. */
  window(account: Pick<Account, "id">): ReplyWindow | undefined;
  /** Whether nobody but the customer is known to read this thread. */
  isPrivate(account: Pick<Account, "id">, thread: string): boolean;
  /** Undefined where the channel's adapter cannot fetch files. */
  fetchFile(
    account: Pick<Account, "id">,
    ref: string,
    signal: AbortSignal,
  ): Promise<AsyncIterable<Uint8Array>> | undefined;
  /** Whether the account's adapter is loaded in this process. */
  loaded(account: Pick<Account, "id">): boolean;
  /** The workspace's account that takes replies to visitors who have left, loaded; undefined where there is none. */
  followUp(workspaceId: string): Promise<FollowUp | undefined>;
  typing(account: Pick<Account, "id">, thread: string, who: TypingParty): void;
  /** The same, on platforms only when it has not been ended in a moment: most answers are there before it would be seen. */
  typingSoon(account: Pick<Account, "id">, thread: string, who: TypingParty): () => void;
  /** Whether a part that was sent can be changed, or taken back. */
  can(account: Pick<Account, "id">, what: "edit" | "remove"): boolean;
  edit(account: Pick<Account, "id">, part: Part, externalId: string, context: SendContext): Promise<void>;
  remove(account: Pick<Account, "id">, externalId: string, context: SendContext): Promise<void>;
  /** Nothing happens where conversations have no state of their own on the platform. */
  setState(account: Pick<Account, "id">, state: ThreadStanding, context: ThreadContext): Promise<void>;
  /** Nothing happens where the platform shows notes to nobody. */
  addNote(account: Pick<Account, "id">, note: OutboundNote, context: ThreadContext): Promise<void>;
  /** Nothing happens where nobody works on the platform. */
  handOver(account: Pick<Account, "id">, handover: Handover, context: ThreadContext): Promise<void>;
  /** The agents' desk on this account; undefined where there is none. */
  desk(account: Pick<Account, "id">): Desk | undefined;
  /** The same for taking back what it shows, also where the account is disabled or its workspace is being deleted. */
  deskToErase(account: Pick<Account, "id">): Promise<Desk | undefined>;
  /** The account of this name; undefined where there is none, or it is disabled. */
  named(workspaceId: string, name: string): Promise<{ readonly id: string } | undefined>;
}

export interface FileName {
  readonly workspaceId: string;
  readonly id: string;
}

/** More bytes than are taken. */
export class FileTooLarge extends Error {
  constructor(bytesMax: number) {
    super(`it is larger than ${sizeText(bytesMax)}, which is the most that is taken`);
    this.name = "FileTooLarge";
  }
}

/** The disk is nearly full. It passes when there is room. */
export const isStorageFull = (error: unknown): boolean => error instanceof Problem && error.code === "storage_full";

/** The bytes of files. What is known of them stands in the database. */
export interface Files {
  /** Of one file, and of all files of a message together. */
  readonly bytesMax: number;
  readonly messageBytesMax: number;
  /**
   * Stores what comes, whole or not at all; the same name again replaces it. `max` can only lower {@link bytesMax}. Rejects
   * with {@link FileTooLarge}, and with Problem storage_full before anything is read. `mediaType` is what the bytes say, whatever was declared.
   */
  store(
    name: FileName,
    source: AsyncIterable<Uint8Array>,
    declaredType: string,
    max: number,
    signal: AbortSignal,
  ): Promise<{ readonly bytes: number; readonly sha256: string; readonly mediaType: string }>;
  /** Rejects with Problem storage_full where a file of this size has no room. */
  requireRoom(bytes: number): Promise<void>;
  /** Rejects where it is not stored (any more). */
  open(name: FileName): Promise<AsyncIterable<Uint8Array>>;
  /** Removing what is not there is no failure. */
  remove(name: FileName): Promise<void>;
  /** All that is stored, for finding what belongs to nothing. */
  stored(): AsyncIterable<FileName & { readonly storedAt: number }>;
  /** An address by which anybody who has it gets the file, for so long. */
  link(id: string, lifetimeMs: number): string;
  /** Null: the token is not ours, or was changed. */
  ofLink(token: string): { readonly id: string; readonly expired: boolean } | null;
  /** Platforms' names for files are stored encrypted: some of them open the file. */
  seal(ref: string): string;
  unseal(sealed: string): string;
}

/** Whether so many events come at once that their senders wait, and everything that can wait gives way to storing them. */
export interface Rush {
  isOn(): boolean;
  /** Called each time that it is over. */
  onEnd(listener: () => void): void;
}

/** Signals between parts of the program, in one process or several. Hints only: the truth is in the database. */
export interface Fanout {
  publish(topic: string, message: string): void;
  subscribe(topic: string, listener: (message: string) => void): () => void;
  close(): Promise<void>;
}

/** Tells the workers, of whichever process, that these lanes have rows, the earliest due at `dueAt`. */
export interface Wake {
  notify(lanes: readonly string[], dueAt: number): void;
}

/** What a list of conversations is narrowed by; all of it must hold. Ids are as `domain/ids` parses them. */
export interface ConversationFilter {
  readonly workspaceId: string;
  readonly channel?: Channel;
  readonly status?: Status;
  readonly slaState?: SlaState;
  readonly tags?: readonly string[];
  /** Epoch milliseconds, both exclusive, of the start. */
  readonly since?: number;
  readonly until?: number;
  /** The customer's whole address, in any case. */
  readonly email?: string;
}

/** A place in the list, whose order is `startedAt` descending, then id descending. */
export interface ListPosition {
  readonly startedAt: number;
  readonly id: string;
}

/** Full text over conversations, for `q`. */
export interface ConversationSearch {
  /**
   * Brings the text of conversations up to their newest message, with edits and deletions. May come after the
   * transaction that stored the messages: until then their words are not found.
   */
  index(tx: Tx, conversationIds: readonly string[]): Promise<void>;
  /**
   * Status, SLA state, tags or the customer's address have changed: called in the same transaction, after the rows are
   * written. Without it, a search that is narrowed by what changed misses the conversation until the next `index`.
   */
  refilter(tx: Tx, conversationIds: readonly string[]): Promise<void>;
  /** The conversations are deleted in this transaction. */
  remove(tx: Tx, conversationIds: readonly string[]): Promise<void>;
  /**
   * Deletes removed conversations from a search engine outside at once, whichever index of it holds them. False: it does
   * not answer now, and does it with the work that `remove` has queued. Absent where there is no such engine.
   */
  erase?(workspaceId: string, conversationIds: readonly string[]): Promise<boolean>;
  /**
   * Removes what an index goes on holding of removed text, a bounded step at a time; true while there is more. `first`:
   * the first step. Absent where removed text is gone at once.
   */
  purge?(tx: Tx, first: boolean): Promise<boolean>;
  /**
   * At most `limit` conversations after `before` in the list's order that satisfy the filter and hold every word of
   * `text`; a phrase is found within one message, words anywhere in the conversation. Text without a word finds
   * nothing, and any text is taken as words: there are no operators and no errors of syntax. Throws Problem
   * `search_unavailable` when it would take too long.
   */
  find(
    filter: ConversationFilter,
    text: string,
    before: ListPosition | undefined,
    limit: number,
  ): Promise<readonly ListPosition[]>;
  /**
   * The same for a filter with several tags, each of them on many conversations. Absent where the search has no better
   * way than the list's own.
   */
  findTagged?(
    filter: ConversationFilter,
    before: ListPosition | undefined,
    limit: number,
  ): Promise<readonly ListPosition[]>;
}
