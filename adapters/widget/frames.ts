import Type from "typebox";
import type { Static } from "typebox";
import { Compile } from "typebox/compile";
import type { Validator } from "typebox/compile";
import type { Block } from "#channels/text/markdown.ts";
import type { Role, Source } from "#domain/conversation/message.ts";

/** What goes over the socket, one JSON object a frame. README.md describes each; the browser imports the types alone. */

const clientId = Type.String({ pattern: "^[A-Za-z0-9_-]{8,64}$" });
const seq = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });

const hello = Type.Object({
  kind: Type.Literal("hello"),
  token: Type.Optional(Type.String({ maxLength: 2_048 })),
  /** The conversation that `lastSeq` counts in. */
  conversation: Type.Optional(Type.String({ maxLength: 64 })),
  lastSeq: seq,
  /** Where the browser has nothing yet: as many of the newest messages are enough. */
  newest: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
  /** The newest message that was on a screen. */
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

/** Longer text than a message may have passes here, so that its refusal can name its `clientId`. */
const send = Type.Object({
  kind: Type.Literal("send"),
  clientId,
  text: Type.String(),
  /** Uploaded before; the text may then be empty. */
  files: Type.Optional(Type.Array(Type.String({ pattern: "^file_[0-9a-z]{26}$" }), { maxItems: 20 })),
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
const ping = Type.Object({ kind: Type.Literal("ping") });

type Hello = Static<typeof hello>;
export type ClientFrame =
  | Hello
  | Static<typeof send>
  | Static<typeof resume>
  | Static<typeof older>
  | Static<typeof typing>
  | Static<typeof lead>
  | Static<typeof seen>
  | Static<typeof ping>;
export type HelloFrame = Hello;

export interface Face {
  readonly title: string;
  readonly botName: string;
  readonly greeting: string;
  readonly color: string;
  readonly leadCapture: "off" | "on_handover";
  /** Files that a customer may send; null: none. `types` as an `accept` attribute has them, empty: all. */
  readonly files: { readonly bytesMax: number; readonly types: readonly string[] } | null;
}

/** What an upload is answered with. */
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
  /** Relative to where the script came from; null: not there (yet). */
  readonly url: string | null;
  /** May be shown as a picture. */
  readonly preview: boolean;
}

export interface Standing {
  readonly handledBy: "assistant" | "waiting" | "agent" | "resolved";
  readonly agentName: string | null;
  readonly hasEmail: boolean;
}

export interface MessageFrame {
  readonly kind: "message";
  readonly seq: number;
  /** The `seq` of the message before it on this socket: another than the newest one shown means that one was missed. */
  readonly prev: number;
  readonly id: string;
  readonly role: Role;
  readonly author: string | null;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  readonly content: readonly Block[];
  readonly sources: readonly Source[];
  readonly files?: readonly FileFrame[];
  /** The answer is not taken from the sources with any certainty: they are what came nearest. */
  readonly uncertain?: true;
  /** On the customer's own messages: the id that the browser gave it. */
  readonly clientId?: string;
  /** It was taken back, and there is nothing in it. */
  readonly deleted?: true;
}

export interface ReadyFrame extends Standing {
  readonly kind: "ready";
  readonly token: string;
  readonly session: string;
  readonly conversation: string | null;
  /** Messages after this one follow. Less than the browser has: it begins anew. */
  readonly after: number;
  readonly lastSeq: number;
  readonly verified: boolean;
  readonly face: Face;
}

export type RefusalCode = "empty" | "too_long" | "limited" | "unavailable" | "invalid_email" | "files_gone";

export type ServerFrame =
  | ReadyFrame
  | MessageFrame
  /** All messages between two numbers. `after` 0: nothing is before them. */
  | {
      readonly kind: "older";
      readonly before: number;
      readonly after: number;
      readonly messages: readonly MessageFrame[];
    }
  /** A message that came before, as it is now; not to be shown any more where it is `deleted`. */
  | { readonly kind: "changed"; readonly message: MessageFrame }
  | ({ readonly kind: "standing" } & Standing)
  | { readonly kind: "ack"; readonly clientId: string; readonly seq: number | null; readonly id: string | null }
  | { readonly kind: "nack"; readonly clientId: string; readonly code: RefusalCode; readonly detail: string }
  | { readonly kind: "typing"; readonly role: "assistant" | "agent"; readonly name: string | null }
  | { readonly kind: "lead_saved"; readonly clientId: string }
  | { readonly kind: "error"; readonly code: ErrorCode; readonly detail: string }
  | { readonly kind: "pong" };

export type ErrorCode = "bad_frame" | "identity_rejected" | "limited" | "unavailable";

/** Private close codes; all else is one of the protocol's own. */
export const closeCodes = { badFrames: 4400, badToken: 4401, expired: 4402, forbidden: 4403, limited: 4429 } as const;

const validators = new Map<string, Validator<Record<never, never>>>(
  Object.entries({ hello, send, resume, older, typing, lead, seen, ping }).map(([kind, schema]) => [
    kind,
    Compile(schema),
  ]),
);

export type Parsed = { readonly frame: ClientFrame } | { readonly error: string };

/** A frame as it came, checked; or what is wrong with it, in words for whoever wrote the client. */
export function parseFrame(data: string): Parsed {
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
