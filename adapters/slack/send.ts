import type { ChannelHost, Receipt, SendContext } from "#channels/contract.ts";
import type { Part } from "#channels/inbound-event.ts";
import { DeliveryError } from "#channels/errors.ts";
import type { SlackApi } from "./client.ts";
import { deliveryError, failureOf, operatorError } from "./errors.ts";
import type { RichText, SlackPart } from "./render.ts";
import { messageIdOf, parseMessageId, parseThread } from "./thread.ts";
import { fileIdOf, removeFile, sendFile, unlessRefused } from "./messages/upload.ts";

/** By which a message is found again when nobody knows what became of it. */
export const metadataType = "parley_delivery";

type Post = NonNullable<Parameters<ReturnType<SlackApi["client"]>["chat"]["postMessage"]>[0]>;
export type Blocks = Extract<Post, { blocks: unknown }>["blocks"];

export interface Sending {
  readonly api: SlackApi;
  readonly holds: Holds;
  /** Tells the operator, once, why it cannot be looked up whether an answer stands in its thread. */
  unchecked(reason: string): void;
}

export function createSending(api: SlackApi, host: Pick<ChannelHost, "clock" | "log">): Sending {
  let isTold = false;
  return {
    api,
    holds: createHolds(host),
    unchecked(reason) {
      if (isTold) return;
      isTold = true;
      host.log.warn({ reason }, "slack: replies to a deleted first message may land outside of its thread");
    },
  };
}

/** Channels that Slack lets nothing be sent to for now. */
export interface Holds {
  /** Throws when the channel is held. */
  check(channelId: string): void;
  hold(channelId: string, forMs: number): void;
}

/** Slack counts by channel: what waits for one must hold no other, and not be sent to it by another thread's turn. */
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
    const { text, blocks } = payload;
    const post = async (shown: readonly RichText[]): Promise<Receipt> => {
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
    return withoutBlocks(blocks, post);
  });
}

interface Place {
  readonly channelId: string;
  readonly threadTs: string;
  readonly ts: string;
}

/** Where the message that a thread hangs on was deleted, an answer must not stand in the channel for all to read. */
async function keepInThread(sending: Sending, place: Place, signal: AbortSignal): Promise<void> {
  const problem = await problemOfThread(sending, place, signal);
  if (problem === undefined) return;
  const { outcome, message, retryAfterMs } = problem;
  const { channelId, ts } = place;
  try {
    await unlessRefused(["message_not_found"], () =>
      sending.api.client(signal).chat.delete({ channel: channelId, ts }),
    );
  } catch (error) {
    if (outcome === "rejected") {
      throw new DeliveryError(outcome, `${message}; this one stands in the channel itself`, { cause: error });
    }
    throw new DeliveryError("unknown", `${message}; it may stand in the channel itself`, { cause: error });
  }
  throw new DeliveryError(outcome, message, retryAfterMs === undefined ? {} : { retryAfterMs });
}

/** Why what was posted in the thread cannot stay; undefined when it can. */
async function problemOfThread(
  { api, unchecked }: Sending,
  { channelId, threadTs }: Place,
  signal: AbortSignal,
): Promise<DeliveryError | undefined> {
  try {
    // Not every server that stands for Slack's says in which thread it has posted.
    await api.client(signal).conversations.replies({ channel: channelId, ts: threadTs, limit: 1 });
    return undefined;
  } catch (error) {
    const failure = failureOf(error);
    const problem = deliveryError(failure);
    if (failure.kind === "refused" && failure.code === "thread_not_found") return problem;
    // To send it again would not end before somebody has mended the app.
    const isLasting = problem.outcome === "rejected" || (failure.kind === "status" && failure.status < 500);
    if (isLasting || (failure.kind === "refused" && failure.code === "missing_scope")) {
      unchecked(operatorError(failure).message);
      return undefined;
    }
    const { retryAfterMs } = problem;
    return new DeliveryError(
      "not_sent",
      "Slack does not tell whether the message that this thread hangs on is still there",
      retryAfterMs === undefined ? {} : { retryAfterMs },
    );
  }
}

/** Changes a text; a file stays as it is. */
export async function editPart(sending: Sending, part: Part, externalId: string, context: SendContext): Promise<void> {
  const { channelId, ts } = parseMessageId(externalId);
  const payload = part.payload as SlackPart;
  if (payload.kind === "file") throw new DeliveryError("rejected", "a file cannot be changed in Slack");
  await inChannel(sending, channelId, () =>
    withoutBlocks(payload.blocks, (shown) =>
      sending.api.client(context.signal).chat.update({
        channel: channelId,
        ts,
        text: payload.text,
        ...(shown.length === 0 ? { blocks: [] } : { blocks: [...shown] as Blocks }),
        metadata: { event_type: metadataType, event_payload: { delivery: context.key } },
      }),
    ),
  );
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
    // What is gone is what was wanted.
    unlessRefused(["message_not_found"], () =>
      sending.api.client(context.signal).chat.delete({ channel: channelId, ts }),
    ),
  );
}

/** Blocks that Slack does not take were refused, so that sending the text without them is no second time. */
export async function withoutBlocks<B, T>(blocks: readonly B[], post: (shown: readonly B[]) => Promise<T>): Promise<T> {
  try {
    return await post(blocks);
  } catch (error) {
    const failure = failureOf(error);
    if (failure.kind !== "refused" || !/^(?:invalid_blocks|msg_blocks_too_long)/.test(failure.code)) throw error;
    return post([]);
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
