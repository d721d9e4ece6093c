import { sql } from "kysely";
import type { Tx } from "#database/contract.ts";
import type { Database } from "#database/schema/tables.ts";

/** A table, and its column that names the owner of a row. */
type OwnedTable = {
  readonly [T in keyof Database]: { readonly table: T; readonly key: keyof Database[T] & string };
}[keyof Database];

interface Plan {
  /** Most owners of a transaction. Absent: one. */
  readonly batch?: number;
  /** In the order of deletion. */
  readonly tables: readonly OwnedTable[];
}

/**
 * Tables whose rows are deleted with their owner. Rows that need more than their owner's id, such as queued work and
 * events, are deleted by the use cases.
 */
export const purgePlan = {
  conversation: {
    batch: 10,
    tables: [
      { table: "messages", key: "conversation_id" },
      { table: "notes", key: "conversation_id" },
      { table: "rule_firings", key: "conversation_id" },
      { table: "skill_calls", key: "conversation_id" },
      { table: "answer_feedback", key: "conversation_id" },
      { table: "reactions", key: "conversation_id" },
      { table: "weak_answers", key: "conversation_id" },
      { table: "surveys", key: "conversation_id" },
      { table: "ratings", key: "conversation_id" },
      { table: "conversation_tags", key: "conversation_id" },
      { table: "conversation_links", key: "conversation_id" },
    ],
  },
  contact: {
    batch: 500,
    tables: [
      { table: "identities", key: "contact_id" },
      { table: "contact_merges", key: "from_contact_id" },
      { table: "contact_merges", key: "into_contact_id" },
      { table: "contacts", key: "id" },
    ],
  },
  crawl: {
    tables: [
      { table: "crawls", key: "document_id" },
      { table: "crawl_pages", key: "document_id" },
    ],
  },
  chunk: {
    batch: 500,
    tables: [
      { table: "chunk_vectors", key: "chunk_id" },
      { table: "chunks", key: "id" },
    ],
  },
  document: {
    tables: [
      { table: "document_bodies", key: "document_id" },
      { table: "documents", key: "id" },
    ],
  },
  account: {
    tables: [
      { table: "connection_leases", key: "account_id" },
      { table: "account_status", key: "account_id" },
      { table: "skipped_messages", key: "account_id" },
      { table: "account_state", key: "account_id" },
      { table: "accounts", key: "id" },
    ],
  },
  agent: {
    batch: 500,
    tables: [
      { table: "agent_tokens", key: "agent_id" },
      { table: "recovery_codes", key: "agent_id" },
      { table: "channel_installs", key: "agent_id" },
      { table: "agent_identities", key: "agent_id" },
      { table: "access_tokens", key: "agent_id" },
      { table: "team_members", key: "agent_id" },
      { table: "agents", key: "id" },
    ],
  },
  auditEntry: { batch: 500, tables: [{ table: "audit", key: "id" }] },
  /** Includes what is left when everything else is gone, such as identities of contacts that were deleted before. */
  workspace: {
    tables: [
      { table: "teams", key: "workspace_id" },
      { table: "report_changes", key: "workspace_id" },
      { table: "report_counts", key: "workspace_id" },
      { table: "question_groups", key: "workspace_id" },
      { table: "rule_turns", key: "workspace_id" },
      { table: "vector_models", key: "workspace_id" },
      { table: "identities", key: "workspace_id" },
      { table: "contact_merges", key: "workspace_id" },
      { table: "sign_in_settings", key: "workspace_id" },
    ],
  },
} as const satisfies Readonly<Record<string, Plan>>;

/** Deletes the rows of the owners from all tables of the plan. */
export async function deleteOwned(tx: Tx, owner: keyof typeof purgePlan, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  for (const { table, key } of purgePlan[owner].tables) {
    await sql`delete from ${sql.table(table)} where ${sql.ref(key)} in (${sql.join(ids)})`.execute(tx);
  }
}
