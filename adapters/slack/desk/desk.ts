import type { ChannelHost } from "#channels/contract.ts";
import type { Desk, DeskHost } from "#channels/desk/contract.ts";
import type { SlackApi } from "../client.ts";
import { findMessage } from "../messages/reconcile.ts";
import { fileBytesMax, fileIdOf, removeFile } from "../messages/upload.ts";
import { parseThread, threadOf } from "../messages/thread.ts";
import type { DeskAgents } from "./agents.ts";
import { createDeskCalls } from "./calls.ts";
import type { Card } from "./card.ts";
import { cardOf } from "./card.ts";
import { checkDesk } from "./check.ts";
import { deleteMessage, notify, postFile, postMessage, react, updateMessage } from "./messages.ts";
import type { DeskPayload } from "./render.ts";
import { renderItem } from "./render.ts";

export interface DeskDependencies {
  readonly api: SlackApi;
  readonly host: Pick<ChannelHost, "clock" | "log">;
  readonly desk: DeskHost;
  readonly agents: DeskAgents;
}

/** The place for a notice: a channel, or one of its threads. */
export const placeIn = (channelId: string, threadTs: string | undefined): string => threadOf({ channelId, threadTs });

/** The agents' desk as threads of a Slack channel. */
export function createSlackDesk({ api, host, desk, agents }: DeskDependencies): Desk {
  const { call, limited } = createDeskCalls(host);

  /** Slack limits posts by channel, and other calls by method. */
  const posted = (channelId: string, run: () => Promise<string>): Promise<string> =>
    limited(channelId, run, ["thread_not_found"], channelId);

  return {
    fileBytesMax,
    render: renderItem,
    open: (channelId, card, context) => posted(channelId, () => postMessage(api, { channelId }, cardOf(card), context)),
    update: (thread, card, { signal }) =>
      limited("update", () => updateMessage(api, thread, cardOf(card), signal), ["message_not_found"]),
    post(thread, part, context) {
      const { file, text } = part.payload as DeskPayload;
      const place = parseThread(thread);
      if (file !== undefined) return posted(place.channelId, () => postFile(api, thread, { file, text }, context));
      return posted(place.channelId, () => postMessage(api, place, part.payload as Card, context));
    },
    change: (messageId, part, { signal }) =>
      limited("update", () => updateMessage(api, messageId, part.payload as Card, signal)),
    mark: (messageId, mark, { signal }) =>
      limited("mark", () =>
        mark === "arrived"
          ? react(api, messageId, "white_check_mark", "x", signal)
          : react(api, messageId, "x", "white_check_mark", signal),
      ),
    remove: (messageId, { signal }) => {
      const fileId = fileIdOf(messageId);
      if (fileId !== undefined) return limited("remove file", () => removeFile(api, fileId, signal));
      return limited("remove", () => deleteMessage(api, messageId, signal));
    },
    find(place, { key, signal }, since) {
      const thread = "thread" in place ? place.thread : placeIn(place.channel, undefined);
      const { channelId } = parseThread(thread);
      return call(() => findMessage(api, key, thread, signal, since), ["thread_not_found"], channelId);
    },
    person: (by, signal) => agents.find(by, signal),
    notify: (by, place, notice, { signal }) => call(() => notify(api, by, place, notice, signal)),
    check: (signal) => checkDesk(api, desk.channels, signal),
  };
}
