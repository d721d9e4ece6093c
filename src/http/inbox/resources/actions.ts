import { Type } from "typebox";
import type { Static } from "typebox";
import { priorities } from "#domain/conversation/sla.ts";
import { Problem } from "#domain/problem.ts";
import type { Action } from "#conversations/agents/actions.ts";
import type { Snooze } from "#conversations/agents/requests.ts";
import type { Engine } from "#conversations/contract.ts";
import type { App } from "#http/app-type.ts";
import { normalTags } from "#http/v1/tags.ts";
import { emailAddress } from "#http/v1/schemas.ts";
import type { AgentRequests } from "./agent-requests.ts";
import { agentOf } from "./agent-requests.ts";
import { bulk, bulkBody } from "./bulk.ts";
import { instantMs, oneConversation, seenState } from "./schemas.ts";

const seenBody = Type.Object(seenState);
const claimBody = Type.Object({ takeOver: Type.Optional(Type.Boolean()) });
const actionBody = Type.Object({ seen: Type.Optional(seenBody) });
/** `to` null or absent: releases the conversation. */
const assignBody = Type.Object({ to: Type.Optional(Type.Union([emailAddress, Type.Null()])), seen: seenBody });
/** `until` absent: until the customer replies. */
const snoozeBody = Type.Object({ seen: Type.Optional(seenBody), until: Type.Optional(instantMs) });
/** `snoozedUntil`: the end of the snooze that the resolution ended; absent: until the customer replies. */
const undoBody = Type.Object({ snoozedUntil: Type.Optional(instantMs) });
const tagList = Type.Optional(Type.Array(Type.String({ maxLength: 200 }), { maxItems: 1_000 }));
const changeBody = Type.Object({
  tags: tagList,
  /** Unlike `tags`, keeps the tags that a colleague adds at the same time. */
  addTags: tagList,
  removeTags: tagList,
  priority: Type.Optional(Type.Enum(priorities)),
});

/** Changes of a conversation's owner, status, tags and priority; each answers with the conversation as it is then. */
export function actionRoutes(api: App, engine: Pick<Engine, "applyAction">, { applyAction }: AgentRequests): void {
  const withBody = <B>(body: B) => ({ schema: { ...oneConversation.schema, body } });

  api.post("/conversations/:id/claim", withBody(claimBody), async (request) =>
    applyAction(request, request.params.id, { kind: request.body.takeOver === true ? "take_over" : "claim" }),
  );

  for (const kind of ["release", "resolve", "archive", "reopen"] as const) {
    api.post(`/conversations/:id/${kind}`, withBody(actionBody), async (request) =>
      applyAction(request, request.params.id, { kind }, expectedIn(request.body.seen)),
    );
  }

  api.post("/conversations/:id/assign", withBody(assignBody), async (request) => {
    const { to = null, seen } = request.body;
    if (to === null && seen.status !== "claimed") {
      throw new Problem("invalid_transition", "Only a claimed conversation can be given back to the assistant.");
    }
    const action: Action = to === null ? { kind: "release" } : { kind: "assign", to: to.toLowerCase() };
    return applyAction(request, request.params.id, action, expectedIn(seen));
  });

  api.post("/conversations/:id/snooze", withBody(snoozeBody), async (request) => {
    const { until, seen } = request.body;
    return applyAction(request, request.params.id, { kind: "snooze", snooze: snoozeUntil(until) }, expectedIn(seen));
  });

  api.post("/conversations/:id/undo-resolve", withBody(undoBody), async (request) =>
    applyAction(request, request.params.id, { kind: "undo_resolve", snooze: snoozeUntil(request.body.snoozedUntil) }),
  );

  api.patch("/conversations/:id", withBody(changeBody), async (request) => {
    const { priority, tags, addTags, removeTags } = request.body;
    return applyAction(request, request.params.id, {
      kind: "describe",
      ...tagsIn("tags", tags),
      ...tagsIn("addTags", addTags),
      ...tagsIn("removeTags", removeTags),
      ...(priority === undefined ? {} : { priority }),
    });
  });

  api.post("/bulk", { schema: { hide: true, body: bulkBody } }, async (request) =>
    bulk(engine, agentOf(request), request.body, { log: request.log, requestId: request.id }),
  );
}

const expectedIn = (seen: Static<typeof seenBody> | undefined) =>
  seen && { status: seen.status, assignedTo: seen.assignedTo ?? null };

const snoozeUntil = (at: number | undefined): Snooze =>
  at === undefined ? { kind: "until_reply" } : { kind: "until", at };

function tagsIn(name: "tags" | "addTags" | "removeTags", tags: readonly string[] | undefined) {
  if (tags === undefined) return {};
  const filled = tags.filter((tag) => tag.trim() !== "");
  return { [name]: normalTags(name, filled) };
}
