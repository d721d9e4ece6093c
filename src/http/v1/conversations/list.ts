import { Type } from "typebox";
import type { Static } from "typebox";
import { parseInstant } from "#domain/instant.ts";
import { Problem } from "#domain/problem.ts";
import type { ConversationFilter } from "#database/search/contract.ts";
import { createCursors, listPosition } from "#http/v1/cursor.ts";
import type { App } from "#http/app-type.ts";
import type { Resources } from "#http/v1/resources.ts";
import { callerOf } from "#http/v1/resources.ts";
import * as schemas from "#http/v1/schemas.ts";
import { normalTags } from "#http/v1/tags.ts";

const listQuery = Type.Object({
  workspace_id: Type.String(),
  channel: Type.Optional(schemas.channel),
  status: Type.Optional(schemas.status),
  tag: Type.Optional(
    Type.Array(schemas.tag, {
      maxItems: 20,
      description: "May be repeated: only conversations with all of these tags",
    }),
  ),
  since: Type.Optional(Type.String({ description: "ISO 8601; only conversations started after it" })),
  until: Type.Optional(Type.String({ description: "ISO 8601; only conversations started before it" })),
  q: Type.Optional(
    Type.String({
      pattern: "\\S",
      allowed: "the words to look for; leave it out to list all",
      description: "Full-text search: every word must occur; quotes make a phrase",
    }),
  ),
  email: Type.Optional(Type.String({ pattern: "\\S", maxLength: 320, allowed: "an e-mail address" })),
  sla_state: Type.Optional(schemas.slaState),
  limit: schemas.listLimit(20),
  cursor: schemas.listCursor,
});

const listSchema = {
  tags: ["Conversations"],
  operationId: "listConversations",
  summary: "List conversations, newest first",
  querystring: listQuery,
  response: schemas.responses(
    {
      200: Type.Object(
        { conversations: Type.Array(schemas.conversationItem), pagination: schemas.pagination },
        { title: "ConversationList" },
      ),
    },
    [...schemas.withWorkspaceId, "invalid_cursor", "search_unavailable"],
  ),
};

export function listRoute(app: App, resources: Resources): void {
  const { engine, representation, listConversations } = resources;
  const cursors = createCursors(resources.cursorKey, "conversations", listPosition);

  app.get("/conversations", { config: { workspaceId: "required" }, schema: listSchema }, async (request) => {
    const { cursor, limit = 20 } = request.query;
    const caller = callerOf(request);
    const filter = filterOf(caller.workspaceId, request.query);
    const position = cursor === undefined ? undefined : cursors.read(filter, cursor);
    if (position !== undefined && "end" in position) {
      return { conversations: [], pagination: { next_cursor: cursor, has_more: false } };
    }
    // The filter reads stored states, so expired SLA clocks are stored first.
    if (filter.slaState !== undefined) await engine.settleClocks(caller.workspaceId);
    const before = position === undefined ? undefined : { startedAt: position.at, id: position.id };
    const { rows, hasMore } = await listConversations(filter, before, limit);
    const last = rows.at(-1);
    const next = last === undefined ? (position ?? { end: true as const }) : { at: last.started_at, id: last.id };
    return {
      conversations: await representation.conversationItems(caller, rows),
      pagination: { next_cursor: cursors.issue(filter, next), has_more: hasMore },
    };
  });
}

function filterOf(
  workspaceId: string,
  query: Static<typeof listQuery>,
): ConversationFilter & { readonly text?: string } {
  return {
    workspaceId,
    ...(query.channel === undefined ? {} : { channel: query.channel }),
    ...(query.status === undefined ? {} : { status: query.status }),
    ...(query.sla_state === undefined ? {} : { slaState: query.sla_state }),
    ...(query.tag === undefined ? {} : { tags: normalTags("tag", query.tag) }),
    ...(query.since === undefined ? {} : { since: instantIn("since", query.since) }),
    ...(query.until === undefined ? {} : { until: instantIn("until", query.until) }),
    ...(query.email === undefined ? {} : { email: query.email.trim().toLowerCase() }),
    ...(query.q === undefined ? {} : { text: query.q }),
  };
}

function instantIn(name: "since" | "until", text: string): number {
  const at = parseInstant(text);
  if (at !== undefined) return at;
  throw new Problem("invalid_parameter", `${name} must be an ISO 8601 instant or date, such as 2026-01-31T09:30:00Z.`);
}
