import type { Channel } from "#domain/conversation/message.ts";

/** Everything that a channel adapter has to keep; the suite says each as a sentence. */
export const ruleNames = [
  "stored-before-acknowledged",
  "accepted-once",
  "forged",
  "to-the-letter",
  "in-order",
  "own-echo",
  "same-thread",
  "nothing-cut",
  "refused-send",
  "limited-send",
  "unknown-send",
  "resumes",
  "files-in",
  "files-out",
  "no-secrets",
] as const;
export type RuleName = (typeof ruleNames)[number];

/** How the suite plays an adapter's platform. Each adapter exports one as default from `test/conformance.ts`. */
export interface ConformanceTarget {
  readonly channel: Channel;
  /** Rules that the platform makes impossible to keep, or that do not apply to it, and why. */
  readonly cannot: Readonly<Partial<Record<RuleName, string>>>;
  /** A program that the platform needs and that is not installed here, and how to install it. */
  readonly missing?: string | undefined;
  start(): Promise<FakePlatform>;
}

export interface CustomerMessage {
  /** Each customer has a thread of their own. */
  readonly customer: string;
  /** The platform's id of the message, as the platform would make it of this. */
  readonly id: string;
  readonly text: string;
  /** What the customer sends along. */
  readonly files?: readonly SentFile[];
}

export interface SentFile {
  readonly name: string;
  readonly mediaType: string;
  readonly bytes: Buffer;
}

/** What comes of the next platform calls. */
export type Misbehaviour =
  /** Refuses one call for good. */
  | "refuse"
  /** Refuses one call and says when to come again. */
  | "limit"
  /** Takes one message, shows it, and breaks the connection before it answers. */
  | "hang_up_after_commit"
  /** Breaks the connection when it is asked for one message, and does not take it. */
  | "hang_up"
  /** Cannot be reached for one call. */
  | "unreachable";

/** A server that the adapter's real client talks to, or a client of our own server, with the customers behind it. */
export interface FakePlatform {
  /** The account's configuration that leads to this platform, secrets included. */
  readonly config: Readonly<Record<string, unknown>>;
  /** What must never be seen: credentials, tokens, signatures. */
  readonly secrets: () => readonly string[];
  /** How long a "limit" asks to wait. */
  readonly retryAfterMs: number;
  /** The program runs and knows the account. */
  connect(program: Program): Promise<void>;
  /** Whether the program has told the platform where to deliver to, or has connected to it, where it does that itself. */
  connected?(): boolean;
  /** Delivers as the platform does; true when it counts as received, false when it would be delivered again. */
  deliver(message: CustomerMessage): Promise<boolean>;
  /** The customer has written this, and it does not come before it is delivered. Not where there is nothing to do for that. */
  keepBack?(message: CustomerMessage): Promise<void>;
  /** The customer writes though nothing reaches the program: it comes by itself later. Not where it is delivered again. */
  write?(message: CustomerMessage): Promise<void>;
  /** Delivers what somebody else made up; true when it was taken. */
  forge(message: CustomerMessage): Promise<boolean>;
  /** Delivers what the program itself has sent to this customer, where a platform does that. */
  echo(customer: string): Promise<void>;
  /** What the program has shown this customer, oldest first, as plain text; a text shown twice is there twice. */
  shown(customer: string): Promise<readonly string[]>;
  /** The titles of the sources of the last message, where they are shown beside its text and not in it. */
  sources?(customer: string): Promise<readonly string[]>;
  /** The same where several copies of a message are shown once: every one that was taken. */
  transmitted?(customer: string): Promise<readonly string[]>;
  /** The files that the program has brought to this customer, oldest first. Not where a channel carries none. */
  received?(customer: string): Promise<readonly SentFile[]>;
  /** What a customer's file is called in the end where the platform tells no names: the n-th of its message, from 0. */
  fileName?(file: SentFile, at: number): string;
  misbehave(how: Misbehaviour): void;
  /** Refuses the next change of what was sent. Not where nothing can be changed, or nobody is asked for it. */
  refuseChange?(): void;
  /** Breaks what connects this customer, or the platform, with the program. */
  away(customer: string): Promise<void>;
  /** Restores it, the way that the platform's client or the program does that by itself. */
  back(customer: string): Promise<void>;
  close(): Promise<void>;
}

export interface Program {
  /** `http://127.0.0.1:PORT` */
  readonly url: string;
  readonly workspaceId: string;
  readonly accountId: string;
  /** Moves the program's time on, as far as it takes to look after a connection; or by so much. */
  tick(ms?: number): Promise<void>;
  /** Whether an event with this id is stored; for platforms that are never told so. */
  stored(externalId: string): Promise<boolean>;
  /** A key of the API, for customers whose channel that is. */
  readonly key?: string;
  /** Where webhooks of this account go to. */
  readonly webhookUrl: string;
  /** The program's clock, which platforms that sign with the time have to go by. */
  now(): number;
}
