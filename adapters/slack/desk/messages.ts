import { DeliveryError } from "#channels/errors.ts";
import type { DeskContext, DeskNotice, ShownFile } from "#channels/desk/contract.ts";
import { ThreadGone } from "#channels/desk/errors.ts";
import type { SlackApi } from "../client.ts";
import { isSlackAddress } from "../client.ts";
import { escapeText, mrkdwnObject } from "../messages/mrkdwn.ts";
import { sendFile, unlessRefused } from "../messages/upload.ts";
import type { Blocks } from "../send.ts";
import { withoutBlocks } from "../send.ts";
import { messageIdOf, metadataType, parseMessageId, parseThread } from "../messages/thread.ts";
import { cardDeleted } from "./calls.ts";
import type { Card, Json } from "./card.ts";
import { choiceButtons } from "./choices.ts";

/** Posts a message and returns its id. Throws `ThreadGone` when the thread's card was deleted. */
export async function postMessage(
  api: SlackApi,
  { channelId, threadTs }: { readonly channelId: string; readonly threadTs?: string | undefined },
  { text, blocks }: Card,
  { key, signal }: DeskContext,
): Promise<string> {
  const client = api.client(signal);
  const { ts, message } = await withoutBlocks(blocks, (shown) =>
    client.chat.postMessage({
      channel: channelId,
      text,
      ...(shown.length === 0 ? {} : { blocks: [...shown] as unknown as Blocks }),
      ...(threadTs === undefined ? {} : { thread_ts: threadTs }),
      metadata: { event_type: metadataType, event_payload: { delivery: key } },
      unfurl_links: false,
      unfurl_media: false,
    }),
  );
  if (ts === undefined) throw new DeliveryError("unknown", "Slack does not say what it has posted");
  // Slack posts a reply to a deleted card in the channel itself, where it must not remain.
  if (threadTs !== undefined && message !== undefined && message.thread_ts === undefined) {
    await client.chat.delete({ channel: channelId, ts });
    throw new ThreadGone(cardDeleted);
  }
  return messageIdOf(channelId, ts);
}

/** Uploads a file to a thread and returns the id of its message. */
export async function postFile(
  api: SlackApi,
  thread: string,
  { file, text }: { readonly file: ShownFile; readonly text: string },
  context: DeskContext,
): Promise<string> {
  const { externalId } = await sendFile(api, { file, comment: text }, parseThread(thread), context);
  if (externalId === null) throw new DeliveryError("unknown", "Slack does not say what it has shared");
  return externalId;
}

export async function updateMessage(
  api: SlackApi,
  messageId: string,
  { text, blocks }: Card,
  signal: AbortSignal,
): Promise<void> {
  const { channelId, ts } = parseMessageId(messageId);
  await withoutBlocks(blocks, (shown) =>
    api.client(signal).chat.update({ channel: channelId, ts, text, blocks: [...shown] as unknown as Blocks }),
  );
}

/** Adds a reaction, and removes another. */
export async function react(
  api: SlackApi,
  messageId: string,
  add: string,
  remove: string,
  signal: AbortSignal,
): Promise<void> {
  const { channelId: channel, ts: timestamp } = parseMessageId(messageId);
  const client = api.client(signal);
  await unlessRefused(["already_reacted"], () => client.reactions.add({ channel, timestamp, name: add }));
  await unlessRefused(["no_reaction"], () => client.reactions.remove({ channel, timestamp, name: remove }));
}

export async function deleteMessage(api: SlackApi, messageId: string, signal: AbortSignal): Promise<void> {
  const { channelId: channel, ts } = parseMessageId(messageId);
  const gone = ["message_not_found", "channel_not_found"];
  await unlessRefused(gone, () => api.client(signal).chat.delete({ channel, ts }));
}

/** Shows a notice to one person. `place`: a thread, or the response URL of a command. */
export async function notify(
  api: SlackApi,
  userId: string,
  place: string,
  { text, choices }: DeskNotice,
  signal: AbortSignal,
): Promise<void> {
  const shown = escapeText(text);
  const blocks: readonly Json[] = [
    { type: "section", text: mrkdwnObject(shown.slice(0, 3_000)) },
    ...(choices === undefined ? [] : [choiceButtons(choices)]),
  ];
  if (isSlackAddress(place, api.baseUrl)) {
    const status = await api.respond(place, { response_type: "ephemeral", text: shown, blocks }, signal);
    if (status < 300) return;
    const mayPass = status === 429 || status >= 500;
    throw new DeliveryError(mayPass ? "not_sent" : "rejected", `Slack answers with HTTP ${status}`);
  }
  const { channelId, threadTs } = parseThread(place);
  await api.client(signal).chat.postEphemeral({
    channel: channelId,
    user: userId,
    text: shown,
    blocks: blocks as unknown as Blocks,
    ...(threadTs === undefined ? {} : { thread_ts: threadTs }),
  });
}
