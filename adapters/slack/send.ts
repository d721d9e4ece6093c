import type { CanReact, ChannelHost, Receipt, SendContext } from "#channels/contract.ts";
import type { Part } from "#channels/inbound-event.ts";
import { DeliveryError } from "#channels/errors.ts";
import { opinionButtons } from "#channels/opinion-buttons.ts";
import { actionsBlock, feedbackBlock } from "./messages/buttons.ts";
import type { SlackApi } from "./client.ts";
import { deliveryError, failureOf, operatorError } from "./errors.ts";
import type { RichText, SlackPart } from "./render.ts";
import { nameOfEmoji } from "./messages/emoji.ts";
import { messageIdOf, metadataType, parseMessageId, parseThread } from "./messages/thread.ts";
import { fileIdOf, removeFile, sendFile, unlessRefused } from "./messages/upload.ts";

type Post = NonNullable<Parameters<ReturnType<SlackApi["client"]>["chat"]["postMessage"]>[0]>;
export type Blocks = Extract<Post, { blocks: unknown }>["blocks"];

export interface Sending {
  readonly api: SlackApi;
  readonly holds: Holds;
  /** Logs once that the app cannot verify whether a reply is in its thread. */
  unchecked(reason: string): void;
}

export function createSending(api: SlackApi, host: Pick<ChannelHost, "clock" | "log">): Sending {
  let isLogged = false;
  return {
    api,
    holds: createHolds(host),
    unchecked(reason) {
      if (isLogged) return;
      isLogged = true;
      host.log.warn({ reason }, "slack: replies to a deleted first message may land outside of its thread");
    },
  };
}

/** Channels with an active rate limit. */
export interface Holds {
  /** Throws while the channel is held. */
  check(channelId: string): void;
  hold(channelId: string, forMs: number): void;
}

/** Slack limits by channel: a hold applies to all threads of a channel, and to no other channel. */
export function createHolds({ clock }: Pick<ChannelHost, "clock">): Holds {
  const until = new Map<string, number>();
  return {
    check(channelId) {
      const left = (until.get(channelId) ?? 0) - clock.now();
      if (left > 0) {
        throw new DeliveryError("not_sent", "Slack allows no more messages to this channel for now", {
          retryAfterMs: left,
        });
      }
      until.delete(channelId);
    },
    hold(channelId, forMs) {
      until.set(channelId, Math.max(until.get(channelId) ?? 0, clock.now() + forMs));
    },
  };
}

export async function sendPart(sending: Sending, part: Part, context: SendContext): Promise<Receipt> {
  const { channelId, threadTs } = parseThread(context.thread);
  const payload = part.payload as SlackPart;
  return inChannel(sending, channelId, async () => {
    if (payload.kind === "file") return sendFile(sending.api, payload, { channelId, threadTs }, context);
    const { text } = payload;
    const post = async (shown: readonly Block[]): Promise<Receipt> => {
      const { ts, message } = await sending.api.client(context.signal).chat.postMessage({
        channel: channelId,
        text,
        ...(shown.length === 0 ? {} : { blocks: [...shown] as Blocks }),
        ...(threadTs === undefined ? {} : { thread_ts: threadTs }),
        metadata: { event_type: metadataType, event_payload: { delivery: context.key } },
        unfurl_links: false,
        unfurl_media: false,
      });
      if (ts !== undefined && threadTs !== undefined && message !== undefined && message.thread_ts === undefined) {
        await keepInThread(sending, { channelId, threadTs, ts }, context.signal);
      }
      return { externalId: ts === undefined ? null : messageIdOf(channelId, ts), state: "sent" };
    };
    const { blocks, simpler } = blocksOf(payload, context);
    return withoutBlocks(blocks, post, simpler);
  });
}

type Block = RichText | ReturnType<typeof actionsBlock> | NonNullable<ReturnType<typeof feedbackBlock>>;

/**
 * The text's blocks, and its buttons. The key as the block's id lets a message be found whose metadata a press removed.
 * `simpler`: for a server that does not know Slack's own thumbs.
 */
function blocksOf(
  { blocks, opinion }: Extract<SlackPart, { kind: "text" }>,
  { key, messageId }: SendContext,
): { readonly blocks: readonly Block[]; readonly simpler?: readonly Block[] } {
  if (opinion === undefined) return { blocks };
  const buttons = opinionButtons(opinion, messageId);
  const simpler = [...blocks, actionsBlock(key, buttons)];
  const feedback = feedbackBlock(key, buttons);
  return feedback === undefined ? { blocks: simpler } : { blocks: [...blocks, feedback], simpler };
}

interface PostedMessage {
  readonly channelId: string;
  readonly threadTs: string;
  readonly ts: string;
}

/**
 * Deletes a reply whose thread no longer exists: Slack posts it in the channel itself, where everyone could read it. Throws
 * the reason then.
 */
async function keepInThread(sending: Sending, posted: PostedMessage, signal: AbortSignal): Promise<void> {
  const problem = await problemOfThread(sending, posted, signal);
  if (problem === undefined) return;
  const { outcome, message, retryAfterMs } = problem;
  const { channelId, ts } = posted;
  try {
    await unlessRefused(["message_not_found"], () =>
      sending.api.client(signal).chat.delete({ channel: channelId, ts }),
    );
  } catch (error) {
    if (outcome === "rejected") {
      throw new DeliveryError(outcome, `${message}; this one is in the channel itself`, { cause: error });
    }
    throw new DeliveryError("unknown", `${message}; it may be in the channel itself`, { cause: error });
  }
  throw new DeliveryError(outcome, message, retryAfterMs === undefined ? {} : { retryAfterMs });
}

/** The reason why the posted reply cannot remain; undefined if it can. */
async function problemOfThread(
  { api, unchecked }: Sending,
  { channelId, threadTs }: PostedMessage,
  signal: AbortSignal,
): Promise<DeliveryError | undefined> {
  try {
    // Servers that imitate Slack may omit `thread_ts` in a correct thread too.
    await api.client(signal).conversations.replies({ channel: channelId, ts: threadTs, limit: 1 });
    return undefined;
  } catch (error) {
    const failure = failureOf(error);
    const problem = deliveryError(failure);
    if (failure.kind === "refused" && failure.code === "thread_not_found") return problem;
    // A retry would fail until the app is fixed.
    const isLasting = problem.outcome === "rejected" || (failure.kind === "status" && failure.status < 500);
    if (isLasting || (failure.kind === "refused" && failure.code === "missing_scope")) {
      unchecked(operatorError(failure).message);
      return undefined;
    }
    const { retryAfterMs } = problem;
    return new DeliveryError(
      "not_sent",
      "Slack does not say whether the first message of this thread still exists",
      retryAfterMs === undefined ? {} : { retryAfterMs },
    );
  }
}

/** Edits a text message. */
export async function editPart(sending: Sending, part: Part, externalId: string, context: SendContext): Promise<void> {
  const { channelId, ts } = parseMessageId(externalId);
  const payload = part.payload as SlackPart;
  if (payload.kind === "file") throw new DeliveryError("rejected", "a file cannot be changed in Slack");
  const { blocks, simpler } = blocksOf(payload, context);
  const update = (shown: readonly Block[]) =>
    sending.api.client(context.signal).chat.update({
      channel: channelId,
      ts,
      text: payload.text,
      ...(shown.length === 0 ? { blocks: [] } : { blocks: [...shown] as Blocks }),
      metadata: { event_type: metadataType, event_payload: { delivery: context.key } },
    });
  await inChannel(sending, channelId, () => withoutBlocks(blocks, update, simpler));
}

export async function removePart(sending: Sending, externalId: string, context: SendContext): Promise<void> {
  const fileId = fileIdOf(externalId);
  if (fileId !== undefined) {
    const { channelId } = parseThread(context.thread);
    await inChannel(sending, channelId, () => removeFile(sending.api, fileId, context.signal));
    return;
  }
  const { channelId, ts } = parseMessageId(externalId);
  await inChannel(sending, channelId, () =>
    // A deleted message needs no removal.
    unlessRefused(["message_not_found"], () =>
      sending.api.client(context.signal).chat.delete({ channel: channelId, ts }),
    ),
  );
}

/** Adds the app's reaction before it removes the former one, so that the customer sees no gap. */
export async function reactTo(
  sending: Sending,
  externalId: string,
  emoji: string | null,
  { replaces, signal }: Parameters<CanReact["react"]>[2],
): Promise<void> {
  const { channelId: channel, ts: timestamp } = parseMessageId(externalId);
  const { reactions } = sending.api.client(signal);
  const [added, removed] = [emoji, replaces].map((each) => (each === null ? undefined : nameOfEmoji(each)));
  if (emoji !== null && added === undefined)
    throw new DeliveryError("rejected", "Slack's name of this emoji is unknown");
  await inChannel(sending, channel, async () => {
    if (added !== undefined) {
      await unlessRefused(["already_reacted"], () => reactions.add({ channel, timestamp, name: added }));
    }
    if (removed === undefined) return;
    const gone = ["no_reaction", "message_not_found"];
    await unlessRefused(gone, () => reactions.remove({ channel, timestamp, name: removed }));
  });
}

/**
 * Retries with simpler blocks and then without any if Slack refuses them. A refused message was not posted, so this cannot
 * duplicate it.
 */
export async function withoutBlocks<B, T>(
  blocks: readonly B[],
  post: (shown: readonly B[]) => Promise<T>,
  simpler?: readonly B[],
): Promise<T> {
  try {
    return await post(blocks);
  } catch (error) {
    const failure = failureOf(error);
    if (failure.kind !== "refused" || !/^(?:invalid_blocks|msg_blocks_too_long)/.test(failure.code)) throw error;
    return simpler === undefined ? post([]) : withoutBlocks(simpler, post);
  }
}

async function inChannel<T>({ holds }: Sending, channelId: string, call: () => Promise<T>): Promise<T> {
  holds.check(channelId);
  try {
    return await call();
  } catch (error) {
    if (error instanceof DeliveryError) throw error;
    const failure = failureOf(error);
    if (failure.kind === "limited") holds.hold(channelId, failure.retryAfterMs);
    throw deliveryError(failure);
  }
}
