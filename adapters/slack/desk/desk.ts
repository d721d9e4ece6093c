import { DeliveryError } from "#channels/errors.ts";
import type { ChannelHost } from "#channels/contract.ts";
import type { Desk, DeskContext, DeskHost, DeskNotice, ShownFile } from "#channels/desk/contract.ts";
import { ThreadGone } from "#channels/desk/errors.ts";
import type { SlackApi } from "../client.ts";
import { missingScopes } from "../check.ts";
import { isSlackAddress } from "../client.ts";
import type { Card } from "./card.ts";
import { cardOf } from "./card.ts";
import type { DeskAgents } from "./agents.ts";
import { choiceButtons } from "./choices.ts";
import type { DeskPayload } from "./render.ts";
import { renderItem } from "./render.ts";
import type { Failure } from "../errors.ts";
import { deliveryError, failureOf, operatorError } from "../errors.ts";
import { escapeText, mrkdwnObject } from "../messages/mrkdwn.ts";
import { findMessage } from "../messages/reconcile.ts";
import type { Blocks } from "../send.ts";
import { createHolds, metadataType, withoutBlocks } from "../send.ts";
import { messageIdOf, parseMessageId, parseThread, threadOf } from "../thread.ts";
import { fileBytesMax, fileIdOf, removeFile, sendFile, unlessRefused } from "../messages/upload.ts";

export interface DeskDependencies {
  readonly api: SlackApi;
  readonly host: Pick<ChannelHost, "clock" | "log">;
  readonly desk: DeskHost;
  readonly agents: DeskAgents;
}

type FilePayload = DeskPayload & { readonly file: ShownFile };

/** What somebody mends in Slack; until then everything waits. */
const mendable: Readonly<Record<string, string>> = {
  channel_not_found: "the app cannot see the desk channel: check desk.channel, and invite the app to it",
  not_in_channel: "the app is not in the desk channel: invite it with /invite",
  is_archived: "the desk channel is archived: unarchive it, or set another as desk.channel",
  restricted_action: "the workspace does not let the app write in the desk channel",
  restricted_action_read_only_channel: "the desk channel is read-only for the app",
  restricted_action_non_threadable_channel: "the desk channel takes no threads",
};

const mendMs = 60_000;

/** What the app must be allowed to, besides what it needs for customers, and for what. */
export const deskScopes: readonly (readonly [string, string])[] = [
  ["channels:read", "to see the desk channel"],
  ["commands", "for /parley, and the shortcut on messages"],
  ["groups:read", "to see a private desk channel"],
  ["reactions:write", "for ticks and crosses on replies"],
  ["users:read.email", "to know who an agent is"],
];

/** Where a notice is shown: in a channel, to one person, or as the answer to a command. */
export const placeIn = (channelId: string, threadTs: string | undefined): string => threadOf({ channelId, threadTs });

/** Threads of a Slack channel as the agents' desk. */
export function createSlackDesk({ api, host, desk, agents }: DeskDependencies): Desk {
  const holds = createHolds(host);

  async function call<T>(run: () => Promise<T>, { gone = [] }: { readonly gone?: readonly string[] } = {}): Promise<T> {
    try {
      return await run();
    } catch (error) {
      if (error instanceof DeliveryError || error instanceof ThreadGone) throw error;
      const failure = failureOf(error);
      if (failure.kind === "refused" && gone.includes(failure.code)) {
        throw new ThreadGone("the card of this conversation was deleted in Slack");
      }
      throw deskError(failure);
    }
  }

  /** What is above a limit of Slack's holds all that the limit is of. */
  function limited<T>(of: string, run: () => Promise<T>, gone: readonly string[] = []): Promise<T> {
    return call(
      async () => {
        holds.check(of);
        try {
          return await run();
        } catch (error) {
          const failure = failureOf(error);
          if (failure.kind === "limited") holds.hold(of, failure.retryAfterMs);
          throw error;
        }
      },
      { gone },
    );
  }

  /** Slack counts posts by channel, and other calls by what they do. */
  const posted = (run: () => Promise<string>): Promise<string> => limited(desk.channel, run, ["thread_not_found"]);

  async function post(
    channelId: string,
    threadTs: string | undefined,
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
    // A thread whose card was deleted: it must not stand alone in the channel.
    if (threadTs !== undefined && message !== undefined && message.thread_ts === undefined) {
      await client.chat.delete({ channel: channelId, ts });
      throw new ThreadGone("the card of this conversation was deleted in Slack");
    }
    return messageIdOf(channelId, ts);
  }

  async function update(messageId: string, { text, blocks }: Card, signal: AbortSignal): Promise<void> {
    const { channelId, ts } = parseMessageId(messageId);
    await withoutBlocks(blocks, (shown) =>
      api.client(signal).chat.update({ channel: channelId, ts, text, blocks: [...shown] as unknown as Blocks }),
    );
  }

  async function react(messageId: string, add: string, remove: string, signal: AbortSignal): Promise<void> {
    const { channelId: channel, ts: timestamp } = parseMessageId(messageId);
    const client = api.client(signal);
    await unlessRefused(["already_reacted"], () => client.reactions.add({ channel, timestamp, name: add }));
    await unlessRefused(["no_reaction"], () => client.reactions.remove({ channel, timestamp, name: remove }));
  }

  async function notify(
    by: string,
    place: string,
    { text, choices }: DeskNotice,
    { signal }: DeskContext,
  ): Promise<void> {
    const shown = escapeText(text);
    const blocks = [
      { type: "section", text: mrkdwnObject(shown.slice(0, 3_000)) },
      ...(choices === undefined ? [] : [choiceButtons(choices)]),
    ];
    if (isSlackAddress(place, api.baseUrl)) {
      const response = await fetch(place, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ response_type: "ephemeral", text: shown, blocks }),
        redirect: "manual",
        signal,
      });
      await response.body?.cancel();
      if (response.ok) return;
      throw new DeliveryError(
        response.status === 429 || response.status >= 500 ? "not_sent" : "rejected",
        `Slack answers with HTTP ${response.status}`,
      );
    }
    const { channelId, threadTs } = parseThread(place);
    await api.client(signal).chat.postEphemeral({
      channel: channelId,
      user: by,
      text: shown,
      blocks: blocks as unknown as Blocks,
      ...(threadTs === undefined ? {} : { thread_ts: threadTs }),
    });
  }

  async function postFile(thread: string, { file, text }: FilePayload, context: DeskContext): Promise<string> {
    const { externalId } = await sendFile(api, { file, comment: text }, parseThread(thread), context);
    if (externalId === null) throw new DeliveryError("unknown", "Slack does not say what it has shared");
    return externalId;
  }

  return {
    fileBytesMax,
    render: renderItem,
    open: (card, context) => posted(() => post(desk.channel, undefined, cardOf(card), context)),
    update: (thread, card, { signal }) =>
      limited("update", () => update(thread, cardOf(card), signal), ["message_not_found"]),
    post(thread, part, context) {
      const { channelId, threadTs } = parseThread(thread);
      const payload = part.payload as DeskPayload;
      const { file } = payload;
      if (file !== undefined) return posted(() => postFile(thread, { ...payload, file }, context));
      return posted(() => post(channelId, threadTs, part.payload as Card, context));
    },
    change: (messageId, part, { signal }) => {
      const { text, blocks } = part.payload as DeskPayload;
      return limited("update", () => update(messageId, { text, blocks: blocks as unknown as Card["blocks"] }, signal));
    },
    mark: (messageId, mark, { signal }) =>
      limited("mark", () =>
        mark === "arrived"
          ? react(messageId, "white_check_mark", "x", signal)
          : react(messageId, "x", "white_check_mark", signal),
      ),
    remove: (messageId, { signal }) => {
      const fileId = fileIdOf(messageId);
      if (fileId !== undefined) return limited("remove file", () => removeFile(api, fileId, signal));
      return limited("remove", async () => {
        const { channelId: channel, ts } = parseMessageId(messageId);
        const gone = ["message_not_found", "channel_not_found"];
        await unlessRefused(gone, () => api.client(signal).chat.delete({ channel, ts }));
      });
    },
    find: (thread, { key, signal }, since) =>
      call(
        () =>
          findMessage(api, key, thread ?? threadOf({ channelId: desk.channel, threadTs: undefined }), signal, since),
        { gone: ["thread_not_found"] },
      ),
    person: (by, signal) => agents.find(by, signal),
    notify: (by, place, notice, context) => call(() => notify(by, place, notice, context)),
    check: (signal) => checkDesk(api, desk.channel, signal),
  };
}

function deskError(failure: Failure): DeliveryError {
  const mend = failure.kind === "refused" ? mendable[failure.code] : undefined;
  return mend === undefined ? deliveryError(failure) : new DeliveryError("not_sent", mend, { retryAfterMs: mendMs });
}

async function checkDesk(api: SlackApi, channel: string, signal: AbortSignal): Promise<string> {
  const client = api.client(signal);
  let granted: readonly string[];
  try {
    granted = (await client.auth.test()).response_metadata?.scopes ?? [];
  } catch (error) {
    throw operatorError(failureOf(error));
  }
  // A server that stands for Slack's may not tell the scopes at all.
  const missing = granted.length === 0 ? undefined : missingScopes(deskScopes, granted);
  if (missing !== undefined) throw new Error(`for the desk the app lacks ${missing}`);
  let found: { readonly name?: string; readonly is_member?: boolean; readonly is_archived?: boolean };
  try {
    found = (await client.conversations.info({ channel })).channel ?? {};
  } catch (error) {
    const failure = failureOf(error);
    const mend = failure.kind === "refused" ? mendable[failure.code] : undefined;
    throw mend === undefined ? operatorError(failure) : new Error(mend, { cause: error });
  }
  if (found.is_archived === true) throw new Error(mendable["is_archived"]);
  if (found.is_member !== true) throw new Error(mendable["not_in_channel"]);
  return `#${found.name ?? channel}`;
}
