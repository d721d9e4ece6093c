import type { ConversationRow } from "#database/queries/conversations.ts";
import { finishWork } from "#database/queries/outbox.ts";
import type { Workspace, Workspaces } from "#database/queries/workspaces.ts";
import type { Store } from "#database/contract.ts";
import type { Work } from "#database/work.ts";
import { readConversation } from "#database/queries/conversations.ts";

export interface WorkSubjectDependencies {
  readonly store: Store;
  readonly workspaces: Workspaces;
}

/** Returns undefined, and deletes the work, if the conversation or its workspace no longer exists. */
export async function subjectOfWork(
  { store, workspaces }: WorkSubjectDependencies,
  rows: readonly Work<{ readonly conversationId: string }>[],
): Promise<{ readonly conversation: ConversationRow; readonly workspace: Workspace } | undefined> {
  const [first] = rows;
  if (first === undefined) return undefined;
  // All rows of a batch belong to one conversation.
  const conversation = await readConversation(store, first.payload.conversationId);
  const workspace = conversation === undefined ? undefined : await workspaces.get(conversation.workspace_id);
  if (conversation !== undefined && workspace !== undefined) return { conversation, workspace };
  await store.write((tx) => finishWork(tx, rows));
  return undefined;
}
