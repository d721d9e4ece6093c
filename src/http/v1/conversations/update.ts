import { Type } from "typebox";
import type { Static } from "typebox";
import { parseInstant } from "#domain/instant.ts";
import { Problem } from "#domain/problem.ts";
import type { ConversationChange, Snooze } from "#conversations/agents/requests.ts";
import { keyActor } from "#http/v1/access/auth.ts";
import type { App } from "#http/app-type.ts";
import { answerOnce } from "#http/v1/access/once.ts";
import type { Resources } from "#http/v1/resources.ts";
import { callerOf } from "#http/v1/resources.ts";
import * as schemas from "#http/v1/schemas.ts";
import { normalTags } from "#http/v1/tags.ts";
import { noteBody } from "./notes.ts";

const hourMs = 3_600_000;
const snoozeHoursMax = 24 * 366;

const updateBody = Type.Object(
  {
    status: Type.Optional(schemas.status),
    assigned_to: Type.Optional(schemas.emailAddress),
    tags: Type.Optional(schemas.tagList("Replaces the set; at most 50")),
    priority: Type.Optional(schemas.priority),
    internal_notes: Type.Optional(Type.Array(noteBody, { maxItems: 100, description: "Appended to the notes" })),
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

type UpdateBody = Static<typeof updateBody>;

const updateSchema = {
  tags: ["Conversations"],
  operationId: "updateConversation",
  summary: "Change status, assignee, tags or priority, and add notes: all of it or nothing",
  body: updateBody,
  response: schemas.responses({ 200: schemas.conversation }, [
    ...schemas.withBody,
    "conversation_not_found",
    "invalid_transition",
    "duplicate_request_id",
  ]),
};

export function updateRoute(app: App, { engine, representation, idempotency, clock }: Resources): void {
  app.patch<{ Params: { conversation_id: string }; Body: UpdateBody }>(
    "/conversations/:conversation_id",
    { schema: updateSchema },
    async (request, reply) => {
      const caller = callerOf(request);
      const id = request.params.conversation_id;
      const change = changeOf(request.body, clock.now());
      return answerOnce(idempotency, request, reply, async (workId) => {
        const once = workId === undefined ? change : { ...change, clientId: workId };
        await engine.update(caller.workspaceId, id, once, keyActor(caller));
        return { status: 200, body: await representation.conversation(caller, id) };
      });
    },
  );
}

function changeOf(body: UpdateBody, now: number): ConversationChange {
  const { status, assigned_to: assignedTo, tags, priority, internal_notes: notes } = body;
  if (status === "claimed" && assignedTo === undefined) {
    throw new Problem("missing_field", "assigned_to is required with status claimed.");
  }
  if (assignedTo !== undefined && status !== undefined && status !== "claimed") {
    throw new Problem("invalid_parameter", "assigned_to goes with status claimed, or without a status.");
  }
  const snooze = snoozeOf(body, now);
  return {
    ...(status === undefined ? {} : { status }),
    ...(assignedTo === undefined ? {} : { assignedTo: assignedTo.toLowerCase() }),
    ...(snooze === undefined ? {} : { snooze }),
    ...(tags === undefined ? {} : { tags: normalTags("tags", tags) }),
    ...(priority === undefined ? {} : { priority }),
    ...(notes === undefined
      ? {}
      : {
          notes: notes.map(({ content, author_email: author }) => ({
            content,
            authorEmail: author?.toLowerCase() ?? null,
          })),
        }),
  };
}

function snoozeOf(body: UpdateBody, now: number): Snooze | undefined {
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
