import { DeliveryError } from "#channels/errors.ts";
import type { ChannelHost } from "#channels/contract.ts";
import { ChannelGone, ThreadGone } from "#channels/desk/errors.ts";
import type { Failure } from "../errors.ts";
import { deliveryError, failureOf } from "../errors.ts";
import { createHolds } from "../send.ts";

/** Runs the desk's calls of Slack; failures become `DeliveryError` or `ThreadGone`, and name the channel if it is given. */
export interface DeskCalls {
  /** `gone`: the error codes that mean that the conversation's card was deleted. */
  call<T>(run: () => Promise<T>, gone?: readonly string[], channelId?: string): Promise<T>;
  /** After a rate limit, calls with the same `limit` fail at once until Slack permits them again. */
  limited<T>(limit: string, run: () => Promise<T>, gone?: readonly string[], channelId?: string): Promise<T>;
}

export const cardDeleted = "the card of this conversation was deleted in Slack";

/** Errors that an administrator fixes in Slack. The desk's work waits until then. */
const fixable: Readonly<Record<string, string>> = {
  channel_not_found:
    "the app cannot see the desk channel: check desk.channel and desk.team_channels, and invite the app to it",
  not_in_channel: "the app is not in the desk channel: invite it with /invite",
  is_archived: "the desk channel is archived: unarchive it, or set another in desk.channel or desk.team_channels",
  restricted_action: "the workspace does not let the app write in the desk channel",
  restricted_action_read_only_channel: "the desk channel is read-only for the app",
  restricted_action_non_threadable_channel: "the desk channel takes no threads",
};

/** Errors of calls that read a channel, too: the app cannot see it. */
const unseen: ReadonlySet<string> = new Set(["channel_not_found", "not_in_channel"]);

const fixableRetryMs = 60_000;

/** The instruction for an administrator; undefined for other errors. */
export function fixFor(code: string): string | undefined {
  return fixable[code];
}

export function createDeskCalls(host: Pick<ChannelHost, "clock">): DeskCalls {
  const holds = createHolds(host);

  async function call<T>(run: () => Promise<T>, gone: readonly string[] = [], channelId?: string): Promise<T> {
    try {
      return await run();
    } catch (error) {
      if (error instanceof DeliveryError || error instanceof ThreadGone) throw error;
      const failure = failureOf(error);
      if (failure.kind === "refused" && gone.includes(failure.code)) throw new ThreadGone(cardDeleted);
      throw deskError(failure, channelId);
    }
  }

  return {
    call,
    limited(limit, run, gone, channelId) {
      const held = async () => {
        holds.check(limit);
        try {
          return await run();
        } catch (error) {
          const failure = failureOf(error);
          if (failure.kind === "limited") holds.hold(limit, failure.retryAfterMs);
          throw error;
        }
      };
      return call(held, gone, channelId);
    },
  };
}

function deskError(failure: Failure, channelId: string | undefined): DeliveryError {
  const fix = failure.kind === "refused" ? fixFor(failure.code) : undefined;
  if (failure.kind !== "refused" || fix === undefined) return deliveryError(failure);
  const message = channelId === undefined ? fix : `${fix} (${channelId})`;
  const options = { retryAfterMs: fixableRetryMs };
  return unseen.has(failure.code) ? new ChannelGone(message, options) : new DeliveryError("not_sent", message, options);
}
