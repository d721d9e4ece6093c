import type { Static } from "typebox";
import { Type } from "typebox";
import { requireInstant } from "#domain/instant.ts";
import { recordChange } from "#admin/audit.ts";
import type { AuditFilter } from "#admin/audit-log.ts";
import { auditEntryOf, auditPage, auditPages } from "#admin/audit-log.ts";
import type { Reader } from "#database/contract.ts";
import { administratorOf } from "#http/admin/administrator.ts";
import { adminResponses } from "#http/admin/schemas.ts";
import type { App } from "#http/app-type.ts";
import { csvLine, fileResponse, sendDownload } from "./download.ts";
import { createCursors } from "#http/v1/cursor.ts";
import type { Resources } from "#http/v1/resources.ts";
import * as schemas from "#http/v1/schemas.ts";

const short = { minLength: 1, maxLength: 200 };
const filters = {
  actor: Type.Optional(
    Type.String({
      ...short,
      description: "An agent's e-mail address, or the id of an API key or a part of the program",
    }),
  ),
  action: Type.Optional(
    Type.String({
      ...short,
      description: "An action such as `api_key_added`, or several by their beginning: `api_key`",
    }),
  ),
  q: Type.Optional(
    Type.String({ ...short, description: "A part of what was changed, or of its value before or after" }),
  ),
  conversation_id: Type.Optional(Type.String(short)),
  from: Type.Optional(Type.String({ description: "ISO 8601, inclusive" })),
  to: Type.Optional(Type.String({ description: "ISO 8601, exclusive" })),
};
const filterSchema = Type.Object(filters);

const entry = Type.Object(
  {
    id: Type.String(),
    conversation_id: schemas.nullable(Type.String({ description: "Null: a change of the workspace" })),
    action: Type.String(),
    actor: Type.Object({
      type: Type.String(),
      id: schemas.nullable(Type.String()),
      name: schemas.nullable(Type.String()),
    }),
    from: schemas.nullable(Type.String()),
    to: schemas.nullable(Type.String()),
    detail: schemas.nullable(Type.String({ description: "What was changed" })),
    created_at: schemas.time,
  },
  { title: "AuditLogEntry" },
);

const tags = ["Administration"];

const listSchema = {
  tags,
  operationId: "listAuditLog",
  summary: "List changes by people and by the program, newest first",
  description:
    "A page may have fewer entries than `limit` while `has_more` is true, where a filter matches few of many.",
  querystring: Type.Object({ ...filters, limit: schemas.listLimit(50), cursor: schemas.listCursor }),
  response: adminResponses(
    {
      200: Type.Object({ entries: Type.Array(entry), pagination: schemas.pagination }, { title: "AuditLog" }),
    },
    ["invalid_cursor"],
  ),
};

const exportSchema = {
  tags,
  operationId: "exportAuditLog",
  summary: "Download changes as CSV, newest first",
  querystring: filterSchema,
  response: adminResponses({ 200: fileResponse("AuditLogFile", "text/csv") }, []),
};

/** The audit log of the workspace and its conversations. */
export function auditRoutes(app: App, { store, clock, cursorKey }: Resources): void {
  const cursors = createCursors(cursorKey, "audit", Type.Object({ before: Type.String() }));

  app.get("/audit", { schema: listSchema }, async (request) => {
    const { limit = 50, cursor, ...query } = request.query;
    const list = filterOf(administratorOf(request).workspaceId, query);
    const before = cursor === undefined ? undefined : cursors.read(list, cursor).before;
    const { rows, next } = await auditPage(store.read, list, { before, limit });
    // After the end comes nothing: no id is below an empty one.
    return {
      entries: rows.map(auditEntryOf),
      pagination: { next_cursor: cursors.issue(list, { before: next ?? "" }), has_more: next !== undefined },
    };
  });

  app.get("/audit/export", { config: { ownPagesOnly: true }, schema: exportSchema }, async (request, reply) => {
    const { workspaceId, actor } = administratorOf(request);
    const list = filterOf(workspaceId, request.query);
    const now = clock.now();
    await store.write((tx) =>
      recordChange(tx, { workspaceId, by: actor, action: "workspace_exported", subject: "audit log", now }),
    );
    const name = `audit-${new Date(now).toISOString().slice(0, 10)}.csv`;
    return sendDownload(reply, { name, mediaType: "text/csv" }, csvOf(store.read, list));
  });
}

function filterOf(workspaceId: string, query: Static<typeof filterSchema>): AuditFilter {
  return {
    workspaceId,
    actor: query.actor,
    action: query.action,
    text: query.q,
    conversationId: query.conversation_id,
    from: query.from === undefined ? undefined : requireInstant("from", query.from),
    to: query.to === undefined ? undefined : requireInstant("to", query.to),
  };
}

async function* csvOf(db: Reader, list: AuditFilter): AsyncGenerator<string> {
  yield csvLine(["time", "action", "actor_type", "actor", "actor_name", "subject", "from", "to", "conversation"]);
  for await (const rows of auditPages(db, list)) {
    for (const { created_at: at, action, detail, conversation_id: conversation, ...row } of rows) {
      const values = [detail, row.from_value, row.to_value, conversation];
      yield csvLine([new Date(at).toISOString(), action, row.actor_type, row.actor_id, row.actor_name, ...values]);
    }
  }
}
