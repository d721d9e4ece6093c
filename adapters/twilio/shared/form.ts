import twilio from "twilio";
import type { WebRequest, WebResponse } from "#channels/contract.ts";

export type Form = Readonly<Record<string, string | readonly string[]>>;

/** Many times the size of Twilio's forms. Larger bodies are refused unread. */
export const formBytesMax = 262_144;

/** Refuses requests that Twilio cannot have signed, before their body is read. */
export function refuse({ method, headers }: Omit<WebRequest, "body">): WebResponse | null {
  if (method !== "POST") return { status: 405, headers: { allow: "POST" } };
  return headers["x-twilio-signature"] === undefined ? { status: 403 } : null;
}

/** Runs in linear time: the form is parsed before its signature is checked. */
export function parseForm(body: Buffer): Form {
  const form = new Map<string, string | string[]>();
  for (const [name, value] of new URLSearchParams(body.toString("utf8"))) {
    const before = form.get(name);
    if (before === undefined) form.set(name, value);
    else if (typeof before === "string") form.set(name, [before, value]);
    else before.push(value);
  }
  return Object.fromEntries(form);
}

/** The field's value; empty when it is missing or occurs several times. */
export function field(form: Form, name: string): string {
  const value = Object.hasOwn(form, name) ? form[name] : undefined;
  return typeof value === "string" ? value : "";
}

/**
 * Twilio signs the address that it was configured to call, before any proxy rewrites it, and every field of the form,
 * including unknown ones.
 */
export function isSigned(
  authToken: string,
  url: string,
  form: Form,
  { headers }: Pick<WebRequest, "headers">,
): boolean {
  return twilio.validateRequest(authToken, headers["x-twilio-signature"] ?? "", url, form);
}
