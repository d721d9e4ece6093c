import { Compile } from "typebox/compile";
import type { EventEnvelope, Interaction, SlashCommand } from "./payloads.ts";
import { commandSchema, envelopeSchema, interactionSchema } from "./payloads.ts";

/** One thing that Slack tells, whichever way it came. */
export type Delivery =
  | { readonly kind: "event"; readonly envelope: EventEnvelope }
  | { readonly kind: "interaction"; readonly interaction: Interaction }
  | { readonly kind: "command"; readonly command: SlashCommand }
  /** Slack asks whether the address is ours. */
  | { readonly kind: "challenge"; readonly challenge: string }
  /** Slack delivers no more events for a while, because there were too many. */
  | { readonly kind: "limited" }
  /** Of a form that this version does not read. */
  | { readonly kind: "unknown"; readonly what: string };

// Made once: to walk through a schema anew for each event takes ten times as long.
const envelope = Compile(envelopeSchema);
const interaction = Compile(interactionSchema);
const command = Compile(commandSchema);

const unknown = (what: string): Delivery => ({ kind: "unknown", what });

/** The deliveries of a POST; null for bytes that are no JSON and no form. */
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
  // Kinds that are no message use the same names for other things: of those, what they are and where is enough.
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

/** Undefined for what is no JSON. */
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
