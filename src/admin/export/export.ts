import type { Selectable, SelectQueryBuilder } from "kysely";
import type { WorkspaceSettings } from "#domain/workspace/settings.ts";
import { storedSettings } from "#domain/workspace/settings.ts";
import { dateOfDay } from "#domain/reporting/local-time.ts";
import type { Clock } from "#runtime/clock.ts";
import type { Reader, Store } from "#database/contract.ts";
import type { CustomerMatcher } from "#conversations/retention/customer-matcher.ts";
import {
  auditPages,
  isAuditOf,
  isReceivedFrom,
  storedResponsePages,
  mentionsCustomer,
  customerMatcherOf,
  unplacedEventPages,
} from "#conversations/retention/customer-matcher.ts";
import type { Customer } from "#database/queries/customers.ts";
import type { CustomerKey } from "#database/queries/customers.ts";
import { chunks, contactColumns, customerOf } from "#database/queries/customers.ts";
import type { ConversationRow } from "#database/queries/conversations.ts";
import type { EventsTable } from "#database/schema/webhooks.ts";
import type { Database } from "#database/schema/tables.ts";
import { noteAction } from "#admin/audit.ts";
import type { ExportLine } from "./rows.ts";
import { iso, line, rowLines, rowPages } from "./rows.ts";

const pageSize = 200;
/** Messages read with one query; a longer conversation is read in pages. */
const messagesAtOnce = 1_000;

/**
 * All stored data of a workspace or of one of its customers, without secrets. It is read in pages, so it can be of any
 * size; data that changes meanwhile may appear in its old or its new form. The last line is `end`.
 */
export async function* exportLines(
  store: Store,
  clock: Clock,
  workspaceId: string,
  key: CustomerKey | undefined,
): AsyncGenerator<ExportLine> {
  const db = store.read;
  const counts = new Map<string, number>();
  const found = key === undefined ? undefined : await customerOf(db, workspaceId, key);
  await noteExport(store, clock, workspaceId, found?.conversationIds);
  const lines =
    found === undefined || key === undefined
      ? ofWorkspace(db, workspaceId)
      : ofCustomer(db, workspaceId, found, await customerMatcherOf(db, workspaceId, found, key, false));
  yield {
    type: "export",
    format: 1,
    workspace_id: workspaceId,
    scope: key === undefined ? "workspace" : "customer",
    ...(key === undefined ? {} : "email" in key ? { email: key.email } : { contact_id: key.contactId }),
    created_at: new Date(clock.now()).toISOString(),
  };
  for await (const each of lines) {
    counts.set(each.type, (counts.get(each.type) ?? 0) + 1);
    yield each;
  }
  yield { type: "end", lines: Object.fromEntries(counts) };
}

/** Records the export in the audit log of each of the customer's conversations, or once for the workspace. */
async function noteExport(
  store: Store,
  clock: Clock,
  workspaceId: string,
  conversationIds: readonly string[] | undefined,
): Promise<void> {
  const detail = conversationIds === undefined ? "the workspace" : "with all that is held of the customer";
  for (const some of chunks<string | null>(conversationIds ?? [null], pageSize)) {
    const now = clock.now();
    await store.write((tx) =>
      noteAction(tx, { workspaceId, conversationIds: some, action: "exported", by: "export", detail, now }),
    );
  }
}

async function* ofWorkspace(db: Reader, workspaceId: string): AsyncGenerator<ExportLine> {
  yield* workspaceLines(db, workspaceId);
  yield* agentLines(db, workspaceId);
  yield* keyLines(db, workspaceId);
  const accounts = new Set<string>();
  const accountPages = rowPages(
    db
      .selectFrom("accounts")
      .select(["id", "channel", "name", "config", "managed_by", "enabled", "created_at"])
      .where("workspace_id", "=", workspaceId),
  );
  for await (const rows of accountPages) {
    for (const row of rows) {
      accounts.add(row.id);
      yield line("account", row);
    }
  }
  yield* rowLines(
    "webhook",
    db
      .selectFrom("webhooks")
      .select(["id", "url", "events", "disabled_at", "disabled_reason", "managed_by", "failing_since", "created_at"])
      .where("workspace_id", "=", workspaceId),
  );
  yield* contactLines(db, workspaceId);
  yield* rowLines("contact_merge", db.selectFrom("contact_merges").selectAll().where("workspace_id", "=", workspaceId));
  yield* rowLines(
    "question_group",
    db.selectFrom("question_groups").selectAll().where("workspace_id", "=", workspaceId),
  );
  for await (const conversations of rowPages(
    db.selectFrom("conversations").selectAll().where("workspace_id", "=", workspaceId),
  )) {
    yield* conversationLines(db, conversations);
  }
  for await (const page of unplacedEventPages(db)) {
    for (const row of page) if (accounts.has(row.account_id)) yield line("received_event", row);
  }
  yield* eventLines(db, db.selectFrom("events").selectAll().where("workspace_id", "=", workspaceId));
  for await (const page of auditPages(db, workspaceId)) for (const row of page) yield line("audit", row);
  yield* reportLines(db, workspaceId);
  yield* documentLines(db, workspaceId);
}

/** The counts of reports, a day at a time. */
async function* reportLines(db: Reader, workspaceId: string): AsyncGenerator<ExportLine> {
  const counts = db.selectFrom("report_counts").where("workspace_id", "=", workspaceId).where("period", "=", "day");
  for (const { day } of await counts.select("day").distinct().orderBy("day").execute()) {
    const rows = counts.select(["dimension", "name", "counts"]).where("day", "=", day);
    for (const { counts: text, ...row } of await rows.execute()) {
      yield line("report_count", { date: dateOfDay(day), ...row, counts: JSON.parse(text) as unknown });
    }
  }
}

async function* workspaceLines(db: Reader, workspaceId: string): AsyncGenerator<ExportLine> {
  const { settings, ...workspace } = await db
    .selectFrom("workspaces")
    .select(["id", "name", "plan", "settings", "created_at"])
    .where("id", "=", workspaceId)
    .executeTakeFirstOrThrow();
  yield line("workspace", {
    ...workspace,
    settings: withoutSecrets(storedSettings(settings)),
  });
  for (const { window_start, value } of await db
    .selectFrom("counters")
    .select(["window_start", "value"])
    .where("name", "=", `queries:${workspaceId}`)
    .orderBy("window_start")
    .execute()) {
    yield line("usage", { month: iso(window_start).slice(0, 7), queries: value });
  }
}

async function* agentLines(db: Reader, workspaceId: string): AsyncGenerator<ExportLine> {
  const agentPages = rowPages(
    db
      .selectFrom("agents")
      .select(["id", "email", "name", "role", "away", "invited_until", "last_seen_at", "created_at"])
      .where("workspace_id", "=", workspaceId),
  );
  for await (const agents of agentPages) {
    for (const agent of agents) yield line("agent", agent);
    const ids = agents.map(({ id }) => id);
    const tokens = db
      .selectFrom("agent_tokens")
      .select(["agent_id", "kind", "user_agent", "network", "last_seen_at", "expires_at", "used_at", "created_at"]);
    for (const row of await tokens.where("agent_id", "in", ids).execute()) yield line("agent_session", row);
    const access = db
      .selectFrom("access_tokens")
      .select(["id", "agent_id", "name", "hint", "scope", "expires_at", "last_used_at", "created_at"]);
    for (const row of await access.where("agent_id", "in", ids).execute()) yield line("access_token", row);
  }
  const identities = db
    .selectFrom("agent_identities")
    .select(["agent_id", "issuer", "refused_at", "created_at"])
    .where("workspace_id", "=", workspaceId);
  for (const row of await identities.execute()) yield line("agent_identity", row);
  const signIn = db
    .selectFrom("sign_in_settings")
    .select(["workspace_id", "second_factor_required"])
    .where("workspace_id", "=", workspaceId);
  for (const row of await signIn.execute()) yield line("sign_in_settings", row);
  const teams = db.selectFrom("teams").select(["id", "name", "created_at"]).where("workspace_id", "=", workspaceId);
  for await (const page of rowPages(teams)) {
    for (const row of page) {
      const members = await db.selectFrom("team_members").select("agent_id").where("team_id", "=", row.id).execute();
      yield line("team", { ...row, agent_ids: members.map(({ agent_id }) => agent_id) });
    }
  }
}

async function* keyLines(db: Reader, workspaceId: string): AsyncGenerator<ExportLine> {
  const keyPages = rowPages(
    db
      .selectFrom("api_keys")
      .select(["id", "name", "hint", "limit_minute", "limit_day", "expires_at", "revoked_at", "created_at"])
      .where("workspace_id", "=", workspaceId),
  );
  for await (const keys of keyPages) {
    for (const key of keys) yield line("api_key", key);
    yield* keptResponses(
      db,
      keys.map(({ id }) => id),
      () => true,
    );
  }
}

async function* contactLines(db: Reader, workspaceId: string): AsyncGenerator<ExportLine> {
  for await (const contacts of rowPages(
    db.selectFrom("contacts").select(contactColumns).where("workspace_id", "=", workspaceId),
  )) {
    for (const contact of contacts) yield line("contact", contact);
    yield* identitiesOf(
      db,
      contacts.map(({ id }) => id),
    );
  }
}

async function* ofCustomer(
  db: Reader,
  workspaceId: string,
  { contacts, conversationIds }: Customer,
  matcher: CustomerMatcher,
): AsyncGenerator<ExportLine> {
  for (const contact of contacts) yield line("contact", contact);
  for (const some of chunks(contacts.map(({ id }) => id))) {
    yield* identitiesOf(db, some);
    yield* eventLines(db, db.selectFrom("events").selectAll().where("subject_id", "in", some));
    const merges = await db.selectFrom("contact_merges").selectAll().where("from_contact_id", "in", some).execute();
    for (const merge of merges) yield line("contact_merge", merge);
  }
  for (const some of chunks(conversationIds, pageSize)) {
    const conversations = await db
      .selectFrom("conversations")
      .selectAll()
      .where("workspace_id", "=", workspaceId)
      .where("id", "in", some)
      .orderBy("id")
      .execute();
    yield* conversationLines(db, conversations);
    yield* eventLines(db, db.selectFrom("events").selectAll().where("subject_id", "in", some));
  }
  const own = db.selectFrom("accounts").select("id").where("workspace_id", "=", workspaceId);
  const accounts = new Set((await own.execute()).map(({ id }) => id));
  for await (const page of unplacedEventPages(db)) {
    for (const row of page)
      if (accounts.has(row.account_id) && isReceivedFrom(row, matcher)) yield line("received_event", row);
  }
  const keys = await db.selectFrom("api_keys").select("id").where("workspace_id", "=", workspaceId).execute();
  yield* keptResponses(
    db,
    keys.map(({ id }) => id),
    (row) => mentionsCustomer(row.response, matcher) || mentionsCustomer(row.path, matcher),
  );
  for await (const page of auditPages(db, workspaceId)) {
    for (const row of page) if (isAuditOf(row, matcher)) yield line("audit", row);
  }
}

async function* identitiesOf(db: Reader, contactIds: readonly string[]): AsyncGenerator<ExportLine> {
  if (contactIds.length === 0) return;
  const rows = await db.selectFrom("identities").selectAll().where("contact_id", "in", contactIds).execute();
  for (const row of rows) yield line("identity", row);
}

/** Responses stored for an Idempotency-Key. The key itself is stored as a hash only. */
async function* keptResponses(
  db: Reader,
  keyIds: readonly string[],
  isIncluded: (row: { readonly path: string; readonly response: string | null }) => boolean,
): AsyncGenerator<ExportLine> {
  for (const keyId of keyIds) {
    for await (const page of storedResponsePages(db, keyId)) {
      for (const row of page.filter(isIncluded)) {
        const { key_id, path, status, created_at } = row;
        const response = row.response === null ? null : (JSON.parse(row.response) as unknown);
        yield line("kept_response", { key_id, path, status, response, created_at });
      }
    }
  }
}

/** Conversations with their messages, notes and other rows, except audit entries and events. */
async function* conversationLines(db: Reader, conversations: readonly ConversationRow[]): AsyncGenerator<ExportLine> {
  for (const group of byMessages(conversations)) {
    const ids = group.map(({ id }) => id);
    const tags = Map.groupBy(
      await db
        .selectFrom("conversation_tags")
        .select(["conversation_id", "tag"])
        .where("conversation_id", "in", ids)
        .orderBy("tag")
        .execute(),
      ({ conversation_id }) => conversation_id,
    );
    for (const row of group) {
      yield line("conversation", { ...row, tags: (tags.get(row.id) ?? []).map(({ tag }) => tag) });
    }
    const messages = db.selectFrom("messages").selectAll().where("conversation_id", "in", ids);
    yield* rowLines("message", messages, "id", messagesAtOnce);
    const attached = db.selectFrom("attachments").selectAll().where("conversation_id", "in", ids);
    for await (const files of rowPages(attached, "id", messagesAtOnce)) {
      // The platform's reference opens the file, so it is left out.
      for (const { ref: _, ...file } of files) yield line("attachment", file);
    }
    yield* rowLines("note", db.selectFrom("notes").selectAll().where("conversation_id", "in", ids));
    const sent = db.selectFrom("deliveries").selectAll().where("conversation_id", "in", ids);
    for await (const deliveries of rowPages(sent, "id", messagesAtOnce)) {
      const receipts = Map.groupBy(
        await db
          .selectFrom("receipts")
          .selectAll()
          .where(
            "delivery_id",
            "in",
            deliveries.map(({ id }) => id),
          )
          .execute(),
        ({ delivery_id }) => delivery_id,
      );
      for (const row of deliveries) {
        const reports = (receipts.get(row.id) ?? []).map(({ state, at }) => ({ state, at: iso(at) }));
        yield line("delivery", { ...row, receipts: reports });
      }
    }
    yield* feedbackLines(db, ids);
    const received = db.selectFrom("inbound_events").selectAll().where("conversation_id", "in", ids);
    yield* rowLines("received_event", received, "id", messagesAtOnce);
  }
}

/** Customers' opinions of answers and conversations, and the questions that were answered badly. */
async function* feedbackLines(db: Reader, conversationIds: readonly string[]): AsyncGenerator<ExportLine> {
  for (const [type, table] of feedbackTables) {
    const rows = await db.selectFrom(table).selectAll().where("conversation_id", "in", conversationIds).execute();
    for (const row of rows) yield line(type, row);
  }
}

const feedbackTables = [
  ["answer_feedback", "answer_feedback"],
  ["reaction", "reactions"],
  ["weak_answer", "weak_answers"],
  ["survey", "surveys"],
  ["rating", "ratings"],
] as const;

/** Events for webhooks, and each delivery attempt with its response. */
async function* eventLines(
  db: Reader,
  query: SelectQueryBuilder<Database, "events", Selectable<EventsTable>>,
): AsyncGenerator<ExportLine> {
  for await (const events of rowPages(query, "position")) {
    for (const { type, ...event } of events) yield line("event", { ...event, event_type: type });
    const ids = events.map(({ id }) => id);
    const attempts = db.selectFrom("webhook_attempts").selectAll().where("event_id", "in", ids);
    yield* rowLines("webhook_attempt", attempts);
  }
}

/** Conversations whose messages fit into memory together. */
function* byMessages(conversations: readonly ConversationRow[]): Generator<readonly ConversationRow[]> {
  let group: ConversationRow[] = [];
  let messages = 0;
  for (const row of conversations) {
    if (group.length > 0 && messages + row.message_count > messagesAtOnce) {
      yield group;
      group = [];
      messages = 0;
    }
    group.push(row);
    messages += row.message_count;
  }
  if (group.length > 0) yield group;
}

async function* documentLines(db: Reader, workspaceId: string): AsyncGenerator<ExportLine> {
  for await (const documents of rowPages(
    db.selectFrom("documents").selectAll().where("workspace_id", "=", workspaceId),
  )) {
    for (const document of documents) {
      yield line("document", document);
      const crawls = await db
        .selectFrom("crawls")
        .select(["document_id", "max_pages", "sitemap", "started_at", "finished_at"])
        .where("document_id", "=", document.id)
        .execute();
      for (const crawl of crawls) yield line("crawl", crawl);
      if (document.source === "crawl") {
        const pages = db
          .selectFrom("crawl_pages")
          .select(["document_id", "url_hash", "url", "page_id", "state", "reason", "etag", "last_modified"])
          .where("document_id", "=", document.id);
        for await (const rows of rowPages(pages, "url_hash"))
          for (const { url_hash: _, ...row } of rows) yield line("crawl_page", row);
      }
      yield* rowLines(
        "passage",
        db
          .selectFrom("chunks")
          .select(["id", "document_id", "position", "title", "text", "url"])
          .where("document_id", "=", document.id)
          .where("version", "=", document.indexed_version),
        "position",
      );
      if (document.body_id === null) continue;
      // A part at a time: a document can be larger than what a line should be.
      for (let part = 0; ; part += 1) {
        const row = await db
          .selectFrom("document_body_parts")
          .select("body")
          .where("body_id", "=", document.body_id)
          .where("part", "=", part)
          .executeTakeFirst();
        if (row === undefined) break;
        yield {
          type: "document_body",
          document_id: document.id,
          part,
          base64: Buffer.from(row.body).toString("base64"),
        };
      }
    }
  }
}

/** Leaves out what holds encrypted secrets: requests of look-ups, and the secret for single sign-on. */
function withoutSecrets(settings: WorkspaceSettings): object {
  const skills = settings.skills.map((skill) => (skill.kind === "lookup" ? { ...skill, request: null } : skill));
  const { singleSignOn: provider } = settings;
  return { ...settings, skills, singleSignOn: provider && { ...provider, clientSecret: null } };
}
