import type { Reader, Tx } from "#database/contract.ts";
import { documentOf } from "./words.ts";
import { prepareStatement } from "#database/dialects/prepared.ts";

// Only the newest messages within both limits can be searched.
const charactersMax = 200_000;
const messagesMax = 1_000;

/** The searchable text of a conversation. */
export async function searchText(tx: Reader | Tx, workspaceId: string, conversationId: string): Promise<string> {
  const { rows: newestFirst } = await contentsOf(tx, { conversationId });
  const kept: string[] = [];
  let left = charactersMax;
  for (const { content } of newestFirst) {
    if (left <= 0) break;
    kept.push(content.slice(0, left));
    left -= content.length;
  }
  return documentOf(workspaceId, kept.toReversed());
}

const contentsOf = prepareStatement((db, { conversationId }: { readonly conversationId: string }) =>
  db
    .selectFrom("messages")
    .select("content")
    .where("conversation_id", "=", conversationId)
    .where("deleted_at", "is", null)
    .orderBy("seq", "desc")
    .limit(messagesMax),
);
