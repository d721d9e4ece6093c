import { createHash } from "node:crypto";
import { DiscordAPIError, MessageFlags, Routes } from "discord.js";
import Type from "typebox";
import { Value } from "typebox/value";
import type { CanReact, OutboundFile, Receipt, SendContext } from "#channels/contract.ts";
import type { Part } from "#channels/inbound-event.ts";
import { DeliveryError } from "#channels/errors.ts";
import { buttonsOfPart, componentsOf } from "./buttons.ts";
import type { Calls, NamedBytes } from "./client.ts";
import { codeOf, deliveryError, noAccess, refusesReference, unknownChannel } from "./errors.ts";
import type { DiscordPart } from "./render.ts";
import { fileBytesMax } from "./render.ts";
import type { DiscordThread } from "./thread.ts";
import { channelOf, parseThread } from "./thread.ts";

/** Discord archives a thread after a day without a message; a new message reopens it. */
const archiveAfterMinutes = 1_440;

/** A bot's message must not notify anyone. Without this, `@everyone` would. */
const noMentions = { parse: [], replied_user: false } as const;

const sentSchema = Type.Object({ id: Type.String(), channel_id: Type.String() });

export async function sendPart(calls: Calls, part: Part, context: SendContext): Promise<Receipt> {
  const payload = part.payload as DiscordPart;
  const thread = parseThread(context.thread);
  try {
    const buttons = payload.kind === "text" ? buttonsOfPart(payload, context.messageId) : [];
    const files = payload.kind === "file" ? [await readFile(payload.file, context)] : undefined;
    const body = {
      ...(payload.kind === "text" ? { content: payload.content } : {}),
      ...(buttons.length === 0 ? {} : { components: componentsOf(buttons) }),
      // Discord deduplicates by nonce for some minutes.
      nonce: createHash("sha256").update(context.key).digest("base64url").slice(0, 25),
      enforce_nonce: true,
      allowed_mentions: noMentions,
      flags: MessageFlags.SuppressEmbeds,
    };
    const to = (more: object) => post(calls, thread, { ...body, ...more }, context.signal, files);
    return await to(referenceOf(payload)).catch((error: unknown) => {
      if (!refusesReference(error)) throw error;
      return to({});
    });
  } catch (error) {
    throw deliveryError(error);
  }
}

/** Discord sends the message without the reference if the other one is gone, or in another channel. */
function referenceOf(payload: DiscordPart): object {
  const answered = payload.kind === "text" ? payload.refersTo?.split(":").at(-1) : undefined;
  return answered === undefined ? {} : { message_reference: { message_id: answered, fail_if_not_exists: false } };
}

async function post(
  calls: Calls,
  thread: DiscordThread,
  body: object,
  signal: AbortSignal,
  files: readonly NamedBytes[] | undefined,
): Promise<Receipt> {
  const to = (channelId: string, more: object = {}) =>
    calls.post(Routes.channelMessages(channelId), { ...body, ...more }, signal, files).then(receiptOf);
  try {
    return await to(channelOf(thread));
  } catch (error) {
    if (thread.kind === "direct" || codeOf(error) !== unknownChannel) throw error;
  }
  // The bot's first reply opens the thread.
  try {
    await calls.post(
      Routes.threads(thread.parentId, thread.threadId),
      { name: "Support", auto_archive_duration: archiveAfterMinutes },
      signal,
    );
  } catch (error) {
    const code = codeOf(error);
    if (code === undefined || !noAccess.has(code)) throw error;
    // A bot that may not open threads replies to the message in its channel.
    return to(thread.parentId, { message_reference: { message_id: thread.threadId, fail_if_not_exists: false } });
  }
  return to(thread.threadId);
}

function receiptOf(sent: unknown): Receipt {
  if (!Value.Check(sentSchema, sent)) throw new DeliveryError("unknown", "Discord's response contains no message");
  return { externalId: `${sent.channel_id}:${sent.id}`, state: "sent" };
}

async function readFile(file: OutboundFile, context: SendContext): Promise<NamedBytes> {
  if (context.file === undefined) throw new DeliveryError("rejected", "the file of this message is gone");
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of await context.file(file.id)) {
    bytes += piece.length;
    if (bytes > fileBytesMax) throw new DeliveryError("rejected", "the file is too large for Discord");
    pieces.push(piece);
  }
  return { name: file.name, data: Buffer.concat(pieces), contentType: file.mediaType };
}

export async function editPart(calls: Calls, part: Part, externalId: string, signal: AbortSignal): Promise<void> {
  const payload = part.payload as DiscordPart;
  if (payload.kind === "file") throw new DeliveryError("rejected", "Discord cannot change a file");
  const { channelId, messageId } = placeOf(externalId);
  try {
    // Discord parses mentions again on an edit, and keeps the buttons.
    await calls.patch(
      Routes.channelMessage(channelId, messageId),
      { content: payload.content, allowed_mentions: noMentions },
      signal,
    );
  } catch (error) {
    throw deliveryError(error);
  }
}

export async function removePart(calls: Calls, externalId: string, signal: AbortSignal): Promise<void> {
  const { channelId, messageId } = placeOf(externalId);
  try {
    await calls.delete(Routes.channelMessage(channelId, messageId), signal);
  } catch (error) {
    // A deleted message needs no removal.
    if (error instanceof DiscordAPIError && error.status === 404) return;
    throw deliveryError(error);
  }
}

function placeOf(externalId: string): { readonly channelId: string; readonly messageId: string } {
  const [channelId = "", messageId = ""] = externalId.split(":");
  return { channelId, messageId };
}

/** Adds the bot's reaction before it removes the former one, so that the customer sees no gap. */
export async function reactTo(
  calls: Calls,
  messageId: string,
  emoji: string | null,
  { thread: name, replaces, signal }: Parameters<CanReact["react"]>[2],
): Promise<void> {
  const thread = parseThread(name);
  // The message that starts a thread is in the channel above it.
  const isFirst = thread.kind === "thread" && thread.threadId === messageId;
  const channelId = isFirst ? thread.parentId : channelOf(thread);
  const own = (sign: string) => Routes.channelMessageOwnReaction(channelId, messageId, encodeURIComponent(sign));
  try {
    if (emoji !== null) await calls.put(own(emoji), signal);
    if (replaces !== null) await calls.delete(own(replaces), signal).catch(unlessGone);
  } catch (error) {
    throw deliveryError(error);
  }
}

function unlessGone(error: unknown): void {
  if (!(error instanceof DiscordAPIError && error.status === 404)) throw error;
}
