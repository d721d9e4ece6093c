import { systemActor } from "#domain/conversation/message.ts";
import type { Customer, CustomerKey } from "#database/queries/customers.ts";
import { chunks, customerOf } from "#database/queries/customers.ts";
import { deleteSkippedOf } from "#database/queries/accounts/skipped-messages.ts";
import { lockConversation } from "#database/queries/conversations.ts";
import type { AuditTable } from "#database/schema/tables.ts";
import type { Clock } from "#runtime/clock.ts";
import type { ConversationSearch } from "#database/search/contract.ts";
import { wereInTypesense } from "#database/queries/search-collections.ts";
import type { Store, Tx } from "#database/contract.ts";
import type { TagMention } from "#conversations/reporting/forget-tags.ts";
import type { Effects, PublishEffects } from "#conversations/work/effects.ts";
import { forgetTags } from "#conversations/reporting/forget-tags.ts";
import { eraseReactionsOf } from "#conversations/references/stored-reactions.ts";
import { removeContacts } from "./retention.ts";
import type { CustomerMatcher } from "./customer-matcher.ts";
import {
  auditPages,
  erasureActorId,
  holds,
  isReceivedFrom,
  storedResponsePages,
  mentionsCustomer,
  customerMatcherOf,
  unplacedEventPages,
} from "./customer-matcher.ts";
import { recordDeletion } from "./deletion-record.ts";
import { removeConversation } from "./remove-conversation.ts";
import type { Workspace } from "#database/queries/workspaces.ts";

export interface ErasureResult {
  readonly contacts: number;
  readonly conversations: number;
  readonly messages: number;
  /** Audit entries whose names were removed. The entries stay. */
  readonly auditEntries: number;
  readonly events: number;
  /** Stored API responses and queued work. */
  readonly leftovers: number;
  /**
   * `queued`: the engine is unavailable. `none`: the database itself is the engine. `left`: it is now, and the engine that
   * was used before still holds the customer's messages.
   */
  readonly searchEngine: "erased" | "queued" | "none" | "left";
}

type Counts = Omit<ErasureResult, "searchEngine">;

export interface EraseCustomerDependencies {
  readonly store: Store;
  readonly clock: Clock;
  readonly search: ConversationSearch;
  readonly progress?: (line: string) => void;
  /** Ends the erasure between two transactions. */
  readonly signal?: AbortSignal;
  /** Shows the deletions in open inboxes and chats. Absent on the command line, which has none. */
  readonly publishEffects?: PublishEffects;
}

const actor = systemActor(erasureActorId);
const pageSize = 500;
/** Limit for a customer who keeps writing during the erasure. */
const roundsMax = 10;
const erased = "[erased]";

/**
 * Erases a customer: conversations and everything that belongs to them, contacts and identities, and traces in queues,
 * stored responses and audit entries. Uses small transactions and deletes the contact last, so that an interrupted erasure
 * can be repeated and finds the rest.
 */
export async function eraseCustomer(
  dependencies: EraseCustomerDependencies,
  workspace: Workspace,
  key: CustomerKey,
): Promise<ErasureResult> {
  let searchEngine = await searchEngineOf(dependencies, workspace.id);
  const total: { -readonly [what in keyof Counts]: number } = {
    contacts: 0,
    conversations: 0,
    messages: 0,
    auditEntries: 0,
    events: 0,
    leftovers: 0,
  };
  for (let round = 1; round <= roundsMax; round += 1) {
    const customer = await customerOf(dependencies.store.read, workspace.id, key);
    // Further rounds find messages that the customer writes during the erasure.
    if (round > 1 && customer.contacts.length + customer.conversationIds.length === 0) break;
    const matcher = await customerMatcherOf(dependencies.store.read, workspace.id, customer, key, true);
    const found = await eraseFound(dependencies, workspace, customer, matcher, round === roundsMax);
    for (const what of Object.keys(total) as (keyof Counts)[]) total[what] += found[what];
    for (const email of matcher.emails) {
      await dependencies.store.write((tx) => deleteSkippedOf(tx, workspace.id, email));
    }
    if ((await dependencies.search.erase?.(workspace.id, [...matcher.conversations])) === false)
      searchEngine = "queued";
  }
  await purgeIndex(dependencies);
  return { ...total, searchEngine };
}

async function searchEngineOf(
  { store, search }: EraseCustomerDependencies,
  workspaceId: string,
): Promise<ErasureResult["searchEngine"]> {
  if (search.erase !== undefined) return "erased";
  return (await wereInTypesense(store.read, workspaceId)) ? "left" : "none";
}

/** Erases the customer as found. A contact with a new conversation stays, so that the next round finds it. */
async function eraseFound(
  { progress = () => undefined, signal, publishEffects = () => undefined, ...dependencies }: EraseCustomerDependencies,
  workspace: Workspace,
  customer: Customer,
  matcher: CustomerMatcher,
  isLast: boolean,
): Promise<Counts> {
  const { store, clock } = dependencies;
  let messages = 0;
  let events = 0;
  for (const [done, id] of customer.conversationIds.entries()) {
    signal?.throwIfAborted();
    const gone = await store.write((tx) => eraseConversation(tx, dependencies, workspace, id, matcher));
    publishEffects(gone.effects);
    messages += gone.messages;
    events += gone.events;
    if ((done + 1) % 100 === 0) progress(`${done + 1} of ${customer.conversationIds.length} conversations`);
  }
  signal?.throwIfAborted();
  events += await eraseEvents(store, workspace.id, matcher);
  await forgetTags(store, workspace.id, (tag) => mentionIn(tag, matcher));
  const auditEntries = await eraseNames(store, workspace.id, matcher);
  const leftovers =
    (await eraseKeptResponses(store, workspace.id, matcher)) + (await eraseQueued(store, workspace.id, matcher));
  const ids = customer.contacts.map(({ id }) => id);
  await store.write((tx) => eraseReactionsOf(tx, ids));
  const conversations = customer.conversationIds.length;
  // In one transaction with the last contact, because without it a repeated erasure finds no reason for an audit entry.
  const groups = [...chunks(ids, 100)];
  const last = groups.pop() ?? [];
  for (const some of groups) await store.write((tx) => removeContacts(tx, some));
  const found = { contacts: ids.length, conversations };
  if (found.contacts + found.conversations > 0) {
    await store.write(async (tx) => {
      if (!isLast && (await haveConversation(tx, last))) found.contacts -= last.length;
      else await removeContacts(tx, last);
      if (found.contacts + found.conversations > 0) {
        const now = clock.now();
        const what = `a customer: ${found.contacts} contacts, ${found.conversations} conversations`;
        await recordDeletion(tx, workspace.id, actor, what, now, now);
      }
    });
  }
  return { ...found, messages, events, auditEntries, leftovers };
}

function mentionIn(tag: string, { named, names }: CustomerMatcher): TagMention {
  if (named.test(tag)) return "address";
  return names.some((name) => tag.includes(name)) ? "name" : undefined;
}

async function haveConversation(tx: Tx, contactIds: readonly string[]): Promise<boolean> {
  if (contactIds.length === 0) return false;
  const any = tx.selectFrom("conversations").select("id").where("contact_id", "in", contactIds).limit(1);
  return (await any.executeTakeFirst()) !== undefined;
}

async function eraseConversation(
  tx: Tx,
  { search, clock }: EraseCustomerDependencies,
  workspace: Workspace,
  id: string,
  matcher: CustomerMatcher,
): Promise<{ readonly messages: number; readonly events: number; readonly effects: Effects | null }> {
  const row = await lockConversation(tx, workspace.id, id);
  if (row === undefined) return { messages: 0, events: 0, effects: null };
  const effects = await removeConversation(tx, search, workspace, id, actor, clock.now());
  const rows = await tx
    .selectFrom("inbound_events")
    .select(["id", "external_id", "target_external_id"])
    .where("conversation_id", "=", id)
    .execute();
  // Message ids of e-mails can contain the address. Other events stay, so that a late redelivery is still a duplicate.
  const named = rows
    .filter((event) => holds(event.external_id, matcher) || holds(event.target_external_id, matcher))
    .map((event) => event.id);
  for (const some of chunks(named)) await tx.deleteFrom("inbound_events").where("id", "in", some).execute();
  return { messages: row.message_count, events: rows.length, effects };
}

/** Erases events without a conversation, such as contact details sent before the first message, and early edits. */
async function eraseEvents(store: Store, workspaceId: string, matcher: CustomerMatcher): Promise<number> {
  const accounts = await store.read
    .selectFrom("accounts")
    .select("id")
    .where("workspace_id", "=", workspaceId)
    .execute();
  const own = new Set(accounts.map(({ id }) => id));
  let count = 0;
  for await (const page of unplacedEventPages(store.read)) {
    const theirs = page.filter((row) => own.has(row.account_id) && isReceivedFrom(row, matcher)).map(({ id }) => id);
    if (theirs.length > 0) {
      await store.write((tx) => tx.deleteFrom("inbound_events").where("id", "in", theirs).execute());
    }
    count += theirs.length;
  }
  return count;
}

/** Removes the customer's name and address from the audit log, deleted conversations included. */
async function eraseNames(store: Store, workspaceId: string, matcher: CustomerMatcher): Promise<number> {
  let count = 0;
  for await (const page of auditPages(store.read, workspaceId)) {
    const changed = page.flatMap((row) => {
      const clean = withoutNames(row, matcher);
      return clean === row ? [] : [clean];
    });
    if (changed.length > 0) {
      await store.write(async (tx) => {
        for (const { id, actor_name, from_value, to_value, detail } of changed) {
          await tx
            .updateTable("audit")
            .set({ actor_name, from_value, to_value, detail })
            .where("id", "=", id)
            .execute();
        }
      });
    }
    count += changed.length;
  }
  return count;
}

function withoutNames(row: AuditTable, { named, names, contacts, conversations }: CustomerMatcher): AuditTable {
  const theirs = row.actor_type === "customer" && row.actor_id !== null && contacts.has(row.actor_id);
  const inTheirs = row.conversation_id !== null && conversations.has(row.conversation_id);
  const namesCustomer = (text: string): boolean =>
    named.test(text) || (inTheirs && names.some((name) => text.includes(name)));
  const clean = (text: string | null): string | null =>
    text !== null && namesCustomer(text.toLowerCase()) ? erased : text;
  const next = {
    ...row,
    actor_name: theirs ? null : clean(row.actor_name),
    from_value: clean(row.from_value),
    to_value: clean(row.to_value),
    detail: clean(row.detail),
  };
  const same =
    next.actor_name === row.actor_name &&
    next.from_value === row.from_value &&
    next.to_value === row.to_value &&
    next.detail === row.detail;
  return same ? row : next;
}

async function eraseKeptResponses(store: Store, workspaceId: string, matcher: CustomerMatcher): Promise<number> {
  const keys = await store.read.selectFrom("api_keys").select("id").where("workspace_id", "=", workspaceId).execute();
  let count = 0;
  for (const { id: keyId } of keys) {
    for await (const page of storedResponsePages(store.read, keyId)) {
      const theirs = page.filter(
        (row) => mentionsCustomer(row.response, matcher) || mentionsCustomer(row.path, matcher),
      );
      if (theirs.length > 0) {
        await store.write(async (tx) => {
          for (const row of theirs) {
            await tx
              .deleteFrom("idempotency")
              .where("key_id", "=", keyId)
              .where("path", "=", row.path)
              .where("idempotency_key", "=", row.idempotency_key)
              .execute();
          }
        });
      }
      count += theirs.length;
    }
  }
  return count;
}

/** Erases queued work and dead letters about the customer. */
async function eraseQueued(store: Store, workspaceId: string, matcher: CustomerMatcher): Promise<number> {
  let count = 0;
  for (let after = 0; ;) {
    const page = await store.read
      .selectFrom("outbox")
      .select(["id", "kind", "payload", "last_error", "dead_at"])
      .where("id", ">", after)
      .orderBy("id")
      .limit(pageSize)
      .execute();
    // Work of other workspaces is in this table too and must not be deleted for the same address.
    const theirs = page
      .filter((row) => isWorkOf(row, matcher) || isDeadLetterOf(row, workspaceId, matcher))
      .map(({ id }) => id);
    const mentioning = page.filter(
      ({ id, last_error: error }) => !theirs.includes(id) && mentionsCustomer(error, matcher),
    );
    if (theirs.length + mentioning.length > 0) {
      await store.write(async (tx) => {
        if (theirs.length > 0) await tx.deleteFrom("outbox").where("id", "in", theirs).execute();
        for (const { id } of mentioning)
          await tx.updateTable("outbox").set({ last_error: erased }).where("id", "=", id).execute();
      });
    }
    count += theirs.length + mentioning.length;
    const last = page.at(-1);
    if (last === undefined || page.length < pageSize) return count;
    after = last.id;
  }
}

/** Payloads that name no workspace are of the installation, such as mails to agents. */
function isDeadLetterOf(
  { payload, dead_at: deadAt }: { readonly payload: string; readonly dead_at: number | null },
  workspaceId: string,
  matcher: CustomerMatcher,
): boolean {
  if (deadAt === null || !mentionsCustomer(payload, matcher)) return false;
  // A payload may be damaged, so it is not parsed.
  const named = /"workspaceId":"([^"]*)"/.exec(payload)?.[1];
  return named === undefined || named === workspaceId;
}

const workIds = /(?:conv|con)_[0-9a-z]{26}/g;

/**
 * Rows of these kinds hold ids only and must run: deletions in the search engine, and work for several customers that
 * includes this one.
 */
const keptKinds: ReadonlySet<string> = new Set(["index", "relink", "retime", "search"]);

function isWorkOf(
  { kind, payload }: { readonly kind: string; readonly payload: string },
  { conversations, contacts }: CustomerMatcher,
): boolean {
  if (keptKinds.has(kind)) return false;
  return (payload.match(workIds) ?? []).some((id) => conversations.has(id) || contacts.has(id));
}

/** Merges the index's segments, which hold words of deleted rows until then. */
export async function purgeIndex({
  store,
  search,
}: Pick<EraseCustomerDependencies, "store" | "search">): Promise<void> {
  const { purge } = search;
  if (purge === undefined) return;
  for (let first = true; await store.write((tx) => purge(tx, first));) first = false;
}
