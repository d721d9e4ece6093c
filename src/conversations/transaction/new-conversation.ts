import { newId } from "#domain/ids.ts";
import { freshClock } from "#domain/conversation/sla.ts";
import type { ConversationRow } from "#database/queries/conversations.ts";
import type { IncomingEvent } from "./incoming-event.ts";

/** A conversation's row before its first message. */
export function newConversation(
  { account, workspace }: Pick<IncomingEvent, "account" | "workspace">,
  thread: string,
  contactId: string,
  now: number,
): ConversationRow {
  const clock = freshClock(now);
  return {
    id: newId("conv", now),
    workspace_id: workspace.id,
    account_id: account.id,
    channel: account.channel,
    context_key: thread,
    contact_id: contactId,
    status: "open",
    snoozed_from: null,
    snoozed_until: null,
    priority: "normal",
    assigned_to: null,
    started_at: now,
    last_message_at: now,
    resolved_at: null,
    message_count: 0,
    last_seq: 0,
    last_customer_seq: 0,
    settled_seq: 0,
    low_streak: 0,
    sla_state: "in_compliance",
    sla_elapsed_ms: clock.elapsedMs,
    sla_running_since: clock.runningSince,
    sla_notices: null,
    timer_at: null,
    customer_name: null,
    customer_email: null,
    customer_email_key: null,
    customer_phone: null,
    customer_verified: 0,
    previous_conversation_id: null,
    event_seq: 0,
    own_contact_id: null,
    status_at: now,
    rules_until: now,
    activity: 0,
    unreachable: null,
    via_account_id: null,
    customer_wrote_at: null,
    platform_order: null,
    opened_at: now,
    awaited_since: null,
    replied: 0,
    bot_replied: 0,
    people_involved: 0,
    resolution: null,
    version: 0,
  };
}
