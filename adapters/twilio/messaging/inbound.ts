import type { InboundEvent, InboundFile } from "#channels/contract.ts";
import { whatsappEnding } from "#channels/text/whatsapp.ts";
import { closesWindow, optedOut, reasonOf } from "../shared/errors.ts";
import type { Form } from "../shared/form.ts";
import { field } from "../shared/form.ts";
import type { Keyword } from "./opt-outs/keywords.ts";
import type { TwilioChannel } from "./config.ts";
import { isTelephoneNumber, nameOf } from "./config.ts";

type MessageEvent = Extract<InboundEvent, { kind: "message" }>;
type DeliveryEvent = Extract<InboundEvent, { kind: "delivery" }>;

/** A customer's message, read from Twilio's form. */
export interface Incoming {
  readonly id: string;
  readonly thread: string;
  readonly text: string;
  readonly optOutType: string;
  readonly files: readonly InboundFile[];
  readonly name: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  /** The message that the customer answers, on WhatsApp; empty: none. */
  readonly answered: string;
}

const sidPattern = /^[A-Z]{2}[0-9a-fA-F]{32}$/;
const filesMax = 20;

/** null: the form is no message, or of an unknown kind. */
export function readMessage(channel: TwilioChannel, form: Form): Incoming | null {
  const id = field(form, "MessageSid");
  const thread = nameOf(channel, field(form, "From"));
  if (!sidPattern.test(id) || thread === undefined) return null;
  return {
    id,
    thread,
    text: [field(form, "Body") || field(form, "ButtonText"), ...placeLines(form)]
      .filter((part) => part !== "")
      .join("\n\n"),
    optOutType: field(form, "OptOutType"),
    files: filesOf(form),
    name: field(form, "ProfileName").trim().slice(0, 190),
    metadata: metadataOf(form),
    answered: field(form, "OriginalRepliedMessageSid"),
  };
}

export function messageEvent(
  channel: TwilioChannel,
  { id, thread, text, files, name, metadata, answered }: Incoming,
  sentAt: number,
): MessageEvent {
  return {
    kind: "message",
    externalId: eventId(id),
    messageExternalId: id,
    thread,
    sender: senderOf(channel, thread, name),
    sentAt,
    text,
    ...(sidPattern.test(answered) ? { refersTo: { externalIds: [answered] } } : {}),
    ...(metadata["forwarded"] === "true" ? { forwarded: {} } : {}),
    ...(metadata["button"] === personButton ? { wantsPerson: true } : {}),
    ...(files.length === 0 ? {} : { files }),
    ...(Object.keys(metadata).length === 0 ? {} : { metadata }),
  };
}

/** The payload of a quick-reply button that asks for a person. Its label is free. */
const personButton = "human";

const eventId = (messageId: string): string => `message:${messageId}`;

/** The event for a keyword message, which the bot does not answer. */
export function keywordEvent(
  channel: TwilioChannel,
  { id, thread, text, name }: Incoming,
  keyword: Keyword,
  sentAt: number,
): InboundEvent {
  const base = { externalId: eventId(id), thread, sentAt };
  const word = `"${text.trim().slice(0, 40)}"`;
  if (keyword === "help") {
    return {
      ...base,
      kind: "notice",
      text: `The customer has written ${word}. Twilio answers this word itself, and the bot keeps silent.`,
    };
  }
  return {
    ...base,
    kind: "reach",
    sender: senderOf(channel, thread, name),
    reachable: keyword === "start",
    reason:
      keyword === "start"
        ? `The customer has written ${word}, and can be written to again.`
        : `The customer has opted out by writing ${word}: what you write here is not sent to them, until they write START.`,
  };
}

export function senderOf(channel: TwilioChannel, thread: string, name = "") {
  return {
    key: channel === "sms" ? `tel:${thread}` : thread,
    ...(name === "" ? {} : { name }),
    ...(isTelephoneNumber(thread) ? { proven: { phone: thread } } : {}),
  };
}

function placeLines(form: Form): readonly string[] {
  const [latitude, longitude] = [field(form, "Latitude"), field(form, "Longitude")];
  if (latitude === "" || longitude === "") return [];
  const label = field(form, "Label") || field(form, "Address");
  return [`[location: ${latitude}, ${longitude}${label === "" ? "" : `, ${label}`}]`.slice(0, 500)];
}

/** Twilio does not report file names: the name is made from the media type. */
function filesOf(form: Form): readonly InboundFile[] {
  const count = Math.min(Number.parseInt(field(form, "NumMedia"), 10) || 0, filesMax);
  return Array.from({ length: Math.max(count, 0) }, (_, at) => {
    const mediaType = field(form, `MediaContentType${at}`).slice(0, 100) || "application/octet-stream";
    const name = `file-${at + 1}${whatsappEnding(mediaType)}`;
    return { ref: field(form, `MediaUrl${at}`), name, mediaType, bytes: null };
  }).filter(({ ref }) => ref !== "" && ref.length <= 4_096);
}

function metadataOf(form: Form): Readonly<Record<string, unknown>> {
  const names = {
    to: "To",
    country: "FromCountry",
    city: "FromCity",
    reply_to: "OriginalRepliedMessageSid",
    button: "ButtonPayload",
    forwarded: "Forwarded",
    referral: "ReferralSourceUrl",
  };
  return Object.fromEntries(
    Object.entries(names).flatMap(([name, key]) => {
      const value = field(form, key).slice(0, 500);
      return value === "" ? [] : [[name, value]];
    }),
  );
}

/** A delivery report on one of our messages. */
export interface Report {
  readonly messageId: string;
  readonly status: string;
  readonly code: number | undefined;
  readonly thread: string | undefined;
}

/** null: the form is no report. */
export function readReport(channel: TwilioChannel, form: Form): Report | null {
  const [messageId, status] = [field(form, "MessageSid"), field(form, "MessageStatus")];
  if (!sidPattern.test(messageId) || !/^[a-z_]{2,30}$/.test(status) || status === "received") return null;
  const code = Number(field(form, "ErrorCode"));
  return {
    messageId,
    status,
    code: Number.isSafeInteger(code) && code > 0 ? code : undefined,
    thread: nameOf(channel, field(form, "To")),
  };
}

const states: Readonly<Record<string, DeliveryEvent["state"]>> = {
  delivered: "delivered",
  read: "read",
  failed: "failed",
  undelivered: "failed",
  canceled: "failed",
};

/** null: the message is still on its way. */
export function deliveryEvent(
  { messageId, status, code }: Report,
  partKey: string | undefined,
  sentAt: number,
): DeliveryEvent | null {
  const state = Object.hasOwn(states, status) ? states[status] : undefined;
  if (state === undefined) return null;
  const otherwise = status === "canceled" ? "it was canceled at Twilio" : "Twilio tells no reason";
  return {
    kind: "delivery",
    externalId: `status:${messageId}:${status}`,
    partExternalId: messageId,
    ...(partKey === undefined ? {} : { partKey }),
    state,
    ...(state === "failed" ? { error: `This message could not be delivered: ${reasonOf(code, otherwise)}` } : {}),
    ...(state === "failed" && closesWindow(code) ? { windowClosed: true } : {}),
    sentAt,
  };
}

export const saysOptedOut = ({ code }: Report): boolean => code === optedOut;
