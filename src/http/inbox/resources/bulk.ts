import { Type } from "typebox";
import type { FastifyBaseLogger } from "fastify";
import { Problem } from "#domain/problem.ts";
import type { Action } from "#conversations/agents/actions.ts";
import { conflictText } from "#conversations/agents/ownership.ts";
import type { Engine } from "#conversations/contract.ts";
import { problemOf } from "#http/problem.ts";
import { normalTags } from "#http/v1/tags.ts";
import { emailAddress } from "#http/v1/schemas.ts";
import type { SignedIn } from "#http/sign-in/session.ts";
import type { BulkResult } from "#http/inbox/wire.ts";
import { bulkMax } from "#http/inbox/wire.ts";
import { conversationId, seenState } from "./schemas.ts";

/** Each item has the state that the agent saw in the list. If it has changed since, that item is refused. */
export const bulkBody = Type.Object({
  action: Type.Enum(["assign", "resolve", "archive", "tag"]),
  items: Type.Array(Type.Object({ id: conversationId, ...seenState }), { minItems: 1, maxItems: bulkMax }),
  to: Type.Optional(emailAddress),
  tag: Type.Optional(Type.String({ maxLength: 200 })),
});

type BulkBody = Type.Static<typeof bulkBody>;

/** Applies one action to several conversations. A refused one does not stop the others. */
export async function bulk(
  engine: Pick<Engine, "applyAction">,
  agent: SignedIn,
  body: BulkBody,
  { log, requestId }: { readonly log: FastifyBaseLogger; readonly requestId: string },
): Promise<readonly BulkResult[]> {
  const action = actionOf(body);
  const items = [...new Map(body.items.map((item) => [item.id, item])).values()];
  // Started together, so that they share a transaction.
  const results = await Promise.allSettled(
    items.map(({ id, status, assignedTo = null }) =>
      engine.applyAction(agent.workspace_id, id, action, agent, { status, assignedTo }),
    ),
  );
  return items.map(({ id }, i): BulkResult => {
    const result = results[i];
    if (result?.status === "fulfilled") {
      return { id, refused: result.value.kind === "conflict" ? conflictText(result.value, agent.email) : null };
    }
    const problem = problemOf(result?.reason);
    if (problem.status >= 500) {
      log.error({ err: result?.reason as unknown, requestId, conversationId: id }, "inbox: bulk change failed");
    }
    return { id, refused: problem.message };
  });
}

function actionOf({ action, to, tag }: BulkBody): Action {
  switch (action) {
    case "resolve":
    case "archive":
      return { kind: action };
    case "assign":
      if (to === undefined) throw new Problem("missing_field", "to is required to assign.");
      return { kind: "assign", to: to.toLowerCase() };
    case "tag": {
      const addTags = normalTags(
        "tag",
        [tag ?? ""].filter((each) => each.trim() !== ""),
      );
      if (addTags.length === 0) throw new Problem("missing_field", "tag is required to tag.");
      return { kind: "describe", addTags };
    }
  }
}
