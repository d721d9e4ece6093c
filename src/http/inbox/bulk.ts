import { Type } from "typebox";
import type { FastifyBaseLogger } from "fastify";
import { statuses } from "#domain/conversation/status.ts";
import { Problem } from "#domain/problem.ts";
import type { Action } from "#conversations/agents/actions.ts";
import { conflictText } from "#conversations/agents/actions.ts";
import type { Engine } from "#conversations/contract.ts";
import { problemOf } from "#http/problem.ts";
import { normalTags } from "#http/v1/conversations.ts";
import { emailAddress } from "#http/v1/schemas.ts";
import type { SignedIn } from "./session.ts";
import type { BulkResult } from "./wire.ts";
import { bulkMax } from "./wire.ts";

/** `seen`: how each of them was listed when it was decided; the first change wins. */
export const bulkBody = Type.Object({
  action: Type.Enum(["assign", "resolve", "archive", "tag"]),
  items: Type.Array(
    Type.Object({
      id: Type.String({ pattern: "^conv_[0-9a-z]{26}$", allowed: "a conversation's id" }),
      status: Type.Enum(statuses),
      assignedTo: Type.Optional(Type.Union([Type.String({ maxLength: 320 }), Type.Null()])),
    }),
    { minItems: 1, maxItems: bulkMax },
  ),
  to: Type.Optional(emailAddress),
  tag: Type.Optional(Type.String({ maxLength: 200 })),
});

type BulkBody = Type.Static<typeof bulkBody>;

/** The same for several conversations: each of them is done, or told why not. */
export async function bulk(
  engine: Pick<Engine, "applyAction">,
  agent: SignedIn,
  body: BulkBody,
  { log, requestId }: { readonly log: FastifyBaseLogger; readonly requestId: string },
): Promise<readonly BulkResult[]> {
  const action = actionOf(body);
  const items = [...new Map(body.items.map((item) => [item.id, item])).values()];
  // All at once: works that wait together share a transaction.
  const outcomes = await Promise.allSettled(
    items.map(({ id, status, assignedTo = null }) =>
      engine.applyAction(agent.workspace_id, id, action, agent, { status, assignedTo }),
    ),
  );
  return items.map(({ id }, i): BulkResult => {
    const outcome = outcomes[i];
    if (outcome?.status === "fulfilled") {
      return { id, refused: outcome.value.kind === "lost" ? conflictText(outcome.value, agent) : null };
    }
    const problem = problemOf(outcome?.reason);
    if (problem.status >= 500) {
      log.error({ err: outcome?.reason as unknown, requestId, conversationId: id }, "inbox: bulk change failed");
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
