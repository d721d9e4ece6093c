import type { Log } from "#runtime/log.ts";
import type { Reader } from "#database/contract.ts";
import { searchText } from "#database/search/text.ts";
import type { Typesense } from "./client.ts";
import { importDocuments } from "./collections.ts";
import type { ConversationDocument } from "./documents.ts";
import { documentFor, markDocument } from "./documents.ts";

interface ConversationDocuments {
  readonly documents: readonly ConversationDocument[];
  /** Ids of conversations that were removed. */
  readonly removed: readonly string[];
}

/** The documents of these conversations, by the database's present state. */
export async function conversationDocuments(
  read: Reader,
  workspaceId: string,
  ids: readonly string[],
): Promise<ConversationDocuments> {
  if (ids.length === 0) return { documents: [], removed: [] };
  const rows = await read
    .selectFrom("conversations")
    .select(["id", "started_at", "channel", "status", "sla_state", "customer_email_key"])
    .where("id", "in", ids)
    .where("workspace_id", "=", workspaceId)
    .execute();
  const tags = await read
    .selectFrom("conversation_tags")
    .select(["conversation_id", "tag"])
    .where("conversation_id", "in", ids)
    .execute();
  const tagsOf = Map.groupBy(tags, (row) => row.conversation_id);
  const documents: ConversationDocument[] = [];
  for (const row of rows) {
    documents.push(
      documentFor({
        id: row.id,
        startedAt: row.started_at,
        channel: row.channel,
        status: row.status,
        slaState: row.sla_state,
        emailKey: row.customer_email_key,
        tags: (tagsOf.get(row.id) ?? []).map(({ tag }) => tag),
        text: await searchText(read, workspaceId, row.id),
      }),
    );
  }
  const existing = new Set(rows.map(({ id }) => id));
  return { documents, removed: ids.filter((id) => !existing.has(id)) };
}

/** `written`: the number of the last write that these documents include. */
export async function importConversations(
  typesense: Typesense,
  collection: string,
  documents: readonly ConversationDocument[],
  written: number,
  log: Log,
): Promise<void> {
  await importDocuments(typesense, collection, [...documents, markDocument(written)], (_document, refused) =>
    log.error(refused, "typesense: conversation refused, q misses it"),
  );
}
