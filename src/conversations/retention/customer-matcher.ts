import { chunks } from "#database/queries/customers.ts";
import type { Customer, CustomerKey } from "#database/queries/customers.ts";
import type { AuditTable } from "#database/schema/tables.ts";
import type { Reader } from "#database/contract.ts";

/** Actor of erasures in the audit log. */
export const erasureActorId = "forget";

const pageSize = 500;
/** Shorter names occur within too many other words. */
const nameLengthMin = 3;
const conversationPattern = /conv_[0-9a-z]{26}/g;

/** Recognises texts about a customer. */
export interface CustomerMatcher {
  /** Lower case. */
  readonly emails: readonly string[];
  /** Matches a whole address only: `joann@shop.example` is not `ann@shop.example`. */
  readonly named: RegExp;
  /** Their conversations, including deleted ones. */
  readonly conversations: ReadonlySet<string>;
  readonly contacts: ReadonlySet<string>;
  /** Their ids on platforms, of any kind. */
  readonly identities: ReadonlySet<string>;
  /** Their names and phone numbers in lower case. These count only in texts that are about them for another reason. */
  readonly names: readonly string[];
}

/** `withErased`: includes conversations erased before, of any customer, because an earlier erasure may be incomplete. */
export async function customerMatcherOf(
  db: Reader,
  workspaceId: string,
  customer: Customer,
  key: CustomerKey,
  withErased: boolean,
): Promise<CustomerMatcher> {
  const identities = new Set<string>();
  const contacts = new Set(customer.contacts.map(({ id }) => id));
  for (const some of chunks([...contacts])) {
    const rows = await db.selectFrom("identities").select("value").where("contact_id", "in", some).execute();
    for (const { value } of rows) identities.add(value);
  }
  const own = "email" in key ? [key.email] : customer.contacts.map(({ email }) => email ?? "");
  const emails = [...new Set(own.map((email) => email.trim().toLowerCase()))].filter((email) => email !== "");
  return {
    emails,
    named: addressPattern(emails),
    conversations: new Set([
      ...customer.conversationIds,
      ...(await deletedConversations(db, workspaceId, contacts, withErased)),
    ]),
    contacts,
    identities,
    names: customer.contacts
      .flatMap(({ name, phone, user_id: userId }) => [name, phone, userId])
      .flatMap((each) => (each === null || each.length < nameLengthMin ? [] : [each.toLowerCase()])),
  };
}

/** Returns deleted conversations by the audit log. Their ids lead to copies elsewhere. */
async function deletedConversations(
  db: Reader,
  workspaceId: string,
  contacts: ReadonlySet<string>,
  withErased: boolean,
): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const page of auditPages(db, workspaceId)) {
    for (const row of page) {
      const theirs = row.actor_type === "customer" && row.actor_id !== null && contacts.has(row.actor_id);
      const erased =
        withErased && row.action === "deleted" && row.actor_type === "system" && row.actor_id === erasureActorId;
      if (row.conversation_id !== null && (theirs || erased)) found.push(row.conversation_id);
    }
  }
  return found;
}

/** Pages of rows in the order of their ids. */
async function* pagesById<Id, Row extends { readonly id: Id }>(
  first: Id,
  read: (after: Id) => Promise<readonly Row[]>,
): AsyncGenerator<readonly Row[]> {
  for (let after = first; ;) {
    const page = await read(after);
    yield page;
    const last = page.at(-1);
    if (last === undefined || page.length < pageSize) return;
    after = last.id;
  }
}

/** The audit log of a workspace. */
export const auditPages = (db: Reader, workspaceId: string) =>
  pagesById("", (after) =>
    db
      .selectFrom("audit")
      .selectAll()
      .where("workspace_id", "=", workspaceId)
      .where("id", ">", after)
      .orderBy("id")
      .limit(pageSize)
      .execute(),
  );

/** Received events of all workspaces that led to no conversation. */
export const unplacedEventPages = (db: Reader) =>
  pagesById(0, (after) =>
    db
      .selectFrom("inbound_events")
      .selectAll()
      .where("conversation_id", "is", null)
      .where("id", ">", after)
      .orderBy("id")
      .limit(pageSize)
      .execute(),
  );

/** Responses stored for repeated requests with one API key. */
export async function* storedResponsePages(db: Reader, keyId: string) {
  for (let after = { path: "", idempotency_key: "" }; ;) {
    const { path, idempotency_key: key } = after;
    const page = await db
      .selectFrom("idempotency")
      .select(["key_id", "path", "idempotency_key", "status", "response", "created_at"])
      .where("key_id", "=", keyId)
      .where((eb) => eb.or([eb("path", ">", path), eb.and([eb("path", "=", path), eb("idempotency_key", ">", key)])]))
      .orderBy("path")
      .orderBy("idempotency_key")
      .limit(pageSize)
      .execute();
    yield page;
    const last = page.at(-1);
    if (last === undefined || page.length < pageSize) return;
    after = last;
  }
}

/** An address may follow a JSON escape such as \n, which ends in a letter. Matches nothing without an address. */
function addressPattern(addresses: readonly string[]): RegExp {
  const before = String.raw`(?:(?<![\p{L}\p{N}.%+-])|(?<=\\[bfnrt]|\\u[0-9a-f]{4}))`;
  const after = String.raw`(?![\p{L}\p{N}-]|\.[\p{L}\p{N}])`;
  const any = addresses.map((address) => address.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`)).join("|");
  return addresses.length === 0 ? /(?!)/u : new RegExp(`${before}(?:${any})${after}`, "u");
}

/** Whether a text names the customer or one of their conversations. */
export function mentionsCustomer(text: string | null, { named, conversations }: CustomerMatcher): boolean {
  if (text === null) return false;
  return named.test(text.toLowerCase()) || (text.match(conversationPattern) ?? []).some((id) => conversations.has(id));
}

/** Whether an id contains an address, which has no delimiter there. */
export const holds = (id: string | null, { emails }: CustomerMatcher): boolean =>
  emails.some((email) => id?.toLowerCase().includes(email) === true);

/** Whether a received event is about the customer. */
export function isReceivedFrom(
  event: { readonly external_id: string; readonly payload: string },
  matcher: CustomerMatcher,
): boolean {
  return (
    mentionsCustomer(event.payload, matcher) || holds(event.external_id, matcher) || isSentBy(event.payload, matcher)
  );
}

function isSentBy(payload: string, { identities }: CustomerMatcher): boolean {
  const { sender } = JSON.parse(payload) as {
    readonly sender?: { readonly key?: string; readonly verified?: { readonly userId?: string } };
  };
  return identities.has(sender?.key ?? "") || identities.has(sender?.verified?.userId ?? "");
}

/** Whether an audit entry is about the customer: by conversation, contact or name. */
export function isAuditOf(row: AuditTable, matcher: CustomerMatcher): boolean {
  if (row.conversation_id !== null && matcher.conversations.has(row.conversation_id)) return true;
  if ([row.actor_id, row.from_value, row.to_value].some((id) => id !== null && matcher.contacts.has(id))) return true;
  return [row.actor_name, row.from_value, row.to_value, row.detail].some((text) => mentionsCustomer(text, matcher));
}
