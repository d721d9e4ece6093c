import type { Channel } from "#domain/conversation/message.ts";

/** Rules that every channel adapter has to follow; the suite has a test title for each. */
export const ruleNames = [
  "stored-before-acknowledged",
  "accepted-once",
  "forged",
  "to-the-letter",
  "in-order",
  "own-echo",
  "same-thread",
  "nothing-cut",
  "as-typed",
  "refused-send",
  "limited-send",
  "unknown-send",
  "resumes",
  "files-in",
  "files-out",
  "reactions",
  "no-secrets",
] as const;
export type RuleName = (typeof ruleNames)[number];

/** Plays an adapter's platform for the suite. Each adapter exports one as default from `test/conformance.ts`. */
export interface ConformanceTarget {
  readonly channel: Channel;
  /** Rules that the platform makes impossible or that do not apply to it, each with the reason. */
  readonly cannot: Readonly<Partial<Record<RuleName, string>>>;
  /** A program that the platform needs and that is not installed, with a hint how to install it. */
  readonly missing?: string | undefined;
  start(): Promise<FakePlatform>;
}

export interface CustomerMessage {
  /** Each customer has a thread of their own. */
  readonly customer: string;
  /** The platform's id of the message is derived from this. */
  readonly id: string;
  readonly text: string;
  readonly files?: readonly SentFile[];
  /** It answers the program's newest message with this text. Only where {@link FakePlatform.answersOne}. */
  readonly answers?: string;
}

export interface SentFile {
  readonly name: string;
  readonly mediaType: string;
  readonly bytes: Buffer;
}

/** A fault of the next platform calls. */
export type Misbehaviour =
  /** Refuses one call permanently. */
  | "refuse"
  /** Refuses one call with a retry time. */
  | "limit"
  /** Accepts and shows one message, and closes the connection before it answers. */
  | "hang_up_after_commit"
  /** Closes the connection on one message without accepting it. */
  | "hang_up"
  /** Is unreachable for one call. */
  | "unreachable";

/** A server that the adapter's real client calls, or a client of our own server, with its customers. */
export interface FakePlatform {
  /** The account's configuration for this platform, secrets included. */
  readonly config: Readonly<Record<string, unknown>>;
  /** Credentials, tokens and signatures that must never appear in logs or errors. */
  readonly secrets: () => readonly string[];
  /** The retry time of a "limit". */
  readonly retryAfterMs: number;
  /** Called when the program runs and has the account. */
  connect(program: Program): Promise<void>;
  /** Whether the program has registered its webhook or has connected; absent where it does neither by itself. */
  connected?(): boolean;
  /** Delivers as the platform does; true when it counts as received, false when the platform would deliver it again. */
  deliver(message: CustomerMessage): Promise<boolean>;
  /**
   * The customer writes this message, which stays undelivered until `deliver`. Absent where no preparation is needed.
   */
  keepBack?(message: CustomerMessage): Promise<void>;
  /**
   * The customer writes while the program is unreachable, and the message arrives later by itself. Absent where the
   * platform retries deliveries.
   */
  write?(message: CustomerMessage): Promise<void>;
  /** Delivers with a forged signature; true when the program accepts it. */
  forge(message: CustomerMessage): Promise<boolean>;
  /** Delivers the program's own messages to this customer, where the platform does that. */
  echo(customer: string): Promise<void>;
  /** The program's messages to this customer, oldest first, as plain text. A message shown twice is listed twice. */
  shown(customer: string): Promise<readonly string[]>;
  /** The titles of the last message's sources, where they are shown separately from its text. */
  sources?(customer: string): Promise<readonly string[]>;
  /** Every accepted copy, where the platform shows several copies of a message as one. */
  transmitted?(customer: string): Promise<readonly string[]>;
  /** The files that the program has sent to this customer, oldest first. Absent where the channel carries no files. */
  received?(customer: string): Promise<readonly SentFile[]>;
  /** The stored name of a customer's file where the platform sends no names; `at`: its index in the message, from 0. */
  fileName?(file: SentFile, at: number): string;
  /** Customers can answer one message of the program. */
  readonly answersOne?: true;
  /**
   * The customer's message that the program's newest message with this text answers, as the platform shows it. Absent
   * where the text begins with a quote.
   */
  answered?(customer: string, text: string): Promise<string | undefined>;
  /** The customer reacts to the program's newest message with this text. Absent where customers cannot react. */
  react?(customer: string, text: string, emoji: string): Promise<void>;
  /** The company's reactions to this customer's messages. Absent where agents cannot react. */
  reactions?(customer: string): readonly string[];
  misbehave(how: Misbehaviour): void;
  /** Refuses the next edit of a sent message. Absent where edits do not exist or are not calls to the platform. */
  refuseChange?(): void;
  /** Cuts the connection of this customer, or of the platform, to the program. */
  away(customer: string): Promise<void>;
  /** Restores the connection as the platform's client or the program would by itself. */
  back(customer: string): Promise<void>;
  close(): Promise<void>;
}

export interface Program {
  /** `http://127.0.0.1:PORT` */
  readonly url: string;
  readonly workspaceId: string;
  readonly accountId: string;
  /** Moves the program's clock by `ms`, or by as much as connections need to notice a change. */
  tick(ms?: number): Promise<void>;
  /** Whether an event with this id is stored; for platforms that get no acknowledgement. */
  stored(externalId: string): Promise<boolean>;
  /** A key of the API, for the channel `api`. */
  readonly key?: string;
  /** The address of this account's webhook. */
  readonly webhookUrl: string;
  /** The program's clock, for platforms that sign the time. */
  now(): number;
}
