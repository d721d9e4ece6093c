import type { DeskNotice, DeskPerson } from "#channels/desk/contract.ts";
import type { Effects } from "#conversations/transaction/effects.ts";
import type { Channels, FollowUp } from "#channels/channels.ts";
import type { ConversationSearch } from "#database/search/contract.ts";
import type { Files } from "#files/contract.ts";
import type { Workspace } from "#database/queries/workspaces.ts";
import type { PrefetchedFiles } from "./agent-files.ts";
import type { PendingEdit } from "./pending-edits.ts";

export type Agent = Extract<DeskPerson, { kind: "agent" }>;

/** What came of something that was done at the desk. */
export interface DeskEventResult {
  readonly effects: Effects | null;
  /** What its doer is told; null: they see it. */
  readonly notice: DeskNotice | null;
}

/** What a transaction of an event works with. */
export interface EventContext {
  readonly channels: Channels;
  readonly search: ConversationSearch;
  readonly files: Pick<Files, "link" | "messageBytesMax">;
  readonly workspace: Workspace;
  readonly accountId: string;
  readonly agent: Agent;
  readonly followUp: FollowUp | undefined;
  /** What came with the text. */
  readonly prefetched: PrefetchedFiles;
  /** Edits and removals of the text that are known already. */
  readonly pendingEdits: readonly PendingEdit[];
  readonly now: number;
}
