import { Type } from "typebox";
import type { WorkspaceSettings } from "#domain/workspace/settings.ts";
import type { NewWork } from "#database/queries/outbox.ts";
import { workKind } from "#database/work.ts";
import type { ConversationRow } from "#database/queries/conversations.ts";
import { surveyLane } from "#queue/lanes.ts";

/** A message about the conversation's survey. */
export const surveyKind = workKind(
  "survey",
  Type.Object({
    conversationId: Type.String(),
    /** Thanks for a rating that the customer typed. Absent: asks for the rating. */
    thanks: Type.Optional(Type.Literal(true)),
  }),
);

/** Leaves an agent the time to undo a resolve. */
export const surveyWaitMs = 60_000;

/** The work that asks for a rating after this change of a conversation. It checks again whether a survey is due. */
export function surveyWork(
  before: Pick<ConversationRow, "status">,
  { id, status, channel }: Pick<ConversationRow, "id" | "status" | "channel">,
  { satisfactionSurvey }: Pick<WorkspaceSettings, "satisfactionSurvey">,
  now: number,
): readonly NewWork[] {
  const isResolve = status === "resolved" && before.status !== "resolved" && before.status !== "archived";
  // API clients talk to their customers themselves.
  if (!satisfactionSurvey || !isResolve || channel === "api") return [];
  return [surveyKind.queued(surveyLane(id), { conversationId: id }, now + surveyWaitMs)];
}

export const thanksWork = (conversationId: string, now: number): NewWork =>
  surveyKind.queued(surveyLane(conversationId), { conversationId, thanks: true }, now);
