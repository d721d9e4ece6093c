import type { Api } from "grammy";
import { failureOf } from "./failures.ts";
import type { Intake } from "./intake.ts";
import { updateKinds } from "./updates.ts";
import { grammySignal } from "./signal.ts";

/** Telegram answers a poll as soon as there is something, and after this time in any case. */
const pollSeconds = 25;
const batchMax = 100;

/**
 * Asks Telegram for updates until `signal` aborts. An update is confirmed, by asking for the next one, only when it is
 * stored; what was not confirmed comes again, also after a restart. Rejects when Telegram or the store fails: the host
 * begins anew after a while.
 */
export async function poll(api: Api, intake: Intake, token: string, signal: AbortSignal): Promise<void> {
  try {
    // Telegram refuses polls while a webhook is set. What waits for the webhook is kept.
    await api.deleteWebhook({ drop_pending_updates: false }, grammySignal(signal));
    let offset: number | undefined;
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
      for (const update of updates) {
        const greeting = await intake.take(update);
        offset = update.update_id + 1;
        if (greeting !== null) await api.sendMessage(greeting.chat_id, greeting.text, {}, grammySignal(signal));
      }
    }
  } catch (error) {
    if (signal.aborted) return;
    const failure = failureOf(error, token);
    if (failure.kind === "answered" && failure.code === 401) {
      throw new Error("Telegram does not know the bot's token: check `token`");
    }
    if (failure.kind === "answered" && failure.code === 409) {
      throw new Error("another program polls for this bot's updates: stop it, or use another bot");
    }
    throw new Error(`updates cannot be read from Telegram: ${failure.description}`);
  }
}
