import { newId } from "#domain/ids.ts";
import type { Status } from "#domain/conversation/status.ts";
import type { Channel } from "#domain/conversation/message.ts";
import type { SlaState } from "#domain/conversation/sla.ts";
import type { Store } from "#database/contract.ts";
import type { ConversationRow } from "#database/queries/conversations.ts";
import type { ConversationTagsTable, MessagesTable } from "#database/schema/tables.ts";

export interface ConversationSeed {
  readonly id?: string;
  readonly workspaceId: string;
  readonly startedAt: number;
  readonly channel?: Channel;
  readonly status?: Status;
  readonly slaState?: SlaState;
  readonly tags?: readonly string[];
  readonly email?: string;
  /** The customer's messages, oldest first. */
  readonly messages?: readonly string[];
}

export interface SeedRows {
  readonly conversation: ConversationRow;
  readonly tags: readonly ConversationTagsTable[];
  readonly messages: readonly MessagesTable[];
}

/** Returns the rows that the engine would store for a conversation. */
export function rowsOf(seed: ConversationSeed): SeedRows {
  const {
    workspaceId,
    startedAt,
    channel = "widget",
    status = "open",
    slaState = "in_compliance",
    messages = [],
  } = seed;
  const id = seed.id ?? newId("conv", startedAt);
  return {
    conversation: {
      id,
      workspace_id: workspaceId,
      account_id: "acc_test",
      channel,
      context_key: id,
      contact_id: "con_test",
      status,
      snoozed_from: null,
      snoozed_until: null,
      priority: "normal",
      assigned_to: null,
      started_at: startedAt,
      last_message_at: startedAt,
      resolved_at: null,
      message_count: messages.length,
      last_seq: messages.length,
      last_customer_seq: messages.length,
      settled_seq: 0,
      low_streak: 0,
      sla_state: slaState,
      sla_elapsed_ms: 0,
      sla_running_since: null,
      sla_notices: null,
      timer_at: null,
      customer_name: null,
      customer_email: seed.email ?? null,
      customer_email_key: seed.email?.toLowerCase() ?? null,
      customer_phone: null,
      customer_verified: 0,
      previous_conversation_id: null,
      event_seq: 0,
      own_contact_id: null,
      status_at: startedAt,
      rules_until: startedAt,
      activity: 1,
      unreachable: null,
      via_account_id: null,
      customer_wrote_at: messages.length === 0 ? null : startedAt,
      platform_order: null,
      opened_at: startedAt,
      awaited_since: null,
      replied: 0,
      bot_replied: 0,
      people_involved: 0,
      resolution: null,
      version: 1,
    },
    tags: (seed.tags ?? []).map((tag) => ({
      workspace_id: workspaceId,
      tag,
      conversation_id: id,
      started_at: startedAt,
      channel,
      status,
      sla_state: slaState,
    })),
    messages: messages.map((content, number) => messageRow(id, number + 1, content, startedAt)),
  };
}

export function messageRow(conversationId: string, seq: number, content: string, createdAt: number): MessagesTable {
  return {
    id: newId("msg", createdAt),
    conversation_id: conversationId,
    seq,
    role: "user",
    content,
    author_id: null,
    author_name: null,
    external_id: null,
    answers_seq: null,
    confidence: null,
    sources: null,
    skills: null,
    tokens_used: null,
    metadata: null,
    refers_to: null,
    forwarded: null,
    audience: null,
    files: null,
    created_at: createdAt,
    edited_at: null,
    deleted_at: null,
    reacted_at: null,
    kind: null,
  };
}

/** Writes conversations in bulk and returns their ids in the order of the seeds. */
export async function seedConversations(
  store: Pick<Store, "write">,
  seeds: readonly ConversationSeed[],
): Promise<string[]> {
  const ids: string[] = [];
  for (let at = 0; at < seeds.length; at += 200) {
    const rows = seeds.slice(at, at + 200).map(rowsOf);
    ids.push(...rows.map(({ conversation }) => conversation.id));
    const tags = rows.flatMap((row) => row.tags);
    const messages = rows.flatMap((row) => row.messages);
    await store.write(async (tx) => {
      await tx
        .insertInto("conversations")
        .values(rows.map(({ conversation }) => conversation))
        .execute();
      if (tags.length > 0) await tx.insertInto("conversation_tags").values(tags).execute();
      for (let from = 0; from < messages.length; from += 500) {
        await tx
          .insertInto("messages")
          .values(messages.slice(from, from + 500))
          .execute();
      }
    });
  }
  return ids;
}
