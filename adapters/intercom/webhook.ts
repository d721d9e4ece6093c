import { createHmac, timingSafeEqual } from "node:crypto";
import type { ChannelHost, WebRequest, WebResponse } from "#channels/contract.ts";
import type { Events } from "./events.ts";
import type { Notification } from "./payloads.ts";
import { readConversation, readDeleted, readNotification } from "./payloads.ts";
import type { Settings } from "./config.ts";
import { topics } from "./webhook-topics.ts";

export interface WebhookDependencies {
  readonly settings: Settings;
  readonly host: ChannelHost;
  readonly events: Events;
}

/** State: the time of the latest delivery, for the account check. Epoch milliseconds. */
export const deliveredKey = "delivered";
const storeEveryMs = 600_000;
/**
 * Intercom gives up a delivery within hours, so older parts in it are known. They must be skipped: their deduplication
 * records may have been deleted.
 */
const newS = 2 * 86_400;

export type Receive = (request: WebRequest) => Promise<WebResponse>;

/** Refuses requests that Intercom cannot have signed, before their body is read. */
export function refuse({ method, headers }: Omit<WebRequest, "body">): WebResponse | null {
  if (method !== "POST" || /^sha1=[0-9a-f]{40}$/.test(headers["x-hub-signature"] ?? "")) return null;
  return { status: 401 };
}

/** Handles deliveries. The signature covers no time, so replays are recognised by the ids of conversation and part. */
export function createWebhook({ settings, host, events }: WebhookDependencies): Receive {
  let storedAt = 0;

  async function take(notification: Notification): Promise<void> {
    const { topic, data, app_id: appId } = notification;
    if (appId !== null && appId !== undefined && appId !== settings.appId) {
      host.log.warn({ topic }, "intercom: delivery of another workspace skipped, check app_id");
      return;
    }
    const meaning = Object.hasOwn(topics, topic) ? topics[topic] : "ignored";
    if (meaning === "deleted") {
      const thread = readDeleted(data.item);
      if (thread !== null) await events.deleted(thread, notification.created_at ?? host.clock.now() / 1_000);
      return;
    }
    if (meaning !== "conversation") {
      host.log.debug({ topic }, "intercom: topic without effect skipped");
      return;
    }
    const conversation = readConversation(data.item);
    if (conversation === null) {
      // The poll reads it from the API.
      host.log.warn({ topic }, "intercom: unknown delivery skipped");
      return;
    }
    await events.take(conversation, Math.floor(host.clock.now() / 1_000) - newS);
  }

  return async ({ method, headers, body }) => {
    // The Developer Hub sends HEAD when the address is entered.
    if (method === "HEAD") return { status: 200 };
    if (method !== "POST") return { status: 405, headers: { allow: "HEAD, POST" } };
    if (!isSigned(headers["x-hub-signature"] ?? "", settings.clientSecret, body)) return { status: 401 };
    const notification = readNotification(body);
    if (notification === null) return { status: 400 };
    try {
      await take(notification);
      if (host.clock.now() - storedAt >= storeEveryMs) {
        storedAt = host.clock.now();
        await host.state.set(deliveredKey, String(storedAt));
      }
    } catch (error) {
      host.log.error({ err: error }, "intercom: storing a delivery failed");
      return { status: 503 };
    }
    return { status: 200 };
  };
}

/** Checks the signature over the raw bytes in constant time. */
function isSigned(given: string, secret: string, body: Buffer): boolean {
  const expected = Buffer.from(signatureOf(secret, body));
  const actual = Buffer.from(given);
  return actual.length === expected.length && timingSafeEqual(actual, expected);
}

export const signatureOf = (secret: string, body: Buffer | string): string =>
  `sha1=${createHmac("sha1", secret).update(body).digest("hex")}`;
