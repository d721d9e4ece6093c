import { createHmac, timingSafeEqual } from "node:crypto";
import { phoneKey } from "./contact-keys.ts";

/**
 * Whether `proof` (hex, base64 or base64url) is the HMAC-SHA256 of `value` with the workspace's identity secret. Takes
 * the same time for every wrong one.
 */
export function provesIdentity(identitySecret: string, value: string, proof: string): boolean {
  const given = decode(proof);
  const expected = createHmac("sha256", identitySecret).update(value).digest();
  return given !== undefined && given.length === expected.length && timingSafeEqual(given, expected);
}

function decode(proof: string): Buffer | undefined {
  if (/^[0-9a-f]{64}$/i.test(proof)) return Buffer.from(proof, "hex");
  return /^[A-Za-z0-9+/_-]{43}=?$/.test(proof) ? Buffer.from(proof, "base64") : undefined;
}

const addressMax = 190;

/** An e-mail address in its normalized form, by which contacts are identified; undefined when it is not one. */
export function emailIdentity(address: string): string | undefined {
  const email = address.trim().normalize("NFC").toLowerCase();
  return email.length <= addressMax && /^[^\s@]+@[^\s@]+$/.test(email) ? email : undefined;
}

/** A phone number in E.164; undefined when it is not one, such as a number without its country. */
export function phoneIdentity(number: string): string | undefined {
  const digits = phoneKey(number);
  return /^\+[1-9]\d{6,14}$/.test(digits) ? digits : undefined;
}
