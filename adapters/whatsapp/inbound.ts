import type { InboundEvent, InboundFile, Sender } from "#channels/contract.ts";
import { readOpinion } from "#channels/opinion-buttons.ts";
import { whatsappEnding } from "#channels/text/whatsapp.ts";
import { isLabel, personButton } from "./buttons.ts";
import { isTelephoneNumber, threadOf } from "./config.ts";
import { closesWindow, reasonOf } from "./errors.ts";
import { refOf } from "./identity.ts";
import type { Place } from "./identity.ts";
import type { Contact, Content, ErrorItem, Media, Message, Status, UnreadMessage } from "./payloads.ts";
import { readError } from "./payloads.ts";

type MessageEvent = Extract<InboundEvent, { kind: "message" }>;
type DeliveryEvent = Extract<InboundEvent, { kind: "delivery" }>;

/** The meaning of a message. `reason` is for the log. */
export type Reading =
  | { readonly kind: "event"; readonly event: InboundEvent }
  | { readonly kind: "ignored"; readonly reason: string };

interface Base {
  readonly externalId: string;
  readonly thread: string;
  readonly sender: Sender;
  readonly sentAt: number;
}

const ignored = (reason: string): Reading => ({ kind: "ignored", reason });
const asEvent = (event: InboundEvent): Reading => ({ kind: "event", event });

/** Facts besides the message that decide how it is read. */
export interface Situation {
  readonly place: Place;
  readonly contacts: readonly Contact[];
  readonly now: number;
  /** The label of the button for a person. */
  readonly personLabel: string | undefined;
}

/** Reads a message. Pure. */
export function readingOf(message: Message, situation: Situation): Reading {
  const { place, contacts, personLabel } = situation;
  const base = baseOf(message, situation);
  const { type, reaction, system, edit, revoke, interactive } = message;
  if (type === "system")
    return system === undefined ? ignored("it says nothing") : readSystem(message, system, base, place);
  if (type === "reaction") return reaction === undefined ? ignored("it says nothing") : readReaction(reaction, base);
  if (type === "revoke" && revoke !== undefined) {
    return asEvent({ ...base, kind: "delete", messageExternalId: revoke.original_message_id });
  }
  if (type === "edit" && edit !== undefined) {
    const { original_message_id: messageExternalId, message: after } = edit;
    const content = contentOf(after);
    if (content.text === "" && content.files === undefined) return ignored("the edit has nothing to read");
    return asEvent({ ...base, kind: "edit", messageExternalId, ...content, knownOnly: true });
  }
  // WhatsApp reports that a customer has opened the chat.
  if (type === "request_welcome") return ignored("the customer has written nothing yet");
  const reply = interactive?.button_reply ?? interactive?.list_reply;
  const opinion = reply === undefined ? undefined : readOpinion(reply.id);
  if (opinion !== undefined) return asEvent({ ...base, ...opinion });
  const { text, files } = contentOf(message);
  if (text === "" && files === undefined) return asEvent(unreadEvent(base, message, place));
  const { context, button } = message;
  const pressed = button?.payload ?? reply?.id;
  const metadata = metadataOf(message, contactOf(message, contacts));
  return asEvent({
    ...base,
    kind: "message",
    messageExternalId: message.id,
    text,
    ...refsOf(place),
    ...(files === undefined ? {} : { files }),
    ...(context?.id === undefined ? {} : { refersTo: { externalIds: [context.id] } }),
    ...(isForwarded(context) ? { forwarded: {} } : {}),
    ...(pressed === personButton || button?.payload === "human" || (!isForwarded(context) && isLabel(text, personLabel))
      ? { wantsPerson: true }
      : {}),
    ...(Object.keys(metadata).length === 0 ? {} : { metadata }),
  });
}

/** WhatsApp does not say who wrote it. */
const isForwarded = (context: Message["context"]): boolean =>
  context?.forwarded === true || context?.frequently_forwarded === true;

/** A message whose content has an unknown form is for agents. */
export const readingOfUnread = (message: UnreadMessage, situation: Situation): Reading =>
  asEvent(unreadEvent(baseOf(message, situation), message, situation.place));

const refsOf = ({ messageRefs }: Pick<Place, "messageRefs">) => (messageRefs.length === 0 ? {} : { messageRefs });

function unreadEvent(base: Base, { id, type, errors }: UnreadMessage, place: Place): MessageEvent {
  const error = Array.isArray(errors) ? readError(errors[0]) : undefined;
  const reason = error === undefined ? undefined : detailsOf(error);
  const name = type === "unsupported" || !/^\w{1,40}$/.test(type) ? "message" : type.replaceAll("_", " ");
  return {
    ...base,
    kind: "message",
    messageExternalId: id,
    text: `[${name} that can be seen on the telephone only]`,
    ...refsOf(place),
    peopleOnly: `The customer has sent something that WhatsApp does not pass on, or in an unknown form${reason === undefined ? "" : ` (${reason})`}. Ask what it is.`,
  };
}

function baseOf(message: UnreadMessage, { place: { thread, key, number }, contacts, now }: Situation): Base {
  const name = contactOf(message, contacts)?.profile?.name?.trim().slice(0, 190) ?? "";
  const proven = number === undefined ? {} : { proven: { phone: number } };
  return {
    externalId: `message:${message.id}`,
    thread,
    sender: { key, ...(name === "" ? {} : { name }), ...proven },
    sentAt: timeOf(message.timestamp, now),
  };
}

const contactOf = (
  { from, from_user_id: userId }: Pick<UnreadMessage, "from" | "from_user_id">,
  contacts: readonly Contact[],
): Contact | undefined =>
  contacts.find((each) => (from === undefined ? each.user_id === userId : each.wa_id === from)) ??
  (contacts.length === 1 ? contacts[0] : undefined);

/** Meta's times are in seconds, as text. */
export function timeOf(timestamp: unknown, now: number): number {
  const ms = typeof timestamp === "string" && /^[0-9]{1,12}$/.test(timestamp) ? Number(timestamp) * 1_000 : now;
  return Math.min(ms, now);
}

/**
 * A customer with a new number gets a new business-scoped ID, too. Where Meta shows no number with it, the old number is no
 * longer theirs.
 */
function readSystem(
  { from = "" }: Message,
  { type = "", wa_id: waId, new_wa_id: newNumber = waId, user_id: userId }: NonNullable<Message["system"]>,
  base: Base,
  place: Place,
): Reading {
  const isOfId = type.endsWith("_changed_user_id");
  const keptNumber = isOfId && isTelephoneNumber(threadOf(from)) ? from : undefined;
  const name = newNumber ?? keptNumber ?? userId;
  const messageRefs = userId === undefined ? [] : [...place.messageRefs, refOf(userId)];
  const isKnown = name === undefined || (messageRefs.length === 0 && threadOf(name) === base.thread);
  if (isKnown || !(isOfId || type.endsWith("_changed_number"))) return ignored("it is a notice without effect");
  return asEvent({ ...base, kind: "moved", toThread: threadOf(name), ...refsOf({ messageRefs }) });
}

/** WhatsApp has one reaction a customer; an emptied emoji takes it back. */
const readReaction = ({ message_id: externalId, emoji = "" }: NonNullable<Message["reaction"]>, base: Base): Reading =>
  asEvent({
    ...base,
    kind: "reaction",
    of: { externalIds: [externalId] },
    added: emoji === "" ? [] : [emoji],
    removed: "all",
  });

function contentOf(content: Content): { readonly text: string; readonly files?: readonly InboundFile[] } {
  const { text, image, video, audio, voice, document, sticker, button, interactive } = content;
  const sent: readonly (readonly [string, string, Media | undefined])[] = [
    ["photo", "image/jpeg", image],
    ["video", "video/mp4", video],
    [audio?.voice === true ? "voice message" : "audio", "audio/ogg", audio],
    ["voice message", "audio/ogg", voice],
    ["file", "application/octet-stream", document],
    ["sticker", "image/webp", sticker],
  ];
  const files = sent.flatMap(([name, type, media]) => (media === undefined ? [] : [fileOf(name, type, media)]));
  const { button_reply: pressed, list_reply: chosen, nfm_reply: form } = interactive ?? {};
  const lines = [
    text?.body,
    ...sent.map(([, , media]) => media?.caption),
    button?.text,
    pressed?.title,
    chosen?.title,
    form?.body,
    ...otherLines(content),
  ];
  const written = lines.filter((line) => line !== undefined && line !== "").join("\n\n");
  return { text: written, ...(files.length === 0 ? {} : { files }) };
}

function fileOf(name: string, type: string, { id, sha256, mime_type: given, filename }: Media): InboundFile {
  const mediaType = (given ?? "").slice(0, 100) || type;
  const ownName = (filename ?? "").slice(0, 190);
  return {
    ref: id,
    ...(sha256 === undefined ? {} : { key: sha256 }),
    name: ownName === "" ? `${name}${whatsappEnding(mediaType)}` : ownName,
    mediaType,
    bytes: null,
  };
}

const lineMax = 500;

/** A line in brackets for content that is neither text nor a file. */
function otherLines({ location, contacts = [], order }: Content): readonly string[] {
  const lines: string[] = [];
  if (location !== undefined) {
    const { latitude, longitude, name, address } = location;
    lines.push(listed("location", [`${latitude}, ${longitude}`, name, address]));
  }
  for (const { name, phones = [], emails = [] } of contacts) {
    const numbers = phones.map(({ phone, wa_id: id }) => phone ?? id);
    const called = name?.formatted_name ?? name?.first_name;
    lines.push(listed("contact", [called, ...numbers, ...emails.map(({ email }) => email)]));
  }
  if (order !== undefined) {
    const items = order.product_items.map(
      ({ quantity = 1, product_retailer_id: item = "?", item_price, currency = "" }) =>
        `${quantity} × ${item}${item_price === undefined ? "" : ` (${item_price} ${currency}`.trimEnd() + ")"}`,
    );
    if (order.text !== undefined) lines.push(order.text);
    lines.push(listed("order", items));
  }
  return lines;
}

const listed = (name: string, parts: readonly (string | undefined)[]): string =>
  `[${name}: ${parts
    .filter((part) => part !== undefined && part !== "")
    .join(", ")
    .slice(0, lineMax)}]`;

function metadataOf(
  { context, referral, button, interactive }: Message,
  contact: Contact | undefined,
): Readonly<Record<string, unknown>> {
  const { button_reply: pressed, list_reply: chosen, nfm_reply: form } = interactive ?? {};
  const values: Readonly<Record<string, string | undefined>> = {
    reply_to: context?.id,
    forwarded: isForwarded(context) ? "true" : undefined,
    username: contact?.profile?.username,
    button: button?.payload ?? pressed?.id ?? chosen?.id,
    form: form?.response_json,
    referral: referral?.source_url,
    referral_headline: referral?.headline,
    referral_source: referral?.source_type,
    referral_id: referral?.source_id,
  };
  return Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) =>
      value === undefined || value === "" ? [] : [[name, value.slice(0, lineMax)]],
    ),
  );
}

const states: ReadonlyMap<string, DeliveryEvent["state"]> = new Map([
  ["sent", "sent"],
  ["delivered", "delivered"],
  ["read", "read"],
  ["played", "read"],
  ["failed", "failed"],
]);
const keyPattern = /^[!-~]{1,64}$/;

/** null: the state is unknown. */
export function deliveryEvent(report: Status, now: number): DeliveryEvent | null {
  const { id, status, timestamp, biz_opaque_callback_data: key = "", errors = [] } = report;
  const state = states.get(status);
  if (state === undefined) return null;
  const [error] = errors;
  return {
    kind: "delivery",
    externalId: `status:${id}:${state}`,
    partExternalId: id,
    ...(keyPattern.test(key) ? { partKey: key } : {}),
    state,
    ...(state === "failed" ? { error: `This message could not be delivered: ${failureText(error)}` } : {}),
    ...(state === "failed" && closesWindow(error?.code) ? { windowClosed: true } : {}),
    sentAt: timeOf(timestamp, now),
  };
}

const detailsOf = ({ error_data: data, message, title }: ErrorItem): string =>
  (data?.details ?? message ?? title ?? "Meta gives no reason").slice(0, 300);

const failureText = (error: ErrorItem | undefined): string =>
  error === undefined ? "Meta gives no reason" : reasonOf(error.code, detailsOf(error));
