import type { Api } from "grammy";
import { GrammyError } from "grammy";
import type { ChannelHost, ReplyWindow } from "#channels/contract.ts";
import { DeliveryError } from "#channels/errors.ts";
import { grammySignal } from "./client.ts";
import { failureOf, withoutToken } from "./errors.ts";
import type { BusinessOwner } from "./inbound.ts";
import { nameOf } from "./inbound.ts";
import type { TelegramConnection } from "./payloads.ts";
import { parseThread } from "./thread.ts";

/** The connections of business accounts with the bot. The newest one of each account is kept, and is used for sending. */
export interface BusinessConnections {
  keep(connection: TelegramConnection): Promise<void>;
  /**
   * The owner of a connection. Asks Telegram for an unknown one, and keeps it. Undefined when Telegram does not know it
   * either; rejects when Telegram does not answer.
   */
  ownerOf(connectionId: string): Promise<BusinessOwner | undefined>;
  /** The connection's id if the bot may write by it; asks nobody. */
  current(ownerId: number): Promise<string | undefined>;
  /** The connection's id for a call. Throws a {@link DeliveryError} that tells agents the fix if the bot may not write. */
  forSend(ownerId: number, signal: AbortSignal): Promise<string>;
}

interface KeptConnection {
  readonly id: string;
  /** When it was made, Unix seconds. */
  readonly date: number;
  readonly isEnabled: boolean;
  readonly canReply: boolean;
  readonly name: string;
}

/** Present once an account has connected the bot. */
const usedKey = "business";
const ownerKey = (connectionId: string): string => `business connection ${connectionId}`;
const connectionKey = (ownerId: number): string => `business account ${ownerId}`;

/** Whether a business account has ever connected the bot. */
export const isUsedForBusiness = async (state: ChannelHost["state"]): Promise<boolean> =>
  (await state.get(usedKey)) !== null;

/** Each call about a business account's chat names the connection. */
export const byConnection = (connectionId: string | undefined) =>
  connectionId === undefined ? {} : { business_connection_id: connectionId };

/** Bots may write for a business account only within this time after the customer's last message. */
export const businessWindow: ReplyWindow = {
  ms: 24 * 3_600_000,
  appliesTo: (thread) => parseThread(thread).ownerId !== undefined,
  closed: "the customer has not written to this Telegram account for 24 hours, and a bot may then not write for it",
  outside: () => businessWindow.closed,
};

/** Telegram's error after the reply window has closed. */
export const closesWindow = /BUSINESS_PEER_USAGE_MISSING/;

const settingOf = (name = "its owner"): string =>
  `in the Telegram app of ${name}, open Settings > Telegram Business > Chatbots`;
const disconnected = "this Telegram account has disconnected the bot";

/** Deletions need a permission of their own. */
export const lacksRights = /rights|BOT_ACCESS_FORBIDDEN/;
export const mayNotDelete = `the bot may not delete messages of this Telegram account: ${settingOf()}, and let the bot delete messages`;

/** For agents: the reason why Telegram refuses a call by a connection; undefined for other errors. */
export function businessReason(description: string): string | undefined {
  if (closesWindow.test(description)) return businessWindow.closed;
  if (/BUSINESS_CONNECTION_INVALID/.test(description)) return `${disconnected}: ${settingOf()}, and add the bot again`;
  if (/BUSINESS_PEER_INVALID/.test(description)) {
    return `this Telegram account does not let the bot write in this chat: ${settingOf()}, and include the chat`;
  }
  if (!/BUSINESS_|BOT_ACCESS_FORBIDDEN/.test(description)) return undefined;
  return `the bot lacks a permission of this Telegram account (${description}): ${settingOf()}, and permit it`;
}

function ownerFrom(user: TelegramConnection["user"]): BusinessOwner {
  const name = nameOf(user).slice(0, 190);
  return { id: user.id, name: name === "" ? `user ${user.id}` : name };
}

export function createBusinessConnections(
  api: Pick<Api, "getBusinessConnection">,
  { state }: Pick<ChannelHost, "state">,
  token: string,
): BusinessConnections {
  async function keep({ id, user, date, is_enabled: isEnabled, rights, can_reply }: TelegramConnection): Promise<void> {
    const { name } = ownerFrom(user);
    const canReply = (rights?.can_reply ?? can_reply) === true;
    const next = JSON.stringify({ id, date, isEnabled, canReply, name } satisfies KeptConnection);
    if (!(await isUsedForBusiness(state))) await state.set(usedKey, "used");
    for (;;) {
      const before = await state.get(connectionKey(user.id));
      // Updates can arrive in any order: the end of an old connection must not replace a new one.
      if (before === next || (before !== null && isNewer(JSON.parse(before) as KeptConnection, { id, date }))) break;
      if (await state.compareAndSet(connectionKey(user.id), before, next, null)) break;
    }
    await state.set(ownerKey(id), JSON.stringify(ownerFrom(user)));
  }

  const isNewer = (kept: KeptConnection, given: Pick<KeptConnection, "id" | "date">): boolean =>
    kept.id !== given.id && kept.date > given.date;

  /** Null: Telegram does not know it. */
  async function fetched(connectionId: string, signal?: AbortSignal): Promise<TelegramConnection | null> {
    try {
      const connection: TelegramConnection = await api.getBusinessConnection(
        connectionId,
        ...(signal === undefined ? [] : [grammySignal(signal)]),
      );
      await keep(connection);
      return connection;
    } catch (error) {
      if (error instanceof GrammyError && error.error_code === 400) return null;
      throw error;
    }
  }

  async function keptOf(ownerId: number): Promise<KeptConnection | undefined> {
    const kept = await state.get(connectionKey(ownerId));
    return kept === null ? undefined : (JSON.parse(kept) as KeptConnection);
  }

  const isUsable = ({ isEnabled, canReply }: KeptConnection): boolean => isEnabled && canReply;

  return {
    keep,
    async ownerOf(connectionId) {
      const kept = await state.get(ownerKey(connectionId));
      if (kept !== null) return JSON.parse(kept) as BusinessOwner;
      const connection = await withoutToken(token, () => fetched(connectionId));
      return connection === null ? undefined : ownerFrom(connection.user);
    },
    async current(ownerId) {
      const kept = await keptOf(ownerId);
      return kept !== undefined && isUsable(kept) ? kept.id : undefined;
    },
    async forSend(ownerId, signal) {
      const kept = await keptOf(ownerId);
      if (kept === undefined) {
        throw new DeliveryError(
          "rejected",
          "this Telegram account has not connected the bot: it has to add the bot again",
        );
      }
      if (isUsable(kept)) return kept.id;
      // The update that says otherwise may have been lost or delayed.
      let isKnown: boolean;
      try {
        isKnown = (await fetched(kept.id, signal)) !== null;
      } catch (error) {
        const { description, ...failure } = failureOf(error, token);
        throw new DeliveryError(
          "not_sent",
          `Telegram does not tell whether the bot may write for this account (${description})`,
          "retryAfterMs" in failure && failure.retryAfterMs !== undefined ? { retryAfterMs: failure.retryAfterMs } : {},
        );
      }
      const now = (await keptOf(ownerId)) ?? kept;
      if (isUsable(now)) return now.id;
      throw new DeliveryError("rejected", reasonOf(isKnown ? now : { ...now, isEnabled: false }));
    },
  };
}

/** For agents. */
function reasonOf({ name, isEnabled }: KeptConnection): string {
  return isEnabled
    ? `the bot may not reply for this Telegram account: ${settingOf(name)}, and let the bot reply to messages`
    : `${disconnected}: ${settingOf(name)}, and add the bot again`;
}
