import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import type { ChannelHost, WebRequest, WebResponse } from "#channels/contract.ts";
import { takeDelivery } from "./events.ts";
import type { Settings } from "./config.ts";

/** The token by which Meta checks the address: the same after a restart, different for each account. */
export const verifyTokenOf = (host: Pick<ChannelHost, "signToken">): string =>
  createHash("sha256").update(host.signToken("whatsapp webhook")).digest("base64url");

/** Refuses requests that Meta cannot have signed, before their body is read. */
export function refuse({ method, headers }: Omit<WebRequest, "body">): WebResponse | null {
  if (method === "GET") return null;
  if (method !== "POST") return { status: 405, headers: { allow: "GET, POST" } };
  return /^sha256=[0-9a-f]{64}$/.test(headers["x-hub-signature-256"] ?? "") ? null : { status: 401 };
}

/** Stores a delivery, then acknowledges it. Meta redelivers for days what was not acknowledged. */
export async function receive(settings: Settings, host: ChannelHost, request: WebRequest): Promise<WebResponse> {
  if (request.method === "GET") return verification(host, request);
  const { headers, body } = request;
  if (!isEqual(headers["x-hub-signature-256"] ?? "", signatureOf(settings.appSecret, body))) return { status: 401 };
  let delivery: unknown;
  try {
    delivery = JSON.parse(body.toString("utf8"));
  } catch {
    return { status: 400 };
  }
  try {
    await takeDelivery(settings, host, delivery);
  } catch (error) {
    host.log.error({ err: error }, "whatsapp: storing a delivery failed, awaiting redelivery");
    return { status: 503 };
  }
  return { status: 200 };
}

/** Repeats Meta's challenge when it knows the token that it was given for this address. */
function verification(host: ChannelHost, { query }: WebRequest): WebResponse {
  const token = query["hub.verify_token"] ?? "";
  if (query["hub.mode"] !== "subscribe" || !isEqual(token, verifyTokenOf(host))) return { status: 403 };
  const challenge = (query["hub.challenge"] ?? "").slice(0, 500);
  return { status: 200, headers: { "content-type": "text/plain; charset=utf-8" }, body: challenge };
}

const signatureOf = (secret: string, body: Buffer | string): string =>
  `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;

function isEqual(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}
