import { Type } from "typebox";
import { parseInstant } from "#domain/instant.ts";
import { codePoints } from "#domain/conversation/message.ts";
import { Problem } from "#domain/problem.ts";
import type { ConversationChange, Snooze } from "#conversations/agents/requests.ts";
import type { ConversationFilter } from "#database/search/contract.ts";
import { keyActor } from "#http/middleware/auth.ts";
import { createCursors, listPosition } from "#http/cursor.ts";
import type { App } from "#http/app-type.ts";
import { answerOnce } from "./once.ts";
import type { Resources } from "./resources.ts";
import { callerOf } from "./resources.ts";
import * as schemas from "./schemas.ts";

const hourMs = 3_600_000;
const snoozeHoursMax = 24 * 366;

/** What `GET /v1/conversations` and the single conversation answer, and how both are changed. */
export function conversationRoutes(app: App, resources: Resources): void {
  const { engine, representation, idempotency, clock } = resources;
  const cursors = createCursors(resources.cursorKey, "conversations", listPosition);

  app.get(
    "/conversations",
    {
      config: { workspaceId: "required" },
      schema: {
        tags: ["Conversations"],
        operationId: "listConversations",
        summary: "List conversations, newest first",
        querystring: Type.Object({
          workspace_id: Type.String(),
          channel: Type.Optional(schemas.channel),
          status: Type.Optional(schemas.status),
          tag: Type.Optional(
            Type.Array(schemas.tag, { maxItems: 20, description: "May be repeated; all of the tags must be there" }),
          ),
          since: Type.Optional(Type.String({ description: "ISO 8601; started after it" })),
          until: Type.Optional(Type.String({ description: "ISO 8601; started before it" })),
          q: Type.Optional(
            Type.String({
              pattern: "\\S",
              allowed: "the words to look for; leave it out to list all",
              description: "Full text: every word must be there; quotes make a phrase",
            }),
          ),
          email: Type.Optional(Type.String({ pattern: "\\S", maxLength: 320, allowed: "an e-mail address" })),
          sla_state: Type.Optional(schemas.slaState),
          limit: schemas.listLimit(20),
          cursor: schemas.listCursor,
        }),
        response: schemas.responses(
          {
            200: Type.Object(
              { conversations: Type.Array(schemas.conversationItem), pagination: schemas.pagination },
              { title: "ConversationList" },
            ),
          },
          [...schemas.withWorkspaceId, "invalid_cursor", "search_unavailable"],
        ),
      },
    },
    async (request) => {
      const { query } = request;
      const caller = callerOf(request);
      const filter: ConversationFilter & { readonly text?: string } = {
        workspaceId: caller.workspaceId,
        ...(query.channel === undefined ? {} : { channel: query.channel }),
        ...(query.status === undefined ? {} : { status: query.status }),
        ...(query.sla_state === undefined ? {} : { slaState: query.sla_state }),
        ...(query.tag === undefined ? {} : { tags: normalTags("tag", query.tag) }),
        ...instant("since", query.since),
        ...instant("until", query.until),
        ...(query.email === undefined ? {} : { email: query.email.trim().toLowerCase() }),
        ...(query.q === undefined ? {} : { text: query.q }),
      };
      const position = query.cursor === undefined ? undefined : cursors.read(filter, query.cursor);
      if (position !== undefined && "end" in position) {
        return { conversations: [], pagination: { next_cursor: query.cursor, has_more: false } };
      }
      // Clocks that have run over since are set first, so that the filter holds at this moment.
      if (filter.slaState !== undefined) await engine.settleClocks(caller.workspaceId);
      const before = position === undefined ? undefined : { startedAt: position.at, id: position.id };
      const { rows, hasMore } = await resources.listConversations(filter, before, query.limit ?? 20);
      const last = rows.at(-1);
      const next = last === undefined ? (position ?? { end: true as const }) : { at: last.started_at, id: last.id };
      return {
        conversations: await representation.conversationItems(caller, rows),
        pagination: { next_cursor: cursors.issue(filter, next), has_more: hasMore },
      };
    },
  );

  app.get<{ Params: { conversation_id: string } }>(
    "/conversations/:conversation_id",
    {
      schema: {
        tags: ["Conversations"],
        operationId: "getConversation",
        summary: "Read a conversation with its messages, notes and audit log",
        response: schemas.responses({ 200: schemas.conversation }, ["conversation_not_found"]),
      },
    },
    async (request) => representation.conversation(callerOf(request), request.params.conversation_id),
  );

  const noteBody = Type.Object(
    { content: schemas.noteText, author_email: Type.Optional(schemas.emailAddress) },
    { title: "NewNote" },
  );

  const patchBody = Type.Object(
    {
      status: Type.Optional(schemas.status),
      assigned_to: Type.Optional(schemas.emailAddress),
      tags: Type.Optional(schemas.tagList("Replaces the set; at most 50")),
      priority: Type.Optional(schemas.priority),
      internal_notes: Type.Optional(
        Type.Array(noteBody, {
          maxItems: 100,
          description: "Appended to the notes",
        }),
      ),
      snooze_hours: Type.Optional(
        Type.Number({
          exclusiveMinimum: 0,
          maximum: snoozeHoursMax,
          allowed: `a number of hours above 0, at most ${snoozeHoursMax}`,
        }),
      ),
      snooze_until: Type.Optional(Type.String({ description: "ISO 8601, in the future" })),
      snooze_until_reply: Type.Optional(Type.Literal(true)),
    },
    { title: "ConversationUpdate" },
  );

  app.patch<{ Params: { conversation_id: string }; Body: Type.Static<typeof patchBody> }>(
    "/conversations/:conversation_id",
    {
      schema: {
        tags: ["Conversations"],
        operationId: "updateConversation",
        summary: "Change status, assignee, tags or priority, and add notes: all of it or nothing",
        body: patchBody,
        response: schemas.responses({ 200: schemas.conversation }, [
          ...schemas.withBody,
          "conversation_not_found",
          "invalid_transition",
          "duplicate_request_id",
        ]),
      },
    },
    async (request, reply) => {
      const { body, params } = request;
      const caller = callerOf(request);
      if (body.status === "claimed" && body.assigned_to === undefined) {
        throw new Problem("missing_field", "assigned_to is required with status claimed.");
      }
      if (body.assigned_to !== undefined && body.status !== undefined && body.status !== "claimed") {
        throw new Problem("invalid_parameter", "assigned_to goes with status claimed, or without a status.");
      }
      const snooze = snoozeOf(body, clock.now());
      const change: ConversationChange = {
        ...(body.status === undefined ? {} : { status: body.status }),
        ...(body.assigned_to === undefined ? {} : { assignedTo: body.assigned_to.toLowerCase() }),
        ...(snooze === undefined ? {} : { snooze }),
        ...(body.tags === undefined ? {} : { tags: normalTags("tags", body.tags) }),
        ...(body.priority === undefined ? {} : { priority: body.priority }),
        ...(body.internal_notes === undefined
          ? {}
          : {
              notes: body.internal_notes.map(({ content, author_email }) => ({
                content,
                authorEmail: author_email?.toLowerCase() ?? null,
              })),
            }),
      };
      return answerOnce(idempotency, request, reply, async (workId) => {
        const once = workId === undefined ? change : { ...change, clientId: workId };
        await engine.update(caller.workspaceId, params.conversation_id, once, keyActor(caller));
        return { status: 200, body: await representation.conversation(caller, params.conversation_id) };
      });
    },
  );

  app.delete<{ Params: { conversation_id: string } }>(
    "/conversations/:conversation_id",
    {
      schema: {
        tags: ["Conversations"],
        operationId: "deleteConversation",
        summary: "Delete a conversation with its messages and notes",
        response: schemas.responses({ 204: schemas.noContent }, [...schemas.withBody, "conversation_not_found"]),
      },
    },
    async (request, reply) => {
      const caller = callerOf(request);
      await engine.remove(caller.workspaceId, request.params.conversation_id, keyActor(caller));
      return reply.code(204).send();
    },
  );

  app.post<{ Params: { conversation_id: string }; Body: Type.Static<typeof noteBody> }>(
    "/conversations/:conversation_id/notes",
    {
      schema: {
        tags: ["Conversations"],
        operationId: "addNote",
        summary: "Add an internal note, which customers never see",
        body: noteBody,
        response: schemas.responses({ 201: schemas.note }, [
          ...schemas.withBody,
          "conversation_not_found",
          "duplicate_request_id",
        ]),
      },
    },
    async (request, reply) => {
      const caller = callerOf(request);
      const { body, params } = request;
      return answerOnce(idempotency, request, reply, async (workId) => {
        const added = await engine.addNote(
          caller.workspaceId,
          params.conversation_id,
          {
            content: body.content,
            authorEmail: body.author_email?.toLowerCase() ?? null,
            ...(workId === undefined ? {} : { clientId: workId }),
          },
          keyActor(caller),
        );
        return { status: 201, body: representation.note(added) };
      });
    },
  );
}

const tagsMax = 50;
const tagCharactersMax = 64;

/** Trimmed, in lower case, without duplicates. Throws Problem for a tag that is too long, and for too many of them. */
export function normalTags(name: string, tags: readonly string[]): string[] {
  const distinct = [...new Set(tags.map((tag) => tag.trim().toLowerCase()))];
  if (distinct.some((tag) => codePoints(tag) > tagCharactersMax)) {
    throw new Problem("invalid_parameter", `${name}: a tag has 1 to ${tagCharactersMax} characters.`);
  }
  if (distinct.length > tagsMax) throw new Problem("invalid_parameter", `${name}: at most ${tagsMax} tags.`);
  return distinct;
}

function instant<N extends "since" | "until">(name: N, text: string | undefined): { readonly [K in N]?: number } {
  if (text === undefined) return {};
  const at = parseInstant(text);
  if (at === undefined) {
    throw new Problem(
      "invalid_parameter",
      `${name} must be an ISO 8601 instant or date, such as 2026-01-31T09:30:00Z.`,
    );
  }
  return { [name]: at } as { readonly [K in N]?: number };
}

interface SnoozeFields {
  readonly status?: string;
  readonly snooze_hours?: number;
  readonly snooze_until?: string;
  readonly snooze_until_reply?: true;
}

function snoozeOf(body: SnoozeFields, now: number): Snooze | undefined {
  const { snooze_hours, snooze_until, snooze_until_reply } = body;
  const given = [snooze_hours, snooze_until, snooze_until_reply].filter((each) => each !== undefined).length;
  if (given > 0 && body.status !== "snoozed") {
    throw new Problem("invalid_parameter", "snooze_hours, snooze_until and snooze_until_reply go with status snoozed.");
  }
  if (given > 1) {
    throw new Problem(
      "invalid_parameter",
      "Only one of snooze_hours, snooze_until and snooze_until_reply may be given.",
    );
  }
  if (snooze_hours !== undefined) return { kind: "until", at: now + Math.ceil(snooze_hours * hourMs) };
  if (snooze_until !== undefined) {
    const at = parseInstant(snooze_until);
    if (at === undefined || at <= now) {
      throw new Problem("invalid_parameter", "snooze_until must be an ISO 8601 instant in the future.");
    }
    return { kind: "until", at };
  }
  return body.status === "snoozed" ? { kind: "until_reply" } : undefined;
}
