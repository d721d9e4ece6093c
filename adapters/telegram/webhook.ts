import { createHash, timingSafeEqual } from "node:crypto";
import type { ChannelHost, WebRequest, WebResponse } from "#channels/contract.ts";
import type { Events } from "./events.ts";

/** The secret that Telegram sends with each delivery: the same after a restart, different for each account. */
export function webhookSecret(host: ChannelHost): string {
  return createHash("sha256").update(host.signToken("telegram webhook")).digest("base64url");
}

/** Null: the delivery is genuine. */
export function refusalOf({ method, headers }: Omit<WebRequest, "body">, secret: string): WebResponse | null {
  if (method !== "POST") return { status: 405, headers: { allow: "POST" } };
  const given = Buffer.from(headers["x-telegram-bot-api-secret-token"] ?? "");
  const expected = Buffer.from(secret);
  return given.length === expected.length && timingSafeEqual(given, expected) ? null : { status: 401 };
}

/** Stores an update, then acknowledges it. */
export async function receive(
  request: WebRequest,
  secret: string,
  events: Events,
  host: ChannelHost,
): Promise<WebResponse> {
  const refused = refusalOf(request, secret);
  if (refused !== null) return refused;
  const { body } = request;
  let update: unknown;
  try {
    update = JSON.parse(body.toString("utf8"));
  } catch {
    return { status: 400 };
  }
  try {
    const greeting = await events.take(update);
    // Telegram executes the call in the response without reporting its outcome, which a greeting does not need.
    return greeting === null
      ? { status: 200 }
      : { status: 200, headers: { "content-type": "application/json" }, body: JSON.stringify(greeting) };
  } catch (error) {
    host.log.error({ err: error }, "telegram: storing an update failed, awaiting redelivery");
    return { status: 503 };
  }
}
