import type { ReplyWindow } from "#channels/contract.ts";
import { DeliveryError } from "#channels/errors.ts";
import type { Channel } from "#domain/conversation/message.ts";
import { channelLabel, channelsWith } from "#channels/catalog.ts";
import type { ConversationRow } from "#database/queries/conversations.ts";
import type { ContactsTable } from "#database/schema/tables.ts";
import { isVerified } from "#conversations/contacts/contacts.ts";
import { verifiedFields } from "#domain/customer/provenance.ts";
import type { Channels } from "#channels/channels.ts";
import type { Log } from "#runtime/log.ts";
import type { Reader } from "#database/contract.ts";

/** State of a conversation's reply window. Times are in milliseconds since 1970. */
export interface Window {
  readonly isOpen: boolean;
  /** Null: the customer has never written through this account. */
  readonly closesAt: number | null;
  readonly of: ReplyWindow;
}

type ThreadWindow = Pick<ConversationRow, "account_id" | "channel" | "context_key" | "customer_wrote_at">;

/** Undefined where customers can be written to at any time. The account's adapter must be loaded. */
export function windowOf(channels: Pick<Channels, "adapter">, row: ThreadWindow, now: number): Window | undefined {
  if (row.channel === "api") return undefined;
  const of = channels.adapter({ id: row.account_id }).window;
  if (of === undefined || of.appliesTo?.(row.context_key) === false) return undefined;
  const closesAt = row.customer_wrote_at === null ? null : row.customer_wrote_at + of.ms;
  return { isOpen: closesAt !== null && now < closesAt, closesAt, of };
}

/** Another channel on which the same customer can be reached. */
export type OtherRoute =
  /** E-mail to their verified address. Their answer continues the same conversation. */
  | { readonly kind: "email"; readonly accountId: string; readonly address: string }
  /** Their private thread on another channel. */
  | {
      readonly kind: "thread";
      readonly accountId: string;
      readonly channel: Channel;
      readonly thread: string;
      readonly conversationId: string;
    };

const threadsMax = 10;

/**
 * Returns another route to the same customer, with its adapter loaded, or null. Only verified data connects channels: a
 * typed address may be another person's, and other people may read a group thread.
 */
export async function findOtherRoute(
  {
    read: db,
    channels,
    log,
    now,
  }: {
    readonly read: Reader;
    readonly channels: Channels;
    readonly log: Log;
    readonly now: number;
  },
  row: ConversationRow,
): Promise<OtherRoute | null> {
  // Read again: more may have been verified since the conversation's copy was stored.
  const contact = await contactOf(db, row.contact_id);
  if (contact === undefined || !isVerified(contact)) return null;
  const address = provenAddress(contact);
  const letters = address === null ? undefined : await channels.followUp(row.workspace_id);
  if (letters !== undefined && address !== null) return { kind: "email", accountId: letters.accountId, address };
  for (const other of await otherThreads(db, row)) {
    try {
      await channels.ready({ id: other.account_id });
    } catch (error) {
      // A removed account is no route. A fault of one account must not keep the reply from the next.
      if (!(error instanceof DeliveryError))
        log.warn({ err: error, account: other.account_id }, "reply-window: account unusable");
      continue;
    }
    if (channels.adapter({ id: other.account_id }).isPrivate?.(other.context_key) !== true) continue;
    if (windowOf(channels, other, now)?.isOpen === false) continue;
    return {
      kind: "thread",
      accountId: other.account_id,
      channel: other.channel,
      thread: other.context_key,
      conversationId: other.id,
    };
  }
  return null;
}

/** Returns the verified address, or null. A claimed address does not count. */
export const provenAddress = (contact: ContactsTable): string | null =>
  verifiedFields(contact).includes("email") ? contact.email : null;

export function contactOf(db: Reader, id: string): Promise<ContactsTable | undefined> {
  return db.selectFrom("contacts").selectAll().where("id", "=", id).executeTakeFirst();
}

function otherThreads(db: Reader, row: ConversationRow) {
  return db
    .selectFrom("conversations")
    .innerJoin("accounts", "accounts.id", "conversations.account_id")
    .selectAll("conversations")
    .where("conversations.workspace_id", "=", row.workspace_id)
    .where("conversations.contact_id", "=", row.contact_id)
    .where("conversations.account_id", "!=", row.account_id)
    .where("conversations.unreachable", "is", null)
    .where("conversations.status", "!=", "archived")
    .where("conversations.channel", "in", channelsWith("reroute"))
    .where("accounts.enabled", "=", 1)
    .orderBy("conversations.last_message_at", "desc")
    .limit(threadsMax)
    .execute();
}

/** The reply window as agents see it. */
export interface WindowView {
  readonly isOpen: boolean;
  readonly closesAt: number | null;
  /** Text for agents: why it is closed and where a reply goes. Null while it is open. */
  readonly closed: string | null;
}

/** Shown to agents before they write. Null on channels without a reply window. */
export async function viewWindow(
  context: { readonly read: Reader; readonly channels: Channels; readonly log: Log; readonly now: number },
  row: ConversationRow,
): Promise<WindowView | null> {
  const { channels, now } = context;
  try {
    await channels.ready({ id: row.account_id });
  } catch (error) {
    if (error instanceof DeliveryError) return null;
    throw error;
  }
  const window = windowOf(channels, row, now);
  if (window === undefined) return null;
  const { isOpen, closesAt, of } = window;
  if (isOpen) return { isOpen, closesAt, closed: null };
  const probe = { role: "agent", authorName: null, markdown: "-", sources: [] } as const;
  if (typeof of.outside(probe) !== "string") {
    return { isOpen, closesAt, closed: `${of.closed}. A reply goes out as the template.` };
  }
  const way = await findOtherRoute(context, row);
  return { isOpen, closesAt, closed: `${of.closed}. ${replyRouteText(way)}` };
}

function replyRouteText(way: OtherRoute | null): string {
  if (way === null) return "A reply cannot be sent until they write again.";
  return way.kind === "email"
    ? `A reply goes to their verified e-mail address, ${way.address}.`
    : `A reply goes to the same customer by ${channelLabel(way.channel)}.`;
}
