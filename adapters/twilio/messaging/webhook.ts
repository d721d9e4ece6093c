import type { ChannelHost, InboundEvent, WebRequest, WebResponse } from "#channels/contract.ts";
import type { Form } from "../shared/form.ts";
import { field, isSigned, parseForm } from "../shared/form.ts";
import type { Incoming } from "./inbound.ts";
import {
  deliveryEvent,
  keywordEvent,
  messageEvent,
  readMessage,
  readReport,
  saysOptedOut,
  senderOf,
} from "./inbound.ts";
import { keywordOf } from "./opt-outs/keywords.ts";
import type { OptOuts } from "./opt-outs/opt-outs.ts";
import type { Settings } from "./config.ts";
import { nameOf } from "./config.ts";

export interface ReceiveDependencies {
  readonly settings: Settings;
  readonly host: ChannelHost;
  readonly optOuts: OptOuts;
}

/** Empty TwiML: replies are sent by the API, never in the response. */
const taken: WebResponse = { status: 200, headers: { "content-type": "text/xml" }, body: "<Response/>" };

const hourMs = 3_600_000;

/** The query parameter of the status callback: the key of the part that the report is about. */
const partParameter = "part";
const partPattern = /^[!-~]{1,64}$/;

export function reportAddress(webhookUrl: string, key: string): string {
  return `${webhookUrl}?${partParameter}=${encodeURIComponent(key)}`;
}

export async function receive(dependencies: ReceiveDependencies, request: WebRequest): Promise<WebResponse> {
  const { settings, host } = dependencies;
  if (request.method !== "POST") return { status: 405, headers: { allow: "POST" } };
  const key = Object.hasOwn(request.query, partParameter) ? request.query[partParameter] : undefined;
  const form = parseForm(request.body);
  // Twilio signs the configured address. It must not be derived from this request.
  const url = key === undefined ? host.webhookUrl : reportAddress(host.webhookUrl, key);
  if (!isSigned(settings.authToken, url, form, request)) return { status: 403 };
  try {
    await take(dependencies, form, key !== undefined && partPattern.test(key) ? key : undefined);
  } catch (error) {
    host.log.error({ err: error }, "twilio: storing a delivery failed");
    return { status: 503 };
  }
  return taken;
}

async function take(dependencies: ReceiveDependencies, form: Form, partKey: string | undefined): Promise<void> {
  const { settings, host, optOuts } = dependencies;
  const report = readReport(settings.channel, form);
  if (report !== null) {
    if (saysOptedOut(report) && report.thread !== undefined) await optOuts.refused(report.thread);
    const event = deliveryEvent(report, partKey, host.clock.now());
    if (event !== null) await host.accept(event);
    return;
  }
  const message = readMessage(settings.channel, form);
  const skipped = message === null ? "the form is unknown to this version" : notForUs(settings, form, message);
  if (message === null || skipped !== undefined) {
    host.log.warn({ reason: skipped }, "twilio: delivery skipped");
    return;
  }
  const isOut = (await optOuts.of(message.thread)) === "customer";
  const event = await eventOf(dependencies, message, isOut);
  if (event !== null) await host.accept(event);
  const { thread, id, name } = message;
  if (settings.channel === "whatsapp" && event?.kind !== "message") {
    // WhatsApp opens its reply window for whatever the customer writes, keywords too.
    const sender = senderOf(settings.channel, thread, name);
    await host.accept({ kind: "activity", externalId: `activity:${id}`, thread, sender, sentAt: host.clock.now() });
  }
  // A stored message marks its sender as reachable, which is wrong after an opt-out.
  if (event?.kind === "message" && isOut) {
    const { sender, sentAt } = event;
    await host.accept({
      kind: "reach",
      externalId: `reach:${id}`,
      thread,
      sender,
      sentAt,
      reachable: false,
      reason: "Nothing can be sent to the customer here until they write START: they have opted out.",
    });
  }
}

function notForUs({ accountSid, sender, channel }: Settings, form: Form, message: Incoming): string | undefined {
  if (field(form, "AccountSid") !== accountSid) return "it is for another Twilio account";
  if (sender.kind === "service") {
    return field(form, "MessagingServiceSid") === sender.sid ? undefined : "it came through another messaging service";
  }
  if (nameOf(channel, field(form, "To")) !== sender.number) return "it was sent to another number than `from`";
  return message.thread === sender.number ? "it came from our own number" : undefined;
}

/** null: the message is empty. */
async function eventOf(
  { settings, host, optOuts }: ReceiveDependencies,
  message: Incoming,
  isOut: boolean,
): Promise<InboundEvent | null> {
  const { channel } = settings;
  const { thread, id, text } = message;
  const now = host.clock.now();
  const keyword = keywordOf(channel, text, message.optOutType, isOut);
  // Stored before the event: a failure in between is redelivered, and an opt-out must not be lost.
  if (keyword === "stop") await optOuts.stop(thread, id);
  if (keyword === "start") await optOuts.start(thread);
  if (keyword !== undefined) return keywordEvent(channel, message, keyword, now);
  if (text === "" && message.files.length === 0) return null;
  const event = messageEvent(channel, message, now);
  if (isOut) {
    return {
      ...event,
      peopleOnly: "The customer has opted out before, and writes all the same. The bot does not answer.",
    };
  }
  return { ...event, botLimit: { max: settings.botMessagesPerHour, withinMs: hourMs } };
}
