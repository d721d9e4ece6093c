import type { Face, UploadedFile } from "../frames.ts";

// What a tab keeps in the browser's storage, where anything can stand by the time that it is read.

export interface Waiting {
  readonly clientId: string;
  readonly text: string;
  readonly files?: readonly UploadedFile[];
  readonly at: number;
  /** Its files were removed before it was sent. */
  readonly filesGone?: boolean;
}

export interface Remembered {
  readonly token: string;
  readonly session: string;
}

export interface Seen {
  /** The conversation that `seq` counts in. */
  readonly conversation: string | null;
  readonly seq: number;
}

export function isRemembered(value: unknown): value is Remembered {
  return (
    typeof value === "object" &&
    value !== null &&
    "token" in value &&
    typeof value.token === "string" &&
    "session" in value &&
    typeof value.session === "string"
  );
}

function isWaiting(value: unknown): value is Waiting {
  return (
    typeof value === "object" &&
    value !== null &&
    "clientId" in value &&
    typeof value.clientId === "string" &&
    "text" in value &&
    typeof value.text === "string" &&
    "at" in value &&
    typeof value.at === "number"
  );
}

export function waitingOf(value: unknown): readonly Waiting[] {
  return Array.isArray(value) ? value.filter(isWaiting) : [];
}

export function faceOf(value: unknown): Face | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const text = (name: string): string => {
    const part: unknown = Reflect.get(value, name);
    return typeof part === "string" ? part : "";
  };
  return {
    title: text("title"),
    botName: text("botName"),
    greeting: text("greeting"),
    color: text("color"),
    leadCapture: text("leadCapture") === "off" ? "off" : "on_handover",
    files: "files" in value ? filesOf(value.files) : null,
  };
}

function filesOf(value: unknown): Face["files"] {
  if (typeof value !== "object" || value === null || !("bytesMax" in value) || !("types" in value)) return null;
  const { bytesMax, types } = value;
  if (typeof bytesMax !== "number" || !Array.isArray(types)) return null;
  return { bytesMax, types: types.filter((type) => typeof type === "string") };
}

export function seenOf(value: unknown): Seen {
  if (typeof value === "object" && value !== null && "conversation" in value && "seq" in value) {
    if (typeof value.conversation === "string" && typeof value.seq === "number") {
      return { conversation: value.conversation, seq: value.seq };
    }
  }
  return { conversation: null, seq: 0 };
}
