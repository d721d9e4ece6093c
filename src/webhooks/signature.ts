import { createHmac, randomBytes } from "node:crypto";

// The headers of the Standard Webhooks specification, with symmetric signatures.

const prefix = "whsec_";
const secretBytes = 32;
const secretBytesMin = 24;
const secretBytesMax = 64;

export function newWebhookSecret(): string {
  return `${prefix}${randomBytes(secretBytes).toString("base64")}`;
}

/** The key of a secret; undefined where the secret has not the form `whsec_<base64 of 24 to 64 bytes>`. */
export function webhookKey(secret: string): Buffer | undefined {
  if (!secret.startsWith(prefix)) return undefined;
  const text = secret.slice(prefix.length);
  const key = Buffer.from(text, "base64");
  // Node.js ignores invalid base64 characters, so the receiver would derive another key.
  if (key.toString("base64").replace(/=+$/, "") !== text.replace(/=+$/, "")) return undefined;
  return key.length >= secretBytesMin && key.length <= secretBytesMax ? key : undefined;
}

/** Headers of one attempt. All valid secrets sign, so that receivers can switch at any time during a rotation. */
export function signedHeaders(
  secrets: readonly string[],
  { id, at, body }: { readonly id: string; readonly at: number; readonly body: string },
): Readonly<Record<string, string>> {
  const seconds = String(Math.floor(at / 1_000));
  const signatures = secrets.map((secret) => {
    const key = webhookKey(secret);
    if (key === undefined) throw new Error("a stored webhook secret is not of the form whsec_<base64>");
    return `v1,${createHmac("sha256", key).update(`${id}.${seconds}.${body}`).digest("base64")}`;
  });
  return { "webhook-id": id, "webhook-timestamp": seconds, "webhook-signature": signatures.join(" ") };
}
