import twilio from "twilio";
import type { WebRequest, WebResponse } from "#channels/contract.ts";

export type Form = Readonly<Record<string, string | readonly string[]>>;

/** Many times what Twilio sends: whoever sends more is not Twilio, and is read no further. */
export const formBytesMax = 262_144;

/** Refuses what Twilio cannot have signed, before its body is read. */
export function refuse({ method, headers }: Omit<WebRequest, "body">): WebResponse | null {
  if (method !== "POST") return { status: 405, headers: { allow: "POST" } };
  return headers["x-twilio-signature"] === undefined ? { status: 403 } : null;
}

/** One pass over it: this is read before it is known whether it is signed. */
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

/** What came once under this name; empty where nothing did. */
export function field(form: Form, name: string): string {
  const value = Object.hasOwn(form, name) ? form[name] : undefined;
  return typeof value === "string" ? value : "";
}

/**
 * Twilio signs the address that it was told to call, whatever proxies made of it on the way, and every field of the
 * form, also those that nobody knows yet.
 */
export function isSigned(
  authToken: string,
  url: string,
  form: Form,
  { headers }: Pick<WebRequest, "headers">,
): boolean {
  return twilio.validateRequest(authToken, headers["x-twilio-signature"] ?? "", url, form);
}
