import type { Branding, QuotedMessage, UploadedFile } from "../../frames.ts";

// Parsers of stored values. The page and other versions of the widget can write anything to the storage.

/** A message that the server has not acknowledged. */
export interface UnsentMessage {
  /** The same on each repetition. */
  readonly clientId: string;
  readonly text: string;
  readonly files?: readonly UploadedFile[];
  readonly refersTo?: AnsweredMessage;
  /** The text is a choice that the bot offered. */
  readonly chosen?: true;
  /** Epoch milliseconds. */
  readonly at: number;
  /** The server removed its files before it was sent. */
  readonly filesGone?: boolean;
}

/** The parts of a message beside its text. */
export type MessageExtras = Pick<UnsentMessage, "files" | "refersTo" | "chosen">;

/** The message that the customer answers. */
export interface AnsweredMessage extends QuotedMessage {
  readonly id: string;
}

export interface StoredSession {
  readonly token: string;
  readonly session: string;
}

/** The newest message that the customer has seen. */
export interface ReadPosition {
  /** The conversation that `seq` counts in. */
  readonly conversation: string | null;
  readonly seq: number;
}

const field = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;

export function sessionFrom(value: unknown): StoredSession | undefined {
  const token = field(value, "token");
  const session = field(value, "session");
  return typeof token === "string" && typeof session === "string" ? { token, session } : undefined;
}

export const unsentFrom = (value: unknown): readonly UnsentMessage[] =>
  Array.isArray(value) ? value.filter(isUnsent).map(withAnswered) : [];

/** A reference that the server would not take must not keep the message from being sent. */
function withAnswered({ refersTo, ...message }: UnsentMessage): UnsentMessage {
  const answered = answeredFrom(refersTo);
  return answered === undefined ? message : { ...message, refersTo: answered };
}

const isUnsent = (value: unknown): value is UnsentMessage =>
  typeof field(value, "clientId") === "string" &&
  typeof field(value, "text") === "string" &&
  typeof field(value, "at") === "number";

export function answeredFrom(value: unknown): AnsweredMessage | undefined {
  const [id, author, text, role] = [
    field(value, "id"),
    field(value, "author"),
    field(value, "text"),
    field(value, "role"),
  ];
  if (typeof id !== "string" || !/^msg_[0-9a-z]{26}$/.test(id) || typeof text !== "string") return undefined;
  const isRole = role === "user" || role === "assistant" || role === "agent";
  return { id, text, author: typeof author === "string" ? author : null, role: isRole ? role : null };
}

export function brandingFrom(value: unknown): Branding | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const text = (name: string): string => {
    const part = field(value, name);
    return typeof part === "string" ? part : "";
  };
  return {
    title: text("title"),
    botName: text("botName"),
    greeting: text("greeting"),
    color: text("color"),
    leadCapture: text("leadCapture") === "off" ? "off" : "on_handover",
    files: filesFrom(field(value, "files")),
  };
}

function filesFrom(value: unknown): Branding["files"] {
  const bytesMax = field(value, "bytesMax");
  const types = field(value, "types");
  if (typeof bytesMax !== "number" || !Array.isArray(types)) return null;
  return { bytesMax, types: types.filter((type) => typeof type === "string") };
}

export function readPositionFrom(value: unknown): ReadPosition {
  const conversation = field(value, "conversation");
  const seq = field(value, "seq");
  return typeof conversation === "string" && typeof seq === "number"
    ? { conversation, seq }
    : { conversation: null, seq: 0 };
}
