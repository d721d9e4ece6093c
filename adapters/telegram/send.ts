import type { Api } from "grammy";
import type { ChannelHost, Part, Receipt, SendContext } from "#channel/contract.ts";
import { DeliveryError } from "#channel/errors.ts";
import type { Failure } from "./failures.ts";
import { failureOf } from "./failures.ts";
import type { TelegramPart } from "./render.ts";
import { parseThread } from "./thread.ts";
import { grammySignal } from "./signal.ts";

type Entities = NonNullable<NonNullable<Parameters<Api["sendMessage"]>[2]>["entities"]>;

/** Sends one message. Telegram has neither a key against duplicates nor a history that could be asked. */
export async function sendPart(
  api: Api,
  host: ChannelHost,
  token: string,
  part: Part,
  { thread, signal }: SendContext,
): Promise<Receipt> {
  const { text, entities } = part.payload as TelegramPart;
  const { chatId, topicId } = parseThread(thread);
  const post = async (withEntities: boolean, inTopic: boolean): Promise<Receipt> => {
    const sent = await api.sendMessage(
      chatId,
      text,
      {
        link_preview_options: { is_disabled: true },
        ...(withEntities ? { entities: [...entities] as Entities } : {}),
        ...(inTopic && topicId !== undefined ? { message_thread_id: topicId } : {}),
      },
      grammySignal(signal),
    );
    return { externalId: `${sent.chat.id}:${sent.message_id}`, state: "sent" };
  };
  try {
    return await post(true, true);
  } catch (error) {
    const failure = failureOf(error, token);
    // It was refused, so that sending it otherwise is no second time.
    if (isAbout(failure, /entit/i)) return otherwise(() => post(false, true), token);
    if (isAbout(failure, /message thread not found/i)) return otherwise(() => post(true, false), token);
    if (failure.kind === "answered" && failure.movedTo !== undefined) {
      await host.accept({
        kind: "moved",
        externalId: `moved:${chatId}:${failure.movedTo}`,
        thread,
        toThread: String(failure.movedTo),
        sender: { key: String(chatId) },
        sentAt: host.clock.now(),
      });
      throw new DeliveryError("not_sent", "the group has become a supergroup", { retryAfterMs: 0 });
    }
    throw deliveryError(failure);
  }
}

async function otherwise(post: () => Promise<Receipt>, token: string): Promise<Receipt> {
  try {
    return await post();
  } catch (error) {
    throw deliveryError(failureOf(error, token));
  }
}

const isAbout = (failure: Failure, what: RegExp): boolean =>
  failure.kind === "answered" && failure.code === 400 && what.test(failure.description);

function deliveryError(failure: Failure): DeliveryError {
  switch (failure.kind) {
    case "unreachable":
      return new DeliveryError("not_sent", `Telegram cannot be reached (${failure.description})`);
    case "broken":
      return new DeliveryError("unknown", `the connection to Telegram broke (${failure.description})`);
    case "answered":
  }
  const { code, description, retryAfterMs } = failure;
  if (code === 429) {
    return new DeliveryError("not_sent", "Telegram allows no more messages to this chat for now", {
      retryAfterMs: retryAfterMs ?? 1_000,
    });
  }
  if (code >= 500) return new DeliveryError("unknown", `Telegram failed (${description})`);
  // A token that is wrong now may be mended, and the message is not lost by that.
  if (code === 401 || code === 404) {
    return new DeliveryError("not_sent", "Telegram does not know the bot's token: check `token`", {
      retryAfterMs: 60_000,
    });
  }
  return new DeliveryError("rejected", reasonOf(description));
}

/** In words for an agent. */
function reasonOf(description: string): string {
  if (/bot was blocked by the user/i.test(description)) return "the customer has blocked the bot on Telegram";
  if (/user is deactivated/i.test(description)) return "the customer's Telegram account is deleted";
  if (/bot was kicked|bot is not a member/i.test(description)) return "the bot was removed from this Telegram group";
  if (/group chat was deleted/i.test(description)) return "this Telegram group was deleted";
  if (/can't initiate conversation/i.test(description)) return "the customer has never written to the bot on Telegram";
  if (/not enough rights|have no rights/i.test(description)) return "the bot may not write in this Telegram group";
  return `Telegram refuses it: ${description}`;
}
