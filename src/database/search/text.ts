import type { Reader, Tx } from "#database/contract.ts";
import { documentOf } from "./words.ts";
import { prepareWork } from "#database/dialects/prepared.ts";

// Of a very long thread the newest messages can be searched: as many as fit both limits.
const charactersMax = 200_000;
const messagesMax = 1_000;

/** The text that a conversation is found by. */
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

const contentsOf = prepareWork((db, { conversationId }: { readonly conversationId: string }) =>
  db
    .selectFrom("messages")
    .select("content")
    .where("conversation_id", "=", conversationId)
    .where("deleted_at", "is", null)
    .orderBy("seq", "desc")
    .limit(messagesMax),
);
