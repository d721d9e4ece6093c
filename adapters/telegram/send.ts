import type { Api } from "grammy";
import { InputFile } from "grammy";
import type { ChannelHost, Receipt, SendContext } from "#channels/contract.ts";
import type { OpinionButton } from "#channels/opinion-buttons.ts";
import { opinionButtons } from "#channels/opinion-buttons.ts";
import type { Part } from "#channels/inbound-event.ts";
import { DeliveryError } from "#channels/errors.ts";
import { foreignAnswer } from "#channels/http/foreign-response.ts";
import type { Failure } from "./errors.ts";
import { failureOf } from "./errors.ts";
import type { TelegramPart } from "./render.ts";
import { movedId, parseThread } from "./thread.ts";
import { grammySignal } from "./client.ts";

type Entities = NonNullable<NonNullable<Parameters<Api["sendMessage"]>[2]>["entities"]>;

export interface SendDependencies {
  readonly api: Api;
  /** The same API with a time limit for large files. */
  readonly uploads: Api;
  readonly host: ChannelHost;
  readonly token: string;
}

/**
 * Sends one message. Telegram has no idempotency key and no history to search. A message that it refuses for its form is
 * sent in another form, each form once; a refused message was not shown, so this cannot duplicate it.
 */
export async function sendPart(
  { api, uploads, host, token }: SendDependencies,
  part: Part,
  context: SendContext,
): Promise<Receipt> {
  const payload = part.payload as TelegramPart;
  let how: How = { ...parseThread(context.thread), withEntities: true, asPhoto: isPhoto(payload) };
  for (;;) {
    try {
      return await postPart(payload.file === undefined ? api : uploads, payload, context, how);
    } catch (error) {
      if (error instanceof DeliveryError) throw error;
      const failure = failureOf(error, token);
      const other = otherHow(how, failure);
      if (other === undefined) {
        const refused = deliveryError(failure);
        if (isGone(failure)) await logFailure(host, reportUnreachable(host, context, refused.message));
        throw refused;
      }
      // If the supergroup has a conversation already, this one keeps its thread, and its messages still go to the supergroup.
      if (other.chatId !== how.chatId) await logFailure(host, reportMoved(host, how.chatId, other.chatId));
      how = other;
    }
  }
}

/** A failure to store the chat's state must not change the message's outcome; the next refused message reports it again. */
async function logFailure(host: ChannelHost, report: Promise<unknown>): Promise<void> {
  try {
    await report;
  } catch (error) {
    host.log.warn({ err: error }, "telegram: storing a chat's state failed");
  }
}

const aboutEntities = /entit/i;

/** The next form to try after a failure; undefined when none is left. */
function otherHow(how: How, failure: Failure): How | undefined {
  if (failure.kind !== "answered") return undefined;
  const { movedTo } = failure;
  if (movedTo !== undefined && how.moved === undefined) return { ...how, moved: true, chatId: movedTo };
  if (how.topicId !== undefined && isAbout(failure, /message thread not found|TOPIC_(?:CLOSED|DELETED)/i)) {
    return { ...how, topicId: undefined };
  }
  if (how.asPhoto && isAbout(failure, /photo|image/i)) return { ...how, asPhoto: false };
  if (how.withEntities && isAbout(failure, aboutEntities)) return { ...how, withEntities: false };
  return undefined;
}

async function reportMoved(host: ChannelHost, from: number, to: number): Promise<void> {
  await host.accept({
    kind: "moved",
    externalId: movedId(from, to),
    thread: String(from),
    toThread: String(to),
    sender: { key: String(from) },
    sentAt: host.clock.now(),
  });
}

/** The bot cannot write in the chat: it was blocked or removed, or the chat does not exist for it. */
const isGone = (failure: Failure): boolean =>
  (failure.kind === "answered" && failure.code === 403) || isAbout(failure, /chat not found|PEER_ID_INVALID/i);

/** Marks the chat as unreachable, so that agents see it before they write again. */
async function reportUnreachable(host: ChannelHost, { thread, key }: SendContext, reason: string): Promise<void> {
  await host.accept({
    kind: "reach",
    externalId: `unreachable:${key}`,
    thread,
    sender: { key: String(parseThread(thread).chatId) },
    sentAt: host.clock.now(),
    reachable: false,
    reason: `Nothing that you write here arrives: ${reason}.`,
  });
}

interface How {
  readonly chatId: number;
  readonly topicId: number | undefined;
  readonly withEntities: boolean;
  readonly asPhoto: boolean;
  /** The chat id is that of the supergroup which replaced the group. */
  readonly moved?: true;
}

/** Larger pictures are sent as documents. */
const photoBytesMax = 10_000_000;
const photoTypes: ReadonlySet<string> = new Set(["image/jpeg", "image/png", "image/webp"]);

const isPhoto = ({ file }: TelegramPart): boolean =>
  file !== undefined && photoTypes.has(file.mediaType) && file.bytes <= photoBytesMax;

/** Undefined for a message of another chat: the group became a supergroup meanwhile. */
function answeredId(refersTo: string | undefined, chatId: number): number | undefined {
  const [, chat, message] = /^(-?\d+):(\d+)$/.exec(refersTo ?? "") ?? [];
  return Number(chat) === chatId ? Number(message) : undefined;
}

async function postPart(
  api: Api,
  { text, entities, file, opinion, refersTo }: TelegramPart,
  { signal, messageId, file: bytesOf }: SendContext,
  { chatId, topicId, withEntities, asPhoto }: How,
): Promise<Receipt> {
  const answered = answeredId(refersTo, chatId);
  const more = {
    ...(answered === undefined
      ? {}
      : { reply_parameters: { message_id: answered, allow_sending_without_reply: true } }),
    ...(topicId === undefined ? {} : { message_thread_id: topicId }),
    ...(opinion === undefined ? {} : { reply_markup: keyboardOf(opinionButtons(opinion, messageId)) }),
  };
  const marks = withEntities && entities.length > 0 ? ([...entities] as Entities) : undefined;
  if (file === undefined) {
    const sent = await api.sendMessage(
      chatId,
      text,
      {
        link_preview_options: { is_disabled: true },
        ...(marks === undefined ? {} : { entities: marks }),
        ...more,
      },
      grammySignal(signal),
    );
    return { externalId: `${sent.chat.id}:${sent.message_id}`, state: "sent" };
  }
  if (bytesOf === undefined) throw new DeliveryError("rejected", "the file no longer exists");
  // grammY sends the name without quotation marks, so a semicolon would end it.
  const input = new InputFile(await bytesOf(file.id), file.name.replaceAll(/[;"\r\n]/g, "_"));
  const how = {
    ...(text === "" ? {} : { caption: text }),
    ...(marks === undefined ? {} : { caption_entities: marks }),
    ...more,
  };
  const sent = asPhoto
    ? await api.sendPhoto(chatId, input, how, grammySignal(signal))
    : await api.sendDocument(chatId, input, { ...how, disable_content_type_detection: true }, grammySignal(signal));
  return { externalId: `${sent.chat.id}:${sent.message_id}`, state: "sent" };
}

/** Buttons in one row below a message. */
export const keyboardOf = (buttons: readonly OpinionButton[]) => ({
  inline_keyboard: [buttons.map(({ label, data }) => ({ text: label, callback_data: data }))],
});

/** The chat's id and the message's id. */
function parseExternalId(externalId: string): { readonly chatId: number; readonly messageId: number } {
  const [chat, message] = externalId.split(":").map(Number);
  if (chat === undefined || message === undefined || !Number.isSafeInteger(chat) || !Number.isSafeInteger(message)) {
    throw new DeliveryError("rejected", "this message is not known by a number that Telegram has given");
  }
  return { chatId: chat, messageId: message };
}

export async function editPart(
  api: Api,
  token: string,
  part: Part,
  externalId: string,
  { signal, messageId: ownId }: SendContext,
): Promise<void> {
  const { text, entities, file, opinion } = part.payload as TelegramPart;
  const { chatId, messageId } = parseExternalId(externalId);
  // Telegram removes the buttons of a message that is edited without them.
  const buttons = opinion === undefined ? {} : { reply_markup: keyboardOf(opinionButtons(opinion, ownId)) };
  const change = async (marks: Entities): Promise<unknown> =>
    file === undefined
      ? api.editMessageText(
          chatId,
          messageId,
          text,
          { entities: marks, link_preview_options: { is_disabled: true }, ...buttons },
          grammySignal(signal),
        )
      : api.editMessageCaption(
          chatId,
          messageId,
          { caption: text, caption_entities: marks, ...buttons },
          grammySignal(signal),
        );
  for (let marks = [...entities] as Entities; ; marks = []) {
    try {
      await change(marks);
      return;
    } catch (error) {
      const failure = failureOf(error, token);
      // An earlier attempt succeeded without its response arriving.
      if (isAbout(failure, /message is not modified/i)) return;
      if (marks.length === 0 || !isAbout(failure, aboutEntities)) throw deliveryError(failure);
    }
  }
}

export async function removePart(api: Api, token: string, externalId: string, { signal }: SendContext): Promise<void> {
  const { chatId, messageId } = parseExternalId(externalId);
  try {
    await api.deleteMessage(chatId, messageId, grammySignal(signal));
  } catch (error) {
    const failure = failureOf(error, token);
    if (isAbout(failure, /message to delete not found/i)) return;
    if (isAbout(failure, /message can't be deleted/i)) {
      throw new DeliveryError("rejected", "Telegram lets a bot take back only messages of the last 48 hours");
    }
    throw deliveryError(failure);
  }
}

type Reactions = NonNullable<Parameters<Api["setMessageReaction"]>[2]>;

/** A bot has one reaction at a message, which the call replaces. */
export async function reactTo(
  api: Api,
  token: string,
  externalId: string,
  emoji: string | null,
  signal: AbortSignal,
): Promise<void> {
  const { chatId, messageId } = parseExternalId(externalId);
  // Telegram knows the heart without the sign that asks for its picture.
  const shown = emoji === null ? [] : [{ type: "emoji", emoji: emoji.replaceAll("\uFE0F", "") }];
  try {
    await api.setMessageReaction(chatId, messageId, shown as unknown as Reactions, {}, grammySignal(signal));
  } catch (error) {
    const failure = failureOf(error, token);
    // A message that the customer has deleted shows no reaction to take back.
    if (emoji === null && isAbout(failure, /message to react not found|MESSAGE_ID_INVALID/i)) return;
    if (isAbout(failure, /REACTION_INVALID/i)) {
      throw new DeliveryError("rejected", "this Telegram chat does not allow this reaction");
    }
    throw deliveryError(failure);
  }
}

const isAbout = (failure: Failure, what: RegExp): boolean =>
  failure.kind === "answered" && failure.code === 400 && what.test(failure.description);

function deliveryError(failure: Failure): DeliveryError {
  switch (failure.kind) {
    case "unreachable":
      return new DeliveryError("not_sent", `Telegram cannot be reached (${failure.description})`);
    case "foreign":
      return foreignAnswer("Telegram", failure.status, failure.retryAfterMs);
    case "broken":
      return new DeliveryError("unknown", `the connection to Telegram broke (${failure.description})`);
    case "answered":
  }
  const { code, description, retryAfterMs } = failure;
  if (code === 429) {
    return new DeliveryError("not_sent", "Telegram allows no more messages to this chat for now", {
      retryAfterMs: retryAfterMs ?? 1_000,
    });
  }
  // The Bot API's `ok: false` means that nothing was done, whatever the status.
  if (code >= 500) return new DeliveryError("not_sent", `Telegram failed (${description})`);
  // The message is retried until the token is fixed.
  if (code === 401 || code === 404) {
    return new DeliveryError("not_sent", "Telegram does not know the bot's token: check `token`", {
      retryAfterMs: 60_000,
    });
  }
  return new DeliveryError("rejected", reasonOf(description));
}

/** The reason in words for an agent. */
function reasonOf(description: string): string {
  if (/bot was blocked by the user/i.test(description)) return "the customer has blocked the bot on Telegram";
  if (/user is deactivated/i.test(description)) return "the customer's Telegram account is deleted";
  if (/bot was kicked|bot is not a member/i.test(description)) return "the bot was removed from this Telegram group";
  if (/group chat was deleted/i.test(description)) return "this Telegram group was deleted";
  if (/can't initiate conversation/i.test(description)) return "the customer has never written to the bot on Telegram";
  if (/chat not found|PEER_ID_INVALID/i.test(description)) return "Telegram has no such chat for this bot any more";
  if (/message to react not found|MESSAGE_ID_INVALID/i.test(description)) {
    return "the message is no longer on Telegram";
  }
  if (/not enough rights to send (?!text)/i.test(description)) {
    return "the bot may not send such files in this Telegram group";
  }
  if (/not enough rights|have no rights/i.test(description)) return "the bot may not write in this Telegram group";
  return `Telegram refuses it: ${description}`;
}
