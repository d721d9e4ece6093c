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
import type { BusinessConnections } from "./business.ts";
import { businessReason, byConnection, closesWindow, lacksRights, mayNotDelete } from "./business.ts";
import type { TelegramMessageId, TelegramThread } from "./thread.ts";
import { movedId, parseMessageId, parseThread, messageIdOf } from "./thread.ts";
import { grammySignal } from "./client.ts";

type Entities = NonNullable<NonNullable<Parameters<Api["sendMessage"]>[2]>["entities"]>;

export interface SendDependencies {
  readonly api: Api;
  /** The same API with a time limit for large files. */
  readonly uploads: Api;
  readonly host: ChannelHost;
  readonly token: string;
  readonly connections: BusinessConnections;
}

/**
 * Sends one message. Telegram has no idempotency key and no history to search. A message that it refuses for its form is
 * sent in another form, each form once; a refused message was not shown, so this cannot duplicate it.
 */
export async function sendPart(
  { api, uploads, host, token, connections }: SendDependencies,
  part: Part,
  context: SendContext,
): Promise<Receipt> {
  const payload = part.payload as TelegramPart;
  const thread = parseThread(context.thread);
  const connectionId = await connectionFor(connections, thread, context.signal);
  let how: How = { ...thread, connectionId, withEntities: true, asPhoto: isPhoto(payload) };
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

/** The connection of a business account's chat; undefined for the bot's own chats. */
async function connectionFor(
  connections: BusinessConnections,
  { ownerId }: Pick<TelegramThread, "ownerId">,
  signal: AbortSignal,
): Promise<string | undefined> {
  return ownerId === undefined ? undefined : connections.forSend(ownerId, signal);
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
  failure.kind === "answered" &&
  businessReason(failure.description) === undefined &&
  (failure.code === 403 || isAbout(failure, /chat not found|PEER_ID_INVALID/i));

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

interface How extends TelegramThread {
  readonly connectionId: string | undefined;
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
function answeredId(refersTo: string | undefined, { chatId, ownerId }: TelegramThread): number | undefined {
  const answered = refersTo === undefined ? undefined : parseMessageId(refersTo);
  return answered?.chatId === chatId && answered.ownerId === ownerId ? answered.messageId : undefined;
}

async function postPart(
  api: Api,
  { text, entities, file, opinion, refersTo }: TelegramPart,
  { signal, messageId, file: bytesOf }: SendContext,
  how: How,
): Promise<Receipt> {
  const { chatId, topicId, ownerId, withEntities, asPhoto } = how;
  const answered = answeredId(refersTo, how);
  const more = {
    ...byConnection(how.connectionId),
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
    return receiptOf(sent, ownerId);
  }
  if (bytesOf === undefined) throw new DeliveryError("rejected", "the file no longer exists");
  // grammY sends the name without quotation marks, so a semicolon would end it.
  const input = new InputFile(await bytesOf(file.id), file.name.replaceAll(/[;"\r\n]/g, "_"));
  const captioned = {
    ...(text === "" ? {} : { caption: text }),
    ...(marks === undefined ? {} : { caption_entities: marks }),
    ...more,
  };
  const sent = asPhoto
    ? await api.sendPhoto(chatId, input, captioned, grammySignal(signal))
    : await api.sendDocument(
        chatId,
        input,
        { ...captioned, disable_content_type_detection: true },
        grammySignal(signal),
      );
  return receiptOf(sent, ownerId);
}

function receiptOf(
  { chat, message_id: messageId }: { readonly chat: { readonly id: number }; readonly message_id: number },
  ownerId: number | undefined,
): Receipt {
  return { externalId: messageIdOf({ chatId: chat.id, messageId, ownerId }), state: "sent" };
}

/** Buttons in one row below a message. */
export const keyboardOf = (buttons: readonly OpinionButton[]) => ({
  inline_keyboard: [buttons.map(({ label, data }) => ({ text: label, callback_data: data }))],
});

function parseExternalId(externalId: string): TelegramMessageId {
  const id = parseMessageId(externalId);
  if (id !== undefined) return id;
  throw new DeliveryError("rejected", "this message is not known by a number that Telegram has given");
}

export type ChangeDependencies = Pick<SendDependencies, "api" | "token" | "connections">;

export async function editPart(
  { api, token, connections }: ChangeDependencies,
  part: Part,
  externalId: string,
  { signal, messageId: ownId }: SendContext,
): Promise<void> {
  const { text, entities, file, opinion } = part.payload as TelegramPart;
  const { chatId, messageId, ownerId } = parseExternalId(externalId);
  const more = {
    ...byConnection(await connectionFor(connections, { ownerId }, signal)),
    // Telegram removes the buttons of a message that is edited without them.
    ...(opinion === undefined ? {} : { reply_markup: keyboardOf(opinionButtons(opinion, ownId)) }),
  };
  const change = async (marks: Entities): Promise<unknown> =>
    file === undefined
      ? api.editMessageText(
          chatId,
          messageId,
          text,
          { entities: marks, link_preview_options: { is_disabled: true }, ...more },
          grammySignal(signal),
        )
      : api.editMessageCaption(
          chatId,
          messageId,
          { caption: text, caption_entities: marks, ...more },
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

export async function removePart(
  { api, token, connections }: ChangeDependencies,
  externalId: string,
  { signal }: SendContext,
): Promise<void> {
  const { chatId, messageId, ownerId } = parseExternalId(externalId);
  const connectionId = await connectionFor(connections, { ownerId }, signal);
  try {
    if (connectionId === undefined) await api.deleteMessage(chatId, messageId, grammySignal(signal));
    else await api.deleteBusinessMessages(connectionId, [messageId], grammySignal(signal));
  } catch (error) {
    const failure = failureOf(error, token);
    if (isAbout(failure, /message to delete not found/i)) return;
    if (connectionId !== undefined && isAbout(failure, lacksRights)) throw new DeliveryError("rejected", mayNotDelete);
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
  const { chatId, messageId, ownerId } = parseExternalId(externalId);
  if (ownerId !== undefined) {
    throw new DeliveryError("rejected", "Telegram lets no bot react in the chats of a connected account");
  }
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
  return new DeliveryError("rejected", reasonOf(description), {
    windowClosed: closesWindow.test(description),
  });
}

/** The reason in words for an agent. */
function reasonOf(description: string): string {
  const business = businessReason(description);
  if (business !== undefined) return business;
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
