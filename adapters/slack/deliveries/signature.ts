import { createHmac, timingSafeEqual } from "node:crypto";

/** A delivery that is older than this, or that comes from so far in the future, was not made by Slack just now. */
const ageMaxSeconds = 300;

export interface Signed {
  readonly headers: Readonly<Record<string, string>>;
  /** As it came over the wire. */
  readonly body: Buffer;
}

export type Judgement =
  /** Signed with this secret, about now. */
  | { readonly kind: "good" }
  /** Signed with this secret, at another time: by so much is this machine's clock ahead, unless somebody repeats it. */
  | { readonly kind: "untimely"; readonly aheadSeconds: number }
  | { readonly kind: "forged" };

const timestampPattern = /^\d{1,12}$/;

/** Whether these headers have the form of a signature; the body proves it. */
export function maySign(headers: Signed["headers"]): boolean {
  return (
    timestampPattern.test(headers["x-slack-request-timestamp"] ?? "") &&
    /^v0=[0-9a-f]{64}$/.test(headers["x-slack-signature"] ?? "")
  );
}

/** Whether Slack has signed these bytes with this secret, about now. Constant time. */
export function judge({ headers, body }: Signed, secret: string, now: number): Judgement {
  const timestamp = headers["x-slack-request-timestamp"] ?? "";
  if (!timestampPattern.test(timestamp)) return { kind: "forged" };
  const given = Buffer.from(headers["x-slack-signature"] ?? "");
  const expected = Buffer.from(signatureOf(secret, timestamp, body));
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return { kind: "forged" };
  const aheadSeconds = now / 1_000 - Number(timestamp);
  return Math.abs(aheadSeconds) > ageMaxSeconds ? { kind: "untimely", aheadSeconds } : { kind: "good" };
}

export function signatureOf(secret: string, timestamp: string, body: Buffer | string): string {
  return `v0=${createHmac("sha256", secret).update(`v0:${timestamp}:`).update(body).digest("hex")}`;
}
