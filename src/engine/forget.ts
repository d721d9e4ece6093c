import { newId } from "#domain/ids.ts";
import { systemActor } from "#domain/message.ts";
import { chunks, customerByEmail } from "#store/customers.ts";
import type { Customer } from "#store/customers.ts";
import { lockConversation } from "#store/conversations.ts";
import type { AuditTable } from "#store/schema.ts";
import type { Clock, ConversationSearch, Store, Tx } from "./ports.ts";
import { removeContacts } from "./retention.ts";
import { removeConversation } from "./update.ts";
import type { Workspace } from "./workspaces.ts";

export interface Forgotten {
  readonly contacts: number;
  readonly conversations: number;
  readonly messages: number;
  /** Audit entries whose names were taken out; the entries stay. */
  readonly auditEntries: number;
  readonly events: number;
  /** Kept responses of the API and queued work. */
  readonly leftovers: number;
}

export interface ForgetDependencies {
  readonly store: Store;
  readonly clock: Clock;
  readonly search: ConversationSearch;
  readonly progress?: (line: string) => void;
}

const actor = systemActor("forget");
const pageSize = 500;
const erased = "[erased]";
const conversationPattern = /conv_[0-9a-z]{26}/g;

/** What tells that a text is about the customer. */
interface Traces {
  /** Lower case. */
  readonly email: string;
  /** Finds the address, and not another that only holds it: `joann@shop.example` is not `ann@shop.example`. */
  readonly named: RegExp;
  readonly conversations: ReadonlySet<string>;
  readonly contacts: ReadonlySet<string>;
  /** Names of the platforms for them, of any kind. */
  readonly identities: ReadonlySet<string>;
}

/**
 * Erases a customer: every conversation with what hangs on it, what they are known by, and what is left of them in
 * queues, kept responses and the names of audit entries. In transactions of a few rows each; the contact goes last, so
 * that what was interrupted can be begun again and finds the rest.
 */
export async function forgetCustomer(
  dependencies: ForgetDependencies,
  workspace: Workspace,
  email: string,
): Promise<Forgotten> {
  const { store, clock, progress = () => undefined } = dependencies;
  const customer = await customerByEmail(store.read, workspace.id, email);
  const traces = await tracesOf(store, customer, email);
  let messages = 0;
  let events = 0;
  for (const [done, id] of customer.conversationIds.entries()) {
    const gone = await store.write((tx) => eraseConversation(tx, dependencies, workspace, id, traces));
    messages += gone.messages;
    events += gone.events;
    if ((done + 1) % 100 === 0) progress(`${done + 1} of ${customer.conversationIds.length} conversations`);
  }
  events += await eraseEvents(store, workspace.id, traces);
  const auditEntries = await eraseNames(store, workspace.id, traces);
  const leftovers = (await eraseKeptResponses(store, workspace.id, traces)) + (await eraseQueued(store, traces));
  const ids = customer.contacts.map(({ id }) => id);
  for (const some of chunks(ids, 100)) await store.write((tx) => removeContacts(tx, some));
  const found = { contacts: ids.length, conversations: customer.conversationIds.length };
  if (found.contacts + found.conversations > 0) {
    await store.write((tx) => noteErasure(tx, workspace.id, found, clock.now()));
  }
  await purgeIndex(dependencies);
  return { ...found, messages, events, auditEntries, leftovers };
}

async function tracesOf(store: Store, customer: Customer, email: string): Promise<Traces> {
  const identities = new Set<string>();
  for (const some of chunks(customer.contacts.map(({ id }) => id))) {
    const rows = await store.read.selectFrom("identities").select("value").where("contact_id", "in", some).execute();
    for (const { value } of rows) identities.add(value);
  }
  const address = email.trim().toLowerCase();
  return {
    email: address,
    named: addressPattern(address),
    conversations: new Set(customer.conversationIds),
    contacts: new Set(customer.contacts.map(({ id }) => id)),
    identities,
  };
}

/** Before the address may stand what JSON writes for a line's end and the like, whose last sign is a letter. */
function addressPattern(address: string): RegExp {
  const before = String.raw`(?:(?<![\p{L}\p{N}.%+-])|(?<=\\[bfnrt]|\\u[0-9a-f]{4}))`;
  const after = String.raw`(?![\p{L}\p{N}-]|\.[\p{L}\p{N}])`;
  return new RegExp(`${before}${address.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`)}${after}`, "u");
}

function tells(text: string | null, { named, conversations }: Traces): boolean {
  if (text === null) return false;
  return named.test(text.toLowerCase()) || (text.match(conversationPattern) ?? []).some((id) => conversations.has(id));
}

/** In an id nothing tells where the address begins. */
const holds = (id: string | null, { email }: Traces): boolean => id?.toLowerCase().includes(email) === true;

async function eraseConversation(
  tx: Tx,
  { search, clock }: ForgetDependencies,
  workspace: Workspace,
  id: string,
  traces: Traces,
): Promise<{ readonly messages: number; readonly events: number }> {
  const row = await lockConversation(tx, workspace.id, id);
  if (row === undefined) return { messages: 0, events: 0 };
  await removeConversation(tx, search, workspace, id, actor, clock.now());
  const rows = await tx
    .selectFrom("inbound_events")
    .select(["id", "external_id", "target_external_id"])
    .where("conversation_id", "=", id)
    .execute();
  // Ids of e-mails can hold the address; the others stay, so that a late redelivery does not bring the text back.
  const named = rows
    .filter((event) => holds(event.external_id, traces) || holds(event.target_external_id, traces))
    .map((event) => event.id);
  for (const some of chunks(named)) await tx.deleteFrom("inbound_events").where("id", "in", some).execute();
  return { messages: row.message_count, events: rows.length };
}

/** Events that led to no conversation: what people said of themselves before they wrote, edits of messages that never came. */
async function eraseEvents(store: Store, workspaceId: string, traces: Traces): Promise<number> {
  const accounts = await store.read
    .selectFrom("accounts")
    .select("id")
    .where("workspace_id", "=", workspaceId)
    .execute();
  const own = new Set(accounts.map(({ id }) => id));
  let count = 0;
  for (let after = 0; ;) {
    const page = await store.read
      .selectFrom("inbound_events")
      .select(["id", "account_id", "external_id", "payload"])
      .where("conversation_id", "is", null)
      .where("id", ">", after)
      .orderBy("id")
      .limit(pageSize)
      .execute();
    const theirs = page
      .filter(
        (row) =>
          own.has(row.account_id) &&
          (tells(row.payload, traces) || holds(row.external_id, traces) || isSentBy(row.payload, traces)),
      )
      .map(({ id }) => id);
    if (theirs.length > 0) {
      await store.write((tx) => tx.deleteFrom("inbound_events").where("id", "in", theirs).execute());
    }
    count += theirs.length;
    const last = page.at(-1);
    if (last === undefined || page.length < pageSize) return count;
    after = last.id;
  }
}

function isSentBy(payload: string, { identities }: Traces): boolean {
  const { sender } = JSON.parse(payload) as {
    readonly sender?: { readonly key?: string; readonly verified?: { readonly userId?: string } };
  };
  return identities.has(sender?.key ?? "") || identities.has(sender?.verified?.userId ?? "");
}

/** Takes the customer's name and address out of the audit log, also of conversations that were deleted before. */
async function eraseNames(store: Store, workspaceId: string, traces: Traces): Promise<number> {
  let count = 0;
  for (let after = ""; ;) {
    const page = await store.read
      .selectFrom("audit")
      .selectAll()
      .where("workspace_id", "=", workspaceId)
      .where("id", ">", after)
      .orderBy("id")
      .limit(pageSize)
      .execute();
    const changed = page.flatMap((row) => {
      const clean = withoutNames(row, traces);
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
    const last = page.at(-1);
    if (last === undefined || page.length < pageSize) return count;
    after = last.id;
  }
}

function withoutNames(row: AuditTable, { named, contacts }: Traces): AuditTable {
  const theirs = row.actor_type === "customer" && row.actor_id !== null && contacts.has(row.actor_id);
  const clean = (text: string | null): string | null =>
    text !== null && named.test(text.toLowerCase()) ? erased : text;
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

async function eraseKeptResponses(store: Store, workspaceId: string, traces: Traces): Promise<number> {
  const keys = await store.read.selectFrom("api_keys").select("id").where("workspace_id", "=", workspaceId).execute();
  let count = 0;
  for (const { id: keyId } of keys) {
    for (let after = { path: "", idempotency_key: "" }; ;) {
      const { path, idempotency_key: key } = after;
      const page = await store.read
        .selectFrom("idempotency")
        .select(["path", "idempotency_key", "response"])
        .where("key_id", "=", keyId)
        .where((eb) => eb.or([eb("path", ">", path), eb.and([eb("path", "=", path), eb("idempotency_key", ">", key)])]))
        .orderBy("path")
        .orderBy("idempotency_key")
        .limit(pageSize)
        .execute();
      const theirs = page.filter((row) => tells(row.response, traces) || tells(row.path, traces));
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
      const last = page.at(-1);
      if (last === undefined || page.length < pageSize) break;
      after = last;
    }
  }
  return count;
}

/** Whatever waits, or was given up, with the customer in it. */
async function eraseQueued(store: Store, traces: Traces): Promise<number> {
  let count = 0;
  for (let after = 0; ;) {
    const page = await store.read
      .selectFrom("outbox")
      .select(["id", "payload", "last_error", "dead_at"])
      .where("id", ">", after)
      .orderBy("id")
      .limit(pageSize)
      .execute();
    // Work of other workspaces stands here too, and goes on even where it names the same address.
    const theirs = page
      .filter((row) => isWorkOf(row.payload, traces) || (row.dead_at !== null && tells(row.payload, traces)))
      .map(({ id }) => id);
    const telling = page.filter(({ id, last_error: error }) => !theirs.includes(id) && tells(error, traces));
    if (theirs.length + telling.length > 0) {
      await store.write(async (tx) => {
        if (theirs.length > 0) await tx.deleteFrom("outbox").where("id", "in", theirs).execute();
        for (const { id } of telling)
          await tx.updateTable("outbox").set({ last_error: erased }).where("id", "=", id).execute();
      });
    }
    count += theirs.length + telling.length;
    const last = page.at(-1);
    if (last === undefined || page.length < pageSize) return count;
    after = last.id;
  }
}

const workIds = /(?:conv|con)_[0-9a-z]{26}/g;

function isWorkOf(payload: string, { conversations, contacts }: Traces): boolean {
  return (payload.match(workIds) ?? []).some((id) => conversations.has(id) || contacts.has(id));
}

async function noteErasure(
  tx: Tx,
  workspaceId: string,
  found: { readonly contacts: number; readonly conversations: number },
  now: number,
): Promise<void> {
  await tx
    .insertInto("audit")
    .values({
      id: newId("aud", now),
      workspace_id: workspaceId,
      conversation_id: null,
      action: "deleted",
      actor_type: actor.type,
      actor_id: actor.id,
      actor_name: actor.name,
      from_value: null,
      to_value: null,
      detail: `a customer: ${found.contacts} contacts, ${found.conversations} conversations`,
      created_at: now,
    })
    .execute();
}

/** An index can hold words of what was removed until its parts are merged. */
export async function purgeIndex({ store, search }: Pick<ForgetDependencies, "store" | "search">): Promise<void> {
  const { purge } = search;
  if (purge === undefined) return;
  for (let first = true; await store.write((tx) => purge(tx, first));) first = false;
}
