import type { Api } from "grammy";
import { GrammyError, HttpError } from "grammy";
import type { Log } from "#runtime/log.ts";
import type { Failure } from "./errors.ts";
import { failureOf, withReason } from "./errors.ts";
import type { Greeting, Events } from "./events.ts";
import { updateKinds } from "./payloads.ts";
import { grammySignal } from "./client.ts";

export interface ConnectionDependencies {
  readonly api: Api;
  readonly events: Events;
  readonly token: string;
  readonly log: Log;
}

/** Telegram answers a poll when an update arrives, and after this time at the latest. */
const pollSeconds = 25;
const batchMax = 100;

/**
 * Polls Telegram for updates until `signal` aborts. A poll confirms the updates before its offset, so it is made only when
 * they are stored; Telegram resends unconfirmed updates, also after a restart. Rejects when Telegram or the store fails:
 * the host restarts it after a while.
 */
export async function runConnection(
  { api, events, token, log }: ConnectionDependencies,
  signal: AbortSignal,
): Promise<void> {
  /** A failed greeting, for example of a customer who blocked the bot, must not block other updates. */
  const greet = async ({ chat_id: chatId, message_thread_id: topicId, text }: Greeting): Promise<void> => {
    try {
      const topic = topicId === undefined ? {} : { message_thread_id: topicId };
      await api.sendMessage(chatId, text, topic, grammySignal(signal));
    } catch (error) {
      log.info({ reason: failureOf(error, token).description }, "telegram: greeting a customer failed");
    }
  };
  /** One above the last stored update. */
  let offset: number | undefined;
  let confirmed: number | undefined;
  try {
    // Telegram refuses polls while a webhook is set. Updates pending for the webhook are kept.
    await api.deleteWebhook({ drop_pending_updates: false }, grammySignal(signal));
    while (!signal.aborted) {
      const updates = await api.getUpdates(
        {
          timeout: pollSeconds,
          limit: batchMax,
          allowed_updates: updateKinds,
          ...(offset === undefined ? {} : { offset }),
        },
        grammySignal(signal),
      );
      confirmed = offset;
      for (const update of updates) {
        const greeting = await events.take(update).catch(notStored);
        offset = update.update_id + 1;
        if (greeting !== null) await greet(greeting);
      }
    }
  } catch (error) {
    if (signal.aborted) return;
    if (offset !== undefined && offset !== confirmed) await confirm(api, offset, signal);
    throw error instanceof NotStored ? error : pollError(failureOf(error, token));
  }
}

class NotStored extends Error {
  constructor(cause: unknown) {
    super("an update of Telegram could not be stored, and will be read again", { cause });
    this.name = "NotStored";
  }
}

/** Storing an update can also fail because Telegram does not answer `getMe`. */
function notStored(error: unknown): never {
  throw error instanceof GrammyError || error instanceof HttpError ? error : new NotStored(error);
}

/** Confirms the updates before a failed one. Otherwise a customer who pressed Start would be greeted at each retry. */
async function confirm(api: Api, offset: number, signal: AbortSignal): Promise<void> {
  try {
    await api.getUpdates({ offset, limit: 1, timeout: 0, allowed_updates: updateKinds }, grammySignal(signal));
  } catch {
    // Telegram resends them, and the host drops duplicates.
  }
}

/** For the operator; without a cause, which would put the token into the log. */
function pollError(failure: Failure): Error {
  if (failure.kind === "answered" && failure.code === 401) {
    return new Error("Telegram does not know the bot's token: check `token`");
  }
  if (failure.kind === "answered" && failure.code === 409 && /webhook is active/i.test(failure.description)) {
    return new Error(
      "another program has set a webhook for this bot, which is removed again: stop it, or use another bot",
    );
  }
  if (failure.kind === "answered" && failure.code === 409) {
    return new Error("another program polls for this bot's updates: stop it, or use another bot");
  }
  if (failure.kind === "unreachable") return withReason(failure);
  return new Error(`updates cannot be read from Telegram: ${failure.description}`);
}
