import type { ReplyWindow } from "#channels/contract.ts";
import { DeliveryError } from "#channels/errors.ts";
import type { Channel } from "#domain/conversation/message.ts";
import { channelNames } from "#domain/conversation/message.ts";
import type { ConversationRow } from "#database/queries/conversations.ts";
import type { ContactsTable } from "#database/schema/tables.ts";
import { isVerified } from "#conversations/contacts/contacts.ts";
import { verifiedFields } from "#conversations/contacts/provenance.ts";
import type { Channels } from "#channels/channels.ts";
import type { Log } from "#runtime/log.ts";
import type { Reader } from "#database/contract.ts";

/** How a conversation's time for replies stands. */
export interface Window {
  readonly isOpen: boolean;
  /** Null: the customer has never written by this account. */
  readonly closesAt: number | null;
  readonly of: ReplyWindow;
}

type ThreadWindow = Pick<ConversationRow, "account_id" | "channel" | "customer_wrote_at">;

/** Undefined where customers can be written to at any time. The account's adapter must be loaded. */
export function windowOf(channels: Pick<Channels, "window">, row: ThreadWindow, now: number): Window | undefined {
  if (row.channel === "api") return undefined;
  const of = channels.window({ id: row.account_id });
  if (of === undefined) return undefined;
  const closesAt = row.customer_wrote_at === null ? null : row.customer_wrote_at + of.ms;
  return { isOpen: closesAt !== null && now < closesAt, closesAt, of };
}

/** Where else the same customer can be written to. */
export type OtherRoute =
  /** By e-mail to the address that is proven to be theirs; their answer goes on with the same conversation. */
  | { readonly kind: "email"; readonly accountId: string; readonly address: string }
  /** In a thread of their own on another channel. */
  | {
      readonly kind: "thread";
      readonly accountId: string;
      readonly channel: Channel;
      readonly thread: string;
      readonly conversationId: string;
    };

const threadsMax = 10;

/**
 * The way to the same customer by another channel, its adapter loaded; null where there is none. Only what is proven
 * joins channels: an address that somebody typed may be another's, and so is a thread that others read too.
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
  // The conversation may show less of the customer than has been proven elsewhere since.
  const contact = await contactOf(db, row.contact_id);
  if (contact === undefined || !isVerified(contact)) return null;
  const address = provenAddress(contact);
  const letters = address === null ? undefined : await channels.followUp(row.workspace_id);
  if (letters !== undefined && address !== null) return { kind: "email", accountId: letters.accountId, address };
  for (const other of await otherThreads(db, row)) {
    try {
      await channels.ready({ id: other.account_id });
    } catch (error) {
      // One that is gone is no way; what is wrong with another must not keep this reply from going on.
      if (!(error instanceof DeliveryError))
        log.warn({ err: error, account: other.account_id }, "reply-window: account unusable");
      continue;
    }
    if (!channels.isPrivate({ id: other.account_id }, other.context_key)) continue;
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

/** The verified address; null: none, whatever they say of themselves. */
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
    .where("conversations.channel", "not in", ["api", "widget", "hosted", "email", "voice"])
    .where("accounts.enabled", "=", 1)
    .orderBy("conversations.last_message_at", "desc")
    .limit(threadsMax)
    .execute();
}

/** What agents see of it. */
export interface WindowView {
  readonly isOpen: boolean;
  readonly closesAt: number | null;
  /** What holds, and what becomes of a reply; null while it is open. */
  readonly closed: string | null;
}

/** For agents, before they write; null where customers can be written to at any time. */
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
    : `A reply goes to the same customer by ${channelNames[way.channel]}.`;
}
