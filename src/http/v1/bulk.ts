import { Type } from "typebox";
import { Problem } from "#domain/problem.ts";
import type { ConversationChange } from "#conversations/agents/requests.ts";
import { keyActor } from "#http/middleware/auth.ts";
import { problemOf } from "#http/problem.ts";
import { isDatabaseFault } from "#database/faults.ts";
import type { App } from "#http/app-type.ts";
import { normalTags } from "./conversations.ts";
import { answerOnce } from "./once.ts";
import type { Resources } from "./resources.ts";
import { callerOf } from "./resources.ts";
import * as schemas from "./schemas.ts";

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

/** One change to many conversations; each of them succeeds or fails for itself. */
export function bulkRoutes(app: App, { engine, store, idempotency }: Resources): void {
  app.post(
    "/conversations/bulk",
    {
      schema: {
        tags: ["Conversations"],
        operationId: "bulkUpdateConversations",
        summary: "Claim, resolve, archive or tag up to 100 conversations",
        body: bulkBody,
        response: schemas.responses(
          {
            200: Type.Object(
              {
                results: Type.Array(
                  Type.Object(
                    {
                      conversation_id: Type.String(),
                      ok: Type.Boolean(),
                      status: Type.Optional(schemas.status),
                      error: Type.Optional(Type.Object({ code: Type.String(), detail: Type.String() })),
                    },
                    { title: "BulkResult" },
                  ),
                ),
              },
              { title: "BulkResultList" },
            ),
          },
          [...schemas.withBody, "duplicate_request_id"],
        ),
      },
    },
    async (request, reply) => {
      const { body } = request;
      const caller = callerOf(request);
      const change = changeOf(body);
      const actor = keyActor(caller);
      const ids = [...new Set(body.conversation_ids)];

      return answerOnce(idempotency, request, reply, async () => {
        // All at once: works that wait together share a transaction.
        const outcomes = await Promise.allSettled(
          ids.map((id) => engine.update(caller.workspaceId, id, change, actor)),
        );
        // To be tried again as a whole: what is changed already stays as it is.
        const fault = outcomes.find((each) => each.status === "rejected" && isDatabaseFault(each.reason));
        if (fault?.status === "rejected") throw fault.reason;
        const after = await store.read
          .selectFrom("conversations")
          .select(["id", "status"])
          .where("id", "in", ids)
          .where("workspace_id", "=", caller.workspaceId)
          .execute();
        const statusOf = new Map(after.map(({ id, status }) => [id, status]));
        const results = ids.map((id, i) => {
          const outcome = outcomes[i];
          if (outcome?.status !== "rejected") return { conversation_id: id, ok: true, status: statusOf.get(id) };
          const problem = problemOf(outcome.reason);
          if (problem.status >= 500) {
            request.log.error(
              { err: outcome.reason as unknown, requestId: request.id, conversationId: id },
              "http: bulk change failed",
            );
          }
          return {
            conversation_id: id,
            ok: false,
            ...(statusOf.has(id) ? { status: statusOf.get(id) } : {}),
            error: { code: problem.code, detail: problem.message },
          };
        });
        return { status: 200, body: { results } };
      });
    },
  );
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
