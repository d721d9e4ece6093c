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

/** When Intercom delivered last, for the operator. */
export const deliveredKey = "delivered";
const toldEveryMs = 600_000;
/**
 * Intercom gives a delivery up within hours. What is older in one is known already, even where what the deduplication
 * knows of it was cleared away.
 */
const newS = 2 * 86_400;

export type Receive = (request: WebRequest) => Promise<WebResponse>;

/** Refuses what Intercom cannot have signed, before its body is read. */
export function refuse({ method, headers }: Omit<WebRequest, "body">): WebResponse | null {
  if (method !== "POST" || /^sha1=[0-9a-f]{40}$/.test(headers["x-hub-signature"] ?? "")) return null;
  return { status: 401 };
}

/** Where Intercom delivers. Nothing is believed that it has not signed; there is no time in what is signed, so a repeat is told by ids. */
export function createWebhook({ settings, host, events }: WebhookDependencies): Receive {
  let toldAt = 0;

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
      // The look for what was missed reads it from the API.
      host.log.warn({ topic }, "intercom: unknown delivery skipped");
      return;
    }
    await events.take(conversation, Math.floor(host.clock.now() / 1_000) - newS);
  }

  return async ({ method, headers, body }) => {
    // Asked when the address is entered in the Developer Hub.
    if (method === "HEAD") return { status: 200 };
    if (method !== "POST") return { status: 405, headers: { allow: "HEAD, POST" } };
    if (!isSigned(headers["x-hub-signature"] ?? "", settings.clientSecret, body)) return { status: 401 };
    const notification = readNotification(body);
    if (notification === null) return { status: 400 };
    try {
      await take(notification);
      if (host.clock.now() - toldAt >= toldEveryMs) {
        toldAt = host.clock.now();
        await host.remember(deliveredKey, String(toldAt));
      }
    } catch (error) {
      host.log.error({ err: error }, "intercom: storing a delivery failed");
      return { status: 503 };
    }
    return { status: 200 };
  };
}

/** Over the bytes as they came. Constant time. */
function isSigned(given: string, secret: string, body: Buffer): boolean {
  const expected = Buffer.from(signatureOf(secret, body));
  const actual = Buffer.from(given);
  return actual.length === expected.length && timingSafeEqual(actual, expected);
}

export const signatureOf = (secret: string, body: Buffer | string): string =>
  `sha1=${createHmac("sha1", secret).update(body).digest("hex")}`;
