import { Type } from "typebox";
import { workKind } from "#database/work.ts";
import type { NewWork } from "#database/queries/outbox.ts";

/** The grouping of a workspace's new weak answers. */
export const groupKind = workKind("questions", Type.Object({ workspaceId: Type.String() }));

export const groupWork = (workspaceId: string, now: number): NewWork =>
  groupKind.queued(`questions:${workspaceId}`, { workspaceId }, now);
