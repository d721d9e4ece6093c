import { Type } from "typebox";
import { channelLabel } from "#channels/catalog.ts";
import type { Channels } from "#channels/channels.ts";
import type { Effects } from "#conversations/work/effects.ts";
import { createUnitOfWork } from "#conversations/transaction/unit-of-work.ts";
import type { Tx } from "#database/contract.ts";
import type { ConversationRow } from "#database/queries/conversations.ts";
import type { Workspace } from "#database/queries/workspaces.ts";
import type { ConversationSearch } from "#database/search/contract.ts";
import type { PayloadOf } from "#database/work.ts";
import { workKind } from "#database/work.ts";
import { Problem } from "#domain/problem.ts";
import { reactionLane } from "#queue/lanes.ts";

const sign = Type.Union([Type.String(), Type.Null()]);

/** The company's reaction to a customer's message, as the platform has to show it. */
export const reactionKind = workKind(
  "react",
  Type.Object({
    conversationId: Type.String(),
    messageId: Type.String(),
    /** Null: it is taken back. */
    emoji: sign,
    /** The reaction before it; null: none. */
    replaces: sign,
  }),
  // It would replace a later reaction.
  { canRetry: () => false },
);
export type AgentReaction = PayloadOf<typeof reactionKind>;

/**
 * Stores an agent's reaction in place of the one before, since the company is one party on the platform, and queues the
 * platform call. `refusal` is a text for the agent.
 */
export async function requestReaction(
  tx: Tx,
  { channels, search }: { readonly channels: Channels; readonly search: ConversationSearch },
  { settings }: Pick<Workspace, "settings">,
  row: ConversationRow,
  { messageId, emoji }: Pick<AgentReaction, "messageId" | "emoji">,
  agent: { readonly email: string; readonly name: string },
  now: number,
): Promise<{ readonly refusal: string | null; readonly effects: Effects | null }> {
  const message = await tx
    .selectFrom("messages")
    .select(["role", "external_id", "deleted_at"])
    .where("id", "=", messageId)
    .where("conversation_id", "=", row.id)
    .executeTakeFirst();
  if (message === undefined) throw new Problem("not_found", "This message does not exist any more.");
  const refused = (refusal: string) => ({ refusal, effects: null });
  if (message.role !== "user" || message.external_id === null) {
    return refused("Only messages of customers get reactions here.");
  }
  if (message.deleted_at !== null) return refused("The customer has deleted this message.");
  if (row.channel === "api" || channels.adapter({ id: row.account_id }).react === undefined) {
    return refused(`${channelLabel(row.channel)} shows customers no reactions.`);
  }
  const ofAgents = { message_id: messageId, role: "agent" } as const;
  const before = await tx
    .selectFrom("reactions")
    .select("emoji")
    .where("message_id", "=", messageId)
    .where("role", "=", ofAgents.role)
    .executeTakeFirst();
  const replaces = before?.emoji ?? null;
  if (replaces === emoji) return { refusal: null, effects: null };
  await tx.deleteFrom("reactions").where("message_id", "=", messageId).where("role", "=", ofAgents.role).execute();
  if (emoji !== null) {
    const author = { author: agent.email, author_name: agent.name, conversation_id: row.id, at: now };
    await tx
      .insertInto("reactions")
      .values({ ...ofAgents, ...author, emoji })
      .execute();
  }
  const changes = createUnitOfWork(now, search);
  changes.track(row, settings, false).messageReacted(messageId);
  const work = { conversationId: row.id, messageId, emoji, replaces };
  changes.addWork(reactionKind.queued(reactionLane(row.id), work, now));
  return { refusal: null, effects: await changes.flush(tx) };
}
