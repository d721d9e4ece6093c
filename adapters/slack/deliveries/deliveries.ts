import { Compile } from "typebox/compile";
import type { Delivered } from "./listeners.ts";
import { commandSchema, envelopeSchema, interactionSchema } from "./payloads.ts";

// Compiled once: interpreting the schema for each event takes ten times as long.
const envelope = Compile(envelopeSchema);
const interaction = Compile(interactionSchema);
const command = Compile(commandSchema);

/** The content of a POST; undefined for bytes that are neither JSON nor a form. */
export function readBody(contentType: string, body: Buffer): unknown {
  const text = body.toString("utf8");
  if (!/^\s*application\/x-www-form-urlencoded\s*(?:;|$)/i.test(contentType)) return parseJson(text);
  const form = new URLSearchParams(text);
  const payload = form.get("payload");
  return payload === null ? Object.fromEntries(form) : parseJson(payload);
}

/** Undefined for an unknown form. */
export function deliveryOf(given: unknown): Partial<Delivered> | undefined {
  if (envelope.Check(given)) return { envelope: given };
  if (interaction.Check(given)) return { interaction: given };
  if (command.Check(given)) return { command: given };
  // Other kinds use the names of a message's fields for other values: only their type and channel are read.
  const { type, channel } = fieldsOf(fieldsOf(given)["event"]);
  const reduced = { ...fieldsOf(given), event: { type, channel } };
  const isOther = type !== "message" && type !== "app_mention" && envelope.Check(reduced);
  return isOther ? { envelope: reduced } : undefined;
}

/** Undefined for text that is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

export function fieldsOf(given: unknown): Readonly<Record<string, unknown>> {
  return typeof given === "object" && given !== null ? (given as Readonly<Record<string, unknown>>) : {};
}
