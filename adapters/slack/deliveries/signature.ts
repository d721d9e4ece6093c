import { createHmac, timingSafeEqual } from "node:crypto";

/** The largest permitted distance of a delivery's time from now, in either direction. */
const ageMaxSeconds = 300;

export interface Signed {
  readonly headers: Readonly<Record<string, string>>;
  /** The raw bytes. */
  readonly body: Buffer;
}

export type Judgement =
  /** Signed with this secret, at about this time. */
  | { readonly kind: "good" }
  /** Signed with this secret at another time: a wrong clock of this machine, or a replay. */
  | { readonly kind: "untimely"; readonly aheadSeconds: number }
  | { readonly kind: "forged" };

const timestampPattern = /^\d{1,12}$/;

/** Whether the headers have the form of a signature, before the body is read. */
export function maySign(headers: Signed["headers"]): boolean {
  return (
    timestampPattern.test(headers["x-slack-request-timestamp"] ?? "") &&
    /^v0=[0-9a-f]{64}$/.test(headers["x-slack-signature"] ?? "")
  );
}

/** Verifies a delivery's signature and time. Constant time. */
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
