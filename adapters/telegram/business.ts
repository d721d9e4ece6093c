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
   * either, or the owner is not permitted; rejects when Telegram does not answer.
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
/** The last account that has connected the bot without permission. */
const refusedKey = "business refused";
const ownerKey = (connectionId: string): string => `business connection ${connectionId}`;
const connectionKey = (ownerId: number): string => `business account ${ownerId}`;

/** Whether a business account has ever connected the bot. */
export const isUsedForBusiness = async (state: ChannelHost["state"]): Promise<boolean> =>
  (await state.get(usedKey)) !== null;

/** The last account that has connected the bot, and may not. */
export async function refusedOwner(state: ChannelHost["state"]): Promise<BusinessOwner | undefined> {
  const refused = await state.get(refusedKey);
  return refused === null ? undefined : (JSON.parse(refused) as BusinessOwner);
}

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

const ownerOfConnection = (connection: TelegramConnection | null): BusinessOwner | undefined =>
  connection === null ? undefined : ownerFrom(connection.user);

/** The ids in the setting `business_owners`. */
export const permittedOwners = (setting = ""): ReadonlySet<number> =>
  new Set(setting.split(",").flatMap((id) => (id.trim() === "" ? [] : [Number(id)])));

export function createBusinessConnections(
  api: Pick<Api, "getBusinessConnection">,
  { state, log }: Pick<ChannelHost, "state" | "log">,
  token: string,
  permitted: ReadonlySet<number>,
): BusinessConnections {
  /** Anybody can connect a bot whose name they know. Their chats must not become the company's conversations. */
  async function refuse(owner: BusinessOwner, connectionId: string): Promise<void> {
    log.warn({ owner: owner.id }, "telegram: business account connected without permission, see business_owners");
    await state.set(refusedKey, JSON.stringify(owner));
    await state.set(ownerKey(connectionId), JSON.stringify(owner));
  }

  async function keep({ id, user, date, is_enabled: isEnabled, rights, can_reply }: TelegramConnection): Promise<void> {
    const owner = ownerFrom(user);
    if (!permitted.has(owner.id)) return refuse(owner, id);
    const { name } = owner;
    const canReply = (rights?.can_reply ?? can_reply) === true;
    const next = JSON.stringify({ id, date, isEnabled, canReply, name } satisfies KeptConnection);
    if (!(await isUsedForBusiness(state))) await state.set(usedKey, "used");
    for (;;) {
      const before = await state.get(connectionKey(user.id));
      // Updates can arrive in any order: the end of an old connection must not replace a new one.
      if (before === next || (before !== null && isNewer(JSON.parse(before) as KeptConnection, { id, date }))) break;
      if (await state.compareAndSet(connectionKey(user.id), before, next, null)) break;
    }
    await state.set(ownerKey(id), JSON.stringify(owner));
  }

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

  return {
    keep,
    async ownerOf(connectionId) {
      const kept = await state.get(ownerKey(connectionId));
      const owner =
        kept === null
          ? ownerOfConnection(await withoutToken(token, () => fetched(connectionId)))
          : (JSON.parse(kept) as BusinessOwner);
      return owner !== undefined && permitted.has(owner.id) ? owner : undefined;
    },
    async current(ownerId) {
      const kept = permitted.has(ownerId) ? await keptOf(ownerId) : undefined;
      return kept !== undefined && isUsable(kept) ? kept.id : undefined;
    },
    async forSend(ownerId, signal) {
      if (!permitted.has(ownerId)) {
        throw new DeliveryError(
          "rejected",
          `the bot may not answer for this Telegram account: add ${ownerId} to the setting \`business_owners\``,
        );
      }
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

const isNewer = (kept: KeptConnection, given: Pick<KeptConnection, "id" | "date">): boolean =>
  kept.id !== given.id && kept.date > given.date;

const isUsable = ({ isEnabled, canReply }: KeptConnection): boolean => isEnabled && canReply;

/** For agents. */
function reasonOf({ name, isEnabled }: KeptConnection): string {
  return isEnabled
    ? `the bot may not reply for this Telegram account: ${settingOf(name)}, and let the bot reply to messages`
    : `${disconnected}: ${settingOf(name)}, and add the bot again`;
}
