import twilio from "twilio";
import type { WebRequest } from "#channel/contract.ts";

export type Form = Readonly<Record<string, string | readonly string[]>>;

export function parseForm(body: Buffer): Form {
  const params = new URLSearchParams(body.toString("utf8"));
  const form = Object.fromEntries(params) as Record<string, string | string[]>;
  for (const name of Object.keys(form)) {
    const all = params.getAll(name);
    if (all.length > 1) Object.defineProperty(form, name, { value: all, enumerable: true });
  }
  return form;
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
