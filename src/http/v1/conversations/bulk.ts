import type { FastifyRequest } from "fastify";
import { Type } from "typebox";
import { Problem } from "#domain/problem.ts";
import type { ConversationChange } from "#conversations/agents/requests.ts";
import { keyActor } from "#http/v1/access/auth.ts";
import { problemOf } from "#http/problem.ts";
import { isDatabaseFault } from "#database/faults.ts";
import type { App } from "#http/app-type.ts";
import { normalTags } from "#http/v1/tags.ts";
import { answerOnce } from "#http/v1/access/once.ts";
import type { Resources } from "#http/v1/resources.ts";
import { callerOf } from "#http/v1/resources.ts";
import * as schemas from "#http/v1/schemas.ts";

const bulkBody = Type.Object(
  {
    action: Type.Enum(["claim", "resolve", "archive", "tag"]),
    conversation_ids: Type.Array(Type.String({ maxLength: 100 }), { minItems: 1, maxItems: 100 }),
    assigned_to: Type.Optional(schemas.emailAddress),
    tags: Type.Optional(schemas.tagList("To add; at most 50")),
  },
  { title: "BulkUpdate" },
);

type BulkBody = Type.Static<typeof bulkBody>;

const result = Type.Object(
  {
    conversation_id: Type.String(),
    ok: Type.Boolean(),
    status: Type.Optional(schemas.status),
    error: Type.Optional(Type.Object({ code: Type.String(), detail: Type.String() })),
  },
  { title: "BulkResult" },
);

const bulkSchema = {
  tags: ["Conversations"],
  operationId: "bulkUpdateConversations",
  summary: "Claim, resolve, archive or tag up to 100 conversations",
  body: bulkBody,
  response: schemas.responses({ 200: Type.Object({ results: Type.Array(result) }, { title: "BulkResultList" }) }, [
    ...schemas.withBody,
    "duplicate_request_id",
  ]),
};

/** Applies one change to many conversations. A failed one does not stop the others. */
export function bulkRoutes(app: App, { engine, store, idempotency }: Resources): void {
  app.post("/conversations/bulk", { schema: bulkSchema }, async (request, reply) => {
    const { workspaceId } = callerOf(request);
    const actor = keyActor(callerOf(request));
    const change = changeOf(request.body);
    const ids = [...new Set(request.body.conversation_ids)];
    return answerOnce(idempotency, request, reply, async () => {
      // Started together, so that they share a transaction.
      const updates = await Promise.allSettled(ids.map((id) => engine.update(workspaceId, id, change, actor)));
      // The client retries the whole request. Conversations that were changed already stay as they are.
      const fault = updates.find((each) => each.status === "rejected" && isDatabaseFault(each.reason));
      if (fault?.status === "rejected") throw fault.reason;
      const rows = await store.read
        .selectFrom("conversations")
        .select(["id", "status"])
        .where("id", "in", ids)
        .where("workspace_id", "=", workspaceId)
        .execute();
      const statusOf = new Map(rows.map(({ id, status }) => [id, status]));
      const results = ids.map((id, i) => {
        const update = updates[i];
        const status = statusOf.get(id);
        if (update?.status !== "rejected") return { conversation_id: id, ok: true, status };
        const error = errorOf(update.reason, request, id);
        return { conversation_id: id, ok: false, ...(status === undefined ? {} : { status }), error };
      });
      return { status: 200, body: { results } };
    });
  });
}

function errorOf(reason: unknown, { id: requestId, log }: FastifyRequest, conversationId: string) {
  const { status, code, message: detail } = problemOf(reason);
  if (status >= 500) log.error({ err: reason, requestId, conversationId }, "http: bulk change failed");
  return { code, detail };
}

function changeOf({ action, assigned_to, tags }: BulkBody): ConversationChange {
  switch (action) {
    case "claim":
      if (assigned_to === undefined) throw new Problem("missing_field", "assigned_to is required to claim.");
      return { status: "claimed", assignedTo: assigned_to.toLowerCase() };
    case "resolve":
      return { status: "resolved" };
    case "archive":
      return { status: "archived" };
    case "tag":
      if (tags === undefined) throw new Problem("missing_field", "tags is required to tag.");
      if (tags.length === 0) throw new Problem("invalid_parameter", "tags must hold at least one tag.");
      return { addTags: normalTags("tags", tags) };
  }
}
