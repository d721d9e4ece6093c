import Type from "typebox";
import type { Static } from "typebox";
import { Compile } from "typebox/compile";
import type { Validator } from "typebox/compile";
import type { ThreadReaction } from "#channels/thread.ts";
import type { Block } from "#channels/text/markdown.ts";
import { agentReactions } from "#domain/conversation/reaction.ts";
import type { Role, Score, Source } from "#domain/conversation/message.ts";

/** The frames of the socket, one JSON object each. README.md describes them. The browser imports the types only. */

const clientId = Type.String({ pattern: "^[A-Za-z0-9_-]{8,64}$" });
const seq = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });

const hello = Type.Object({
  kind: Type.Literal("hello"),
  token: Type.Optional(Type.String({ maxLength: 2_048 })),
  /** The conversation that `lastSeq` counts in. */
  conversation: Type.Optional(Type.String({ maxLength: 64 })),
  lastSeq: seq,
  /** How many of the newest messages a browser without history wants. */
  newest: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
  /** The newest message that the customer has seen. */
  seen: Type.Optional(seq),
  identity: Type.Optional(
    Type.Object({
      user_id: Type.Optional(Type.String({ minLength: 1, maxLength: 190 })),
      hash: Type.Optional(Type.String({ minLength: 1, maxLength: 256 })),
      user_token: Type.Optional(Type.String()),
      name: Type.Optional(Type.String({ maxLength: 200 })),
      email: Type.Optional(Type.String({ maxLength: 254 })),
    }),
  ),
  page: Type.Optional(Type.String({ maxLength: 2_048 })),
});

/** Overlong text is accepted here, so that its refusal can name the `clientId`. */
const send = Type.Object({
  kind: Type.Literal("send"),
  clientId,
  text: Type.String(),
  /** Ids of uploads. With files, the text may be empty. */
  files: Type.Optional(Type.Array(Type.String({ pattern: "^file_[0-9a-z]{26}$" }), { maxItems: 20 })),
  /** The id of the message that this one answers. */
  refersTo: Type.Optional(Type.String({ pattern: "^msg_[0-9a-z]{26}$" })),
  /** The text is one of the choices that the bot offered. */
  chosen: Type.Optional(Type.Literal(true)),
});
const resume = Type.Object({ kind: Type.Literal("resume"), lastSeq: seq });
const older = Type.Object({
  kind: Type.Literal("older"),
  before: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
});
const typing = Type.Object({ kind: Type.Literal("typing") });
const lead = Type.Object({
  kind: Type.Literal("lead"),
  clientId,
  name: Type.Optional(Type.String({ maxLength: 200 })),
  email: Type.Optional(Type.String({ maxLength: 254 })),
});
const seen = Type.Object({ kind: Type.Literal("seen"), seq });
/** The customer's opinion of an answer; null: taken back. */
const feedback = Type.Object({
  kind: Type.Literal("feedback"),
  message: Type.String({ pattern: "^msg_[0-9a-z]{26}$" }),
  value: Type.Union([Type.Literal("up"), Type.Literal("down"), Type.Null()]),
});
/** The customer's rating in reply to a survey. The first score counts; a comment may follow with it. */
const rating = Type.Object({
  kind: Type.Literal("rating"),
  message: Type.String({ pattern: "^msg_[0-9a-z]{26}$" }),
  score: Type.Union([Type.Literal(1), Type.Literal(2), Type.Literal(3), Type.Literal(4), Type.Literal(5)]),
  comment: Type.Optional(Type.String({ maxLength: 2_000 })),
});
/** The customer's reaction to a message of the bot or an agent; null: taken back. */
const reaction = Type.Object({
  kind: Type.Literal("reaction"),
  message: Type.String({ pattern: "^msg_[0-9a-z]{26}$" }),
  emoji: Type.Union([Type.Enum(agentReactions), Type.Null()]),
});
const ping = Type.Object({ kind: Type.Literal("ping") });

export type HelloFrame = Static<typeof hello>;
export type SendFrame = Static<typeof send>;
export type LeadFrame = Static<typeof lead>;
export type FeedbackFrame = Static<typeof feedback>;
export type RatingFrame = Static<typeof rating>;
export type ReactionFrame = Static<typeof reaction>;
export type ClientFrame =
  | HelloFrame
  | SendFrame
  | Static<typeof resume>
  | Static<typeof older>
  | Static<typeof typing>
  | LeadFrame
  | Static<typeof seen>
  | FeedbackFrame
  | RatingFrame
  | ReactionFrame
  | Static<typeof ping>;

/** How the chat presents the workspace. */
export interface Branding {
  readonly title: string;
  readonly botName: string;
  readonly greeting: string;
  readonly color: string;
  readonly leadCapture: "off" | "on_handover";
  /** Files that a customer may send; null: none. `types`: as in an `accept` attribute; empty: all. */
  readonly files: { readonly bytesMax: number; readonly types: readonly string[] } | null;
}

/** The answer to a successful upload. */
export interface UploadedFile {
  readonly id: string;
  readonly name: string;
  readonly mediaType: string;
  readonly bytes: number;
}

export type UploadRefusal =
  | "forbidden"
  | "bad_token"
  | "limited"
  | "too_large"
  | "type"
  | "quota"
  | "full"
  | "unavailable";

export interface FileFrame {
  readonly name: string;
  readonly bytes: number | null;
  /** Relative to where the script is loaded from; null: not available (yet). */
  readonly url: string | null;
  /** Whether it may be shown as an image. */
  readonly preview: boolean;
}

/** The party that answers now. */
export interface ConversationStatus {
  readonly handledBy: "assistant" | "waiting" | "agent" | "resolved";
  readonly agentName: string | null;
  readonly hasEmail: boolean;
}

export interface QuotedMessage {
  readonly id: string | null;
  readonly role: Role | null;
  readonly author: string | null;
  /** The beginning of its text. */
  readonly text: string;
}

export interface MessageFrame {
  readonly kind: "message";
  readonly seq: number;
  /** `seq` of the message before it on this socket. Greater than the newest `seq` that the browser has: one was missed. */
  readonly prev: number;
  readonly id: string;
  readonly role: Role;
  readonly author: string | null;
  /** Picture of the author, relative to where the script is loaded from. */
  readonly avatar?: string;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  readonly content: readonly Block[];
  readonly sources: readonly Source[];
  readonly files?: readonly FileFrame[];
  /** The answer is not certainly from the sources; they are the closest matches. */
  readonly uncertain?: true;
  /** On answers that the customer can rate: their opinion so far. */
  readonly feedback?: "up" | "down" | null;
  /** "I don't know": titles in a numbered list at its end can be chosen. */
  readonly choices?: true;
  /** On surveys: the rating so far. */
  readonly rating?: { readonly score: Score; readonly commented: boolean } | null;
  /** The company's reaction to a customer's message, and the customer's to any other. */
  readonly reaction?: ThreadReaction | null;
  /** The message that it answers. */
  readonly refersTo?: QuotedMessage;
  /** On messages of this session: the id that the browser gave it. */
  readonly clientId?: string;
  /** Deleted; it has no content. */
  readonly deleted?: true;
}

export interface ReadyFrame extends ConversationStatus {
  readonly kind: "ready";
  readonly token: string;
  readonly session: string;
  readonly conversation: string | null;
  /** Messages after this one follow. Where the browser has more, it drops its history. */
  readonly after: number;
  readonly lastSeq: number;
  readonly verified: boolean;
  readonly face: Branding;
}

export type RefusalCode = "empty" | "too_long" | "limited" | "unavailable" | "invalid_email" | "files_gone";

/** All messages between two numbers. `after` 0: there are none before. */
export interface OlderFrame {
  readonly kind: "older";
  readonly before: number;
  readonly after: number;
  readonly messages: readonly MessageFrame[];
}

/** A message is stored. */
export interface AckFrame {
  readonly kind: "ack";
  readonly clientId: string;
  readonly seq: number | null;
  readonly id: string | null;
}

export type ServerFrame =
  | ReadyFrame
  | MessageFrame
  | OlderFrame
  | AckFrame
  /** The current version of a message that was sent before. A `deleted` one must not be shown any more. */
  | { readonly kind: "changed"; readonly message: MessageFrame }
  | ({ readonly kind: "standing" } & ConversationStatus)
  | { readonly kind: "nack"; readonly clientId: string; readonly code: RefusalCode; readonly detail: string }
  | { readonly kind: "typing"; readonly role: "assistant" | "agent"; readonly name: string | null }
  /** The opinion is stored. */
  | FeedbackFrame
  /** The reaction is stored. */
  | ReactionFrame
  /** The rating as it is stored. */
  | { readonly kind: "rated"; readonly message: string; readonly score: Score; readonly commented: boolean }
  | { readonly kind: "lead_saved"; readonly clientId: string }
  | { readonly kind: "error"; readonly code: ErrorCode; readonly detail: string }
  | { readonly kind: "pong" };

/** The answer to a request that exchanges frames over HTTP. */
export interface ExchangeAnswer {
  readonly frames: readonly ServerFrame[];
  /** The code with which the server would have closed a socket; null: the browser goes on. */
  readonly close: number | null;
}

export type ErrorCode = "bad_frame" | "identity_rejected" | "limited" | "unavailable";

/** Private close codes. All others are those of the WebSocket protocol. */
export const closeCodes = { badFrames: 4400, badToken: 4401, expired: 4402, forbidden: 4403, limited: 4429 } as const;

const validators = new Map<string, Validator<Record<never, never>>>(
  Object.entries({ hello, send, resume, older, typing, lead, seen, feedback, rating, reaction, ping }).map(
    ([kind, schema]) => [kind, Compile(schema)],
  ),
);

export type ParsedFrame = { readonly frame: ClientFrame } | { readonly error: string };

/** Checks a frame. `error` is written for the developer of the client. */
export function parseFrame(data: string): ParsedFrame {
  let value: unknown;
  try {
    value = JSON.parse(data);
  } catch {
    return { error: "A frame is one JSON object." };
  }
  if (typeof value !== "object" || value === null || !("kind" in value) || typeof value.kind !== "string") {
    return { error: 'A frame is a JSON object with a "kind".' };
  }
  const validator = validators.get(value.kind);
  if (validator === undefined) return { error: `"kind" is one of ${[...validators.keys()].join(", ")}.` };
  if (isFrame(value, validator)) return { frame: value };
  const first = validator.Errors(value)[0];
  return {
    error: `${value.kind}${(first?.instancePath ?? "").replaceAll("/", ".")} ${first?.message ?? "is not valid"}.`,
  };
}

function isFrame(value: unknown, validator: Validator<Record<never, never>>): value is ClientFrame {
  return validator.Check(value);
}
