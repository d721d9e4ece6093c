import type { DeskNotice, DeskPerson } from "#channels/desk/contract.ts";
import type { Effects } from "#conversations/work/effects.ts";
import type { Channels, FollowUp } from "#channels/channels.ts";
import type { ConversationSearch } from "#database/search/contract.ts";
import type { Files } from "#files/contract.ts";
import type { Workspace } from "#database/queries/workspaces.ts";
import type { PrefetchedFiles } from "./agent-files.ts";
import type { PendingEdit } from "./pending-edits.ts";

export type Agent = Extract<DeskPerson, { kind: "agent" }>;

/** Result of an event at the desk. */
export interface DeskEventResult {
  readonly effects: Effects | null;
  /** Notice to the agent who caused the event. Null if the result is visible. */
  readonly notice: DeskNotice | null;
}

/** Dependencies of an event's transaction. */
export interface EventContext {
  readonly channels: Channels;
  readonly search: ConversationSearch;
  readonly files: Pick<Files, "link" | "messageBytesMax">;
  readonly workspace: Workspace;
  readonly accountId: string;
  readonly agent: Agent;
  readonly followUp: FollowUp | undefined;
  /** Files of the text. */
  readonly prefetched: PrefetchedFiles;
  /** Edits and deletions of the text that have arrived already. */
  readonly pendingEdits: readonly PendingEdit[];
  readonly now: number;
}

export function joined(all: readonly (Effects | null)[]): Effects {
  const some = all.filter((effects) => effects !== null);
  return {
    wake: some.flatMap(({ wake }) => wake),
    threads: some.flatMap(({ threads }) => threads),
    workspaces: some.flatMap(({ workspaces }) => workspaces),
  };
}
