import { createHmac, timingSafeEqual } from "node:crypto";

/** A delivery that is older than this, or that comes from so far in the future, was not made by Slack just now. */
const ageMaxSeconds = 300;

export interface Signed {
  readonly headers: Readonly<Record<string, string>>;
  /** As it came over the wire. */
  readonly body: Buffer;
}

/** Whether Slack has signed these bytes with this secret, about now. Constant time. */
export function isSignedBySlack({ headers, body }: Signed, secret: string, now: number): boolean {
  const timestamp = headers["x-slack-request-timestamp"] ?? "";
  if (!/^\d{1,12}$/.test(timestamp)) return false;
  if (Math.abs(now / 1_000 - Number(timestamp)) > ageMaxSeconds) return false;
  const given = Buffer.from(headers["x-slack-signature"] ?? "");
  const expected = Buffer.from(signatureOf(secret, timestamp, body));
  return given.length === expected.length && timingSafeEqual(given, expected);
}

export function signatureOf(secret: string, timestamp: string, body: Buffer | string): string {
  return `v0=${createHmac("sha256", secret).update(`v0:${timestamp}:`).update(body).digest("hex")}`;
}
