import type { Api } from "grammy";
import { GrammyError, HttpError } from "grammy";
import type { Log } from "#runtime/log.ts";
import type { Failure } from "./errors.ts";
import { failureOf } from "./errors.ts";
import type { Greeting, Events } from "./events.ts";
import { updateKinds } from "./payloads.ts";
import { grammySignal } from "./client.ts";

export interface ConnectionDependencies {
  readonly api: Api;
  readonly events: Events;
  readonly token: string;
  readonly log: Log;
}

/** Telegram answers a poll as soon as there is something, and after this time in any case. */
const pollSeconds = 25;
const batchMax = 100;

/**
 * Asks Telegram for updates until `signal` aborts. An update is confirmed, by asking for the next one, only when it is
 * stored; what was not confirmed comes again, also after a restart. Rejects when Telegram or the store fails: the host
 * begins anew after a while.
 */
export async function runConnection(
  { api, events, token, log }: ConnectionDependencies,
  signal: AbortSignal,
): Promise<void> {
  /** Whoever has blocked the bot meanwhile is not greeted, and holds up nobody. */
  const greet = async ({ chat_id: chatId, message_thread_id: topicId, text }: Greeting): Promise<void> => {
    try {
      const topic = topicId === undefined ? {} : { message_thread_id: topicId };
      await api.sendMessage(chatId, text, topic, grammySignal(signal));
    } catch (error) {
      log.info({ reason: failureOf(error, token).description }, "telegram: greeting a customer failed");
    }
  };
  /** Behind what is done. */
  let offset: number | undefined;
  let confirmed: number | undefined;
  try {
    // Telegram refuses polls while a webhook is set. What waits for the webhook is kept.
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
    super("an update of Telegram could not be stored, and is read again", { cause });
    this.name = "NotStored";
  }
}

/** To know whether a message is for the bot, Telegram may have to be asked. */
function notStored(error: unknown): never {
  throw error instanceof GrammyError || error instanceof HttpError ? error : new NotStored(error);
}

/** What is done before that which fails does not come again with it: whoever pressed Start would be greeted each time. */
async function confirm(api: Api, offset: number, signal: AbortSignal): Promise<void> {
  try {
    await api.getUpdates({ offset, limit: 1, timeout: 0, allowed_updates: updateKinds }, grammySignal(signal));
  } catch {
    // It comes again, and what is stored is known by its number.
  }
}

/** In words for the operator. Without a cause, which would bring the token into the log. */
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
  return new Error(`updates cannot be read from Telegram: ${failure.description}`);
}
