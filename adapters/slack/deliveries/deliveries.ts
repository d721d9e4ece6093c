import { Compile } from "typebox/compile";
import type { EventEnvelope, Interaction, SlashCommand } from "./payloads.ts";
import { commandSchema, envelopeSchema, interactionSchema } from "./payloads.ts";

/** A delivery of Slack, over HTTP or a socket. */
export type Delivery =
  | { readonly kind: "event"; readonly envelope: EventEnvelope }
  | { readonly kind: "interaction"; readonly interaction: Interaction }
  | { readonly kind: "command"; readonly command: SlashCommand }
  /** Slack verifies that the address is ours. */
  | { readonly kind: "challenge"; readonly challenge: string }
  /** Slack pauses events after too many. */
  | { readonly kind: "limited" }
  /** The form is unknown. */
  | { readonly kind: "unknown"; readonly what: string };

// Compiled once: interpreting the schema for each event takes ten times as long.
const envelope = Compile(envelopeSchema);
const interaction = Compile(interactionSchema);
const command = Compile(commandSchema);

const unknown = (what: string): Delivery => ({ kind: "unknown", what });

/** The delivery in a POST; null for bytes that are neither JSON nor a form. */
export function parseBody(contentType: string, body: Buffer): Delivery | null {
  const isForm = /^\s*application\/x-www-form-urlencoded\s*(?:;|$)/i.test(contentType);
  if (isForm) return parseForm(new URLSearchParams(body.toString("utf8")));
  const given = parseJson(body.toString("utf8"));
  return given === undefined ? null : eventDelivery(given);
}

function parseForm(form: URLSearchParams): Delivery | null {
  const payload = form.get("payload");
  if (payload !== null) {
    const given = parseJson(payload);
    return given === undefined ? null : interactionDelivery(given);
  }
  return commandDelivery(Object.fromEntries(form));
}

export function eventDelivery(given: unknown): Delivery {
  const { type, challenge } = fieldsOf(given);
  if (type === "url_verification" && typeof challenge === "string") return { kind: "challenge", challenge };
  if (type === "app_rate_limited") return { kind: "limited" };
  if (envelope.Check(given)) return { kind: "event", envelope: given };
  // Other kinds use the names of a message's fields for other values: only their type and channel are read.
  const { type: eventType, channel } = fieldsOf(fieldsOf(given)["event"]);
  const reduced = { ...fieldsOf(given), event: { type: eventType, channel } };
  return eventType !== "message" && eventType !== "app_mention" && envelope.Check(reduced)
    ? { kind: "event", envelope: reduced }
    : unknown("an event");
}

export function interactionDelivery(given: unknown): Delivery {
  return interaction.Check(given) ? { kind: "interaction", interaction: given } : unknown("an interaction");
}

export function commandDelivery(given: unknown): Delivery {
  return command.Check(given) ? { kind: "command", command: given } : unknown("a form");
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
