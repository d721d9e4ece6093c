import { storedSettings } from "#domain/workspace.ts";
import type { Clock, Reader, Store } from "#engine/ports.ts";
import { newId } from "#domain/ids.ts";
import { chunks, customerByEmail } from "#store/customers.ts";
import type { ConversationRow } from "#store/conversations.ts";

const pageSize = 200;
/** Messages that are read together; a longer conversation is read in pages. */
const messagesAtOnce = 1_000;

/** One line of an export: what it is, and its fields. */
export type ExportLine = { readonly type: string } & Readonly<Record<string, unknown>>;

/**
 * Everything held of a workspace, or of one of its customers, without secrets. Read in pages, so that the size of a
 * workspace does not matter; what changes meanwhile may be there in its old or its new form. The last line is `end`.
 */
export async function* exportLines(
  store: Store,
  clock: Clock,
  workspaceId: string,
  email: string | undefined,
): AsyncGenerator<ExportLine> {
  const db = store.read;
  const counts = new Map<string, number>();
  const found = email === undefined ? undefined : await customerByEmail(db, workspaceId, email);
  await noteExport(store, clock, workspaceId, found?.conversationIds);
  const lines = found === undefined ? ofWorkspace(db, workspaceId) : ofCustomer(db, workspaceId, found);
  yield {
    type: "export",
    format: 1,
    workspace_id: workspaceId,
    scope: email === undefined ? "workspace" : "customer",
    ...(email === undefined ? {} : { email }),
    created_at: new Date(clock.now()).toISOString(),
  };
  for await (const each of lines) {
    counts.set(each.type, (counts.get(each.type) ?? 0) + 1);
    yield each;
  }
  yield { type: "end", lines: Object.fromEntries(counts) };
}

/** Who took data out, and when: in the log of each customer's conversation, or once for a workspace. */
async function noteExport(
  store: Store,
  clock: Clock,
  workspaceId: string,
  conversationIds: readonly string[] | undefined,
): Promise<void> {
  for (const some of chunks<string | null>(conversationIds ?? [null], pageSize)) {
    await store.write((tx) =>
      tx
        .insertInto("audit")
        .values(
          some.map((id) => ({
            id: newId("aud", clock.now()),
            workspace_id: workspaceId,
            conversation_id: id,
            action: "exported" as const,
            actor_type: "system",
            actor_id: "export",
            actor_name: null,
            from_value: null,
            to_value: null,
            detail: id === null ? "the workspace" : "with all that is held of the customer",
            created_at: clock.now(),
          })),
        )
        .execute(),
    );
  }
}

async function* ofWorkspace(db: Reader, workspaceId: string): AsyncGenerator<ExportLine> {
  const { settings, ...workspace } = await db
    .selectFrom("workspaces")
    .select(["id", "name", "plan", "settings", "created_at"])
    .where("id", "=", workspaceId)
    .executeTakeFirstOrThrow();
  yield line("workspace", {
    ...workspace,
    settings: storedSettings(settings),
  });
  yield* pages("agent", (after) =>
    db
      .selectFrom("agents")
      .select(["id", "email", "name", "role", "created_at"])
      .where("workspace_id", "=", workspaceId)
      .where("id", ">", after)
      .orderBy("id")
      .limit(pageSize)
      .execute(),
  );
  yield* pages("api_key", (after) =>
    db
      .selectFrom("api_keys")
      .select(["id", "name", "hint", "limit_minute", "limit_day", "expires_at", "revoked_at", "created_at"])
      .where("workspace_id", "=", workspaceId)
      .where("id", ">", after)
      .orderBy("id")
      .limit(pageSize)
      .execute(),
  );
  yield* pages("account", (after) =>
    db
      .selectFrom("accounts")
      .select(["id", "channel", "name", "config", "managed_by", "enabled", "created_at"])
      .where("workspace_id", "=", workspaceId)
      .where("id", ">", after)
      .orderBy("id")
      .limit(pageSize)
      .execute(),
  );
  yield* pages("webhook", (after) =>
    db
      .selectFrom("webhooks")
      .select(["id", "url", "events", "disabled_at", "disabled_reason", "created_at"])
      .where("workspace_id", "=", workspaceId)
      .where("id", ">", after)
      .orderBy("id")
      .limit(pageSize)
      .execute(),
  );
  const contactPages = (after: string) =>
    db
      .selectFrom("contacts")
      .selectAll()
      .where("workspace_id", "=", workspaceId)
      .where("id", ">", after)
      .orderBy("id")
      .limit(pageSize)
      .execute();
  for await (const contacts of rowPages(contactPages)) {
    for (const contact of contacts) yield line("contact", contact);
    yield* identitiesOf(
      db,
      contacts.map(({ id }) => id),
    );
  }
  yield* pages("contact_merge", (after) =>
    db
      .selectFrom("contact_merges")
      .selectAll()
      .where("workspace_id", "=", workspaceId)
      .where("id", ">", after)
      .orderBy("id")
      .limit(pageSize)
      .execute(),
  );
  for await (const conversations of rowPages((after) =>
    db
      .selectFrom("conversations")
      .selectAll()
      .where("workspace_id", "=", workspaceId)
      .where("id", ">", after)
      .orderBy("id")
      .limit(pageSize)
      .execute(),
  )) {
    yield* conversationLines(db, conversations, false);
  }
  yield* pages("audit", (after) =>
    db
      .selectFrom("audit")
      .selectAll()
      .where("workspace_id", "=", workspaceId)
      .where("id", ">", after)
      .orderBy("id")
      .limit(pageSize)
      .execute(),
  );
  yield* documentLines(db, workspaceId);
}

async function* ofCustomer(
  db: Reader,
  workspaceId: string,
  { contacts, conversationIds }: Awaited<ReturnType<typeof customerByEmail>>,
): AsyncGenerator<ExportLine> {
  for (const contact of contacts) yield line("contact", contact);
  for (const some of chunks(contacts.map(({ id }) => id))) {
    yield* identitiesOf(db, some);
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
    yield* conversationLines(db, conversations, true);
  }
}

async function* identitiesOf(db: Reader, contactIds: readonly string[]): AsyncGenerator<ExportLine> {
  if (contactIds.length === 0) return;
  const rows = await db.selectFrom("identities").selectAll().where("contact_id", "in", contactIds).execute();
  for (const row of rows) yield line("identity", row);
}

/** Conversations with all that hangs on them; `audit`: with the log of each. */
async function* conversationLines(
  db: Reader,
  conversations: readonly ConversationRow[],
  audit: boolean,
): AsyncGenerator<ExportLine> {
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
    yield* pages("message", (after) =>
      db
        .selectFrom("messages")
        .selectAll()
        .where("conversation_id", "in", ids)
        .where("id", ">", after)
        .orderBy("id")
        .limit(messagesAtOnce)
        .execute(),
    );
    for await (const files of rowPages((after) =>
      db
        .selectFrom("attachments")
        .selectAll()
        .where("conversation_id", "in", ids)
        .where("id", ">", after)
        .orderBy("id")
        .limit(pageSize)
        .execute(),
    )) {
      // What the platform calls it opens it, and is nobody's data.
      for (const { ref: _, ...file } of files) yield line("attachment", file);
    }
    yield* pages("note", (after) =>
      db
        .selectFrom("notes")
        .selectAll()
        .where("conversation_id", "in", ids)
        .where("id", ">", after)
        .orderBy("id")
        .limit(pageSize)
        .execute(),
    );
    for await (const deliveries of rowPages((after) =>
      db
        .selectFrom("deliveries")
        .selectAll()
        .where("conversation_id", "in", ids)
        .where("id", ">", after)
        .orderBy("id")
        .limit(messagesAtOnce)
        .execute(),
    )) {
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
    yield* received(db, ids);
    if (!audit) continue;
    yield* pages("audit", (after) =>
      db
        .selectFrom("audit")
        .selectAll()
        .where("conversation_id", "in", ids)
        .where("id", ">", after)
        .orderBy("id")
        .limit(pageSize)
        .execute(),
    );
  }
}

async function* received(db: Reader, conversationIds: readonly string[]): AsyncGenerator<ExportLine> {
  for (let after = 0; ;) {
    const rows = await db
      .selectFrom("inbound_events")
      .selectAll()
      .where("conversation_id", "in", conversationIds)
      .where("id", ">", after)
      .orderBy("id")
      .limit(messagesAtOnce)
      .execute();
    for (const row of rows) yield line("received_event", row);
    const last = rows.at(-1);
    if (last === undefined || rows.length < messagesAtOnce) return;
    after = last.id;
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
  for await (const documents of rowPages((after) =>
    db
      .selectFrom("documents")
      .selectAll()
      .where("workspace_id", "=", workspaceId)
      .where("id", ">", after)
      .orderBy("id")
      .limit(pageSize)
      .execute(),
  )) {
    for (const document of documents) {
      yield line("document", document);
      const crawls = await db
        .selectFrom("crawls")
        .select(["document_id", "max_pages", "sitemap", "started_at", "finished_at"])
        .where("document_id", "=", document.id)
        .execute();
      for (const crawl of crawls) yield line("crawl", crawl);
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

/** Pages of rows in the order of their ids. */
async function* rowPages<T extends { readonly id: string }>(
  read: (after: string) => Promise<readonly T[]>,
): AsyncGenerator<readonly T[]> {
  for (let after = ""; ;) {
    const rows = await read(after);
    const last = rows.at(-1);
    if (last === undefined) return;
    yield rows;
    after = last.id;
  }
}

async function* pages<T extends { readonly id: string }>(
  type: string,
  read: (after: string) => Promise<readonly T[]>,
): AsyncGenerator<ExportLine> {
  for await (const rows of rowPages(read)) for (const row of rows) yield line(type, row);
}

const iso = (at: number): string => new Date(at).toISOString();

const isTime = (name: string): boolean => /(_at|_since|_until|^at)$/.test(name);
/** Columns that hold JSON. */
const json: ReadonlySet<string> = new Set([
  "attributes",
  "audience",
  "config",
  "events",
  "filled",
  "metadata",
  "payload",
  "skills",
  "sources",
]);

/** A row as people read it: times as ISO 8601, JSON as what it says. */
function line(type: string, row: object): ExportLine {
  const fields = Object.entries(row).map(([name, value]: [string, unknown]) => {
    if (typeof value === "number" && isTime(name)) return [name, iso(value)] as const;
    if (typeof value === "string" && json.has(name)) return [name, JSON.parse(value) as unknown] as const;
    return [name, value] as const;
  });
  return { type, ...(Object.fromEntries(fields) as Readonly<Record<string, unknown>>) };
}
