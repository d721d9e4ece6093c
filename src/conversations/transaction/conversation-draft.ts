import type { Draft, StatusDetails } from "./draft.ts";
import type { Handover } from "#channels/contract.ts";
import type { PlatformStatus } from "#channels/inbound-event.ts";
import type { RuleEvent } from "#domain/workspace/automation.ts";
import { newId } from "#domain/ids.ts";
import type { Status } from "#domain/conversation/status.ts";
import { stepBefore, transitionEvent } from "#domain/conversation/status.ts";
import type { Actor, AuditAction } from "#domain/conversation/message.ts";
import { Problem } from "#domain/problem.ts";
import { clockOnStatus, slaState } from "#domain/conversation/sla.ts";
import type { WorkspaceSettings } from "#domain/workspace/settings.ts";
import type { ConversationRow } from "#database/queries/conversations.ts";
import { slaClock } from "#database/queries/conversations.ts";
import type { MessagesTable } from "#database/schema/tables.ts";
import type { SyncItem } from "#conversations/work/desk-sync-work.ts";
import type { Grouped, MessageFiles } from "#conversations/attachments/attachments.ts";
import { authorOf } from "./effects/events.ts";
import type { NewMessage } from "./new-message.ts";
import { messageRow } from "./new-message.ts";
import type { PendingWrites } from "./pending-writes.ts";
import { handoverOf, platformStatusOf } from "#conversations/work/platform-status.ts";
import { sendingOf } from "./effects/send-plan.ts";
import type { RuleReply } from "#conversations/work/rule-reply-work.ts";

/** A conversation in one transaction: its row before and after, and what has to follow from the changes. */
export interface ConversationDraft extends Draft {
  readonly row: ConversationRow;
  readonly settings: WorkspaceSettings;
  readonly isNew: boolean;
  readonly before: ConversationRow;
  changed: boolean;
  /** The customer's view has new content. */
  visible: boolean;
  /** A message that the customer has seen was changed, or its reactions. */
  edited: boolean;
  /** The text to index for search has changed. */
  textChanged: boolean;
  /** A field that lists and searches filter by has changed. */
  refiltered: boolean;
  readonly items: SyncItem[];
  isShownAtDesk: boolean;
  platformStatus: PlatformStatus;
  readonly platformNotes: string[];
  handedOver: Handover | undefined;
  /** The author of the change of the customer. */
  customerAuthor: Actor | undefined;
  readonly ruleEvents: RuleEvent[];
  /** A customer, an agent or an API client made some of the changes. */
  byPerson: boolean;
  readonly tagsAdded: Set<string>;
  readonly tagsRemoved: Set<string>;
  /** Set while a rule makes changes. */
  ruled: boolean;
  readonly ruleReplies: Omit<RuleReply, "status" | "seq">[];
  /** `seq` of the customer's messages that a rule has answered. */
  readonly answeredByRule: Set<number>;
  queueRuleReply(text: string, rule: string, answers: readonly number[]): void;
}

export function createDraft(
  writes: PendingWrites,
  row: ConversationRow,
  settings: WorkspaceSettings,
  isNew: boolean,
): ConversationDraft {
  const draft: ConversationDraft = {
    row: { ...row },
    now: writes.now,
    settings,
    isNew,
    before: row,
    changed: isNew,
    visible: false,
    edited: false,
    textChanged: false,
    refiltered: false,
    items: [],
    isShownAtDesk: false,
    platformStatus: platformStatusOf(row),
    platformNotes: [],
    handedOver: undefined,
    customerAuthor: undefined,
    ruleEvents: [],
    byPerson: false,
    tagsAdded: new Set(),
    tagsRemoved: new Set(),
    ruled: false,
    ruleReplies: [],
    answeredByRule: new Set(),
    setPlatformStatus(status) {
      draft.platformStatus = status;
    },
    pushNote(id) {
      draft.platformNotes.push(id);
      draft.changed = true;
    },
    syncDesk(item) {
      draft.items.push(item);
      draft.changed = true;
    },
    showAtDesk() {
      draft.isShownAtDesk = true;
      draft.changed = true;
    },
    customerChangedBy(actor) {
      draft.customerAuthor = actor;
    },
    touch() {
      draft.changed = true;
    },
    asRule(work) {
      draft.ruled = true;
      try {
        return work();
      } finally {
        draft.ruled = false;
      }
    },
    queueRuleReply: (text, rule, answers) => queueRuleReply(draft, text, rule, answers),
    messageUpdated(messageId) {
      draft.syncDesk({ kind: "changed", id: messageId });
      draft.visible = true;
      draft.edited = true;
      writes.events.emitUpdate(draft, messageId);
    },
    messageReacted(messageId) {
      draft.syncDesk({ kind: "reacted", id: messageId });
      draft.visible = true;
      draft.edited = true;
      writes.reacted.add(messageId);
      writes.events.emitUpdate(draft, messageId);
    },
    joinMessage: (message, content, files) => joinMessage(writes, draft, message, content, files),
    addMessage: (message) => addMessage(writes, draft, message),
    setStatus: (to, actor, details = {}) => setStatus(draft, to, actor, details),
    audit: (action, actor, change) => audit(writes, draft, action, actor, change),
    setTags(add, remove, actor) {
      for (const tag of add) setTag(writes, draft, "tagged", tag, actor);
      for (const tag of remove) setTag(writes, draft, "untagged", tag, actor);
      draft.changed = true;
      draft.refiltered ||= add.length + remove.length > 0;
    },
    addWeakAnswer: (seq, reason) => writes.weakAnswers.add(draft.row, seq, reason),
    removeDislike: (seq) => writes.weakAnswers.removeDislike(draft.row, seq),
    emit: (type, actor, details = {}) => writes.events.emit(draft, type, actor, details),
  };
  return draft;
}

/** Returns undefined for a change that a rule makes, because it triggers no rule. */
function addRuleEvent(draft: ConversationDraft, ruleEvent: RuleEvent): RuleEvent | undefined {
  if (draft.ruled) return undefined;
  draft.ruleEvents.push(ruleEvent);
  return ruleEvent;
}

function setTag(
  writes: PendingWrites,
  draft: ConversationDraft,
  kind: "tagged" | "untagged",
  tag: string,
  actor: Actor,
): void {
  const isAdded = kind === "tagged";
  (isAdded ? draft.tagsAdded : draft.tagsRemoved).add(tag);
  (isAdded ? draft.tagsRemoved : draft.tagsAdded).delete(tag);
  const ruleEvent = addRuleEvent(draft, { kind, tag });
  const entry = draft.audit(kind, actor, isAdded ? { to: tag } : { from: tag });
  writes.tags.add({ draft, tag, kind, entry, ruleEvent });
}

/** API clients fetch the reply, so it is stored at once. On other channels the adapter must render it first. */
function queueRuleReply(draft: ConversationDraft, text: string, rule: string, answers: readonly number[]): void {
  const { row, settings } = draft;
  const answersSeq = answers.at(-1) ?? null;
  for (const seq of answers) draft.answeredByRule.add(seq);
  if (row.channel !== "api") {
    draft.ruleReplies.push({ conversationId: row.id, rule, text, answersSeq });
    return;
  }
  draft.addMessage({
    role: "assistant",
    content: text,
    authorName: settings.botName,
    sources: "[]",
    skills: "[]",
    tokensUsed: 0,
    ...(answersSeq === null ? {} : { answersSeq }),
  });
}

function addMessage(writes: PendingWrites, draft: ConversationDraft, message: NewMessage): MessagesTable {
  const { row } = draft;
  const { now } = writes;
  row.last_seq += 1;
  row.message_count += 1;
  row.last_message_at = Math.max(row.last_message_at, now);
  const stored = messageRow(row, message, now);
  writes.messages.push(stored);
  const sending = sendingOf(row, stored, message.parts ?? [], now);
  writes.deliveries.push(...sending.deliveries);
  writes.links.push(...sending.links);
  writes.works.push(...sending.works);
  draft.textChanged = true;
  draft.changed = true;
  draft.visible = true;
  draft.syncDesk({ kind: "message", seq: stored.seq });
  if (message.role !== "assistant") draft.byPerson = true;
  addRuleEvent(draft, { kind: "message", by: message.role, message: stored, confidence: stored.confidence });
  const attachments = writes.files.begin(stored, message.files);
  draft.emit("message.created", authorOf(stored), { message: stored, attachments });
  return stored;
}

function joinMessage(
  writes: PendingWrites,
  draft: ConversationDraft,
  message: Grouped,
  content: string,
  files: MessageFiles,
): void {
  const unwritten = writes.messages.find(({ id }) => id === message.messageId);
  writes.files.join(message, content, files, unwritten);
  if (unwritten === undefined) {
    draft.syncDesk({ kind: "changed", id: message.messageId });
    writes.events.emitJoined(draft, message.messageId);
  }
  draft.textChanged = true;
  draft.changed = true;
  draft.visible = true;
}

function setStatus(
  draft: ConversationDraft,
  to: Status,
  actor: Actor,
  { snoozedUntil = null, reason, undoes = false }: StatusDetails,
): void {
  const { row, settings, now } = draft;
  const from = row.status;
  if (from === to) {
    if (to === "snoozed" && row.snoozed_until !== snoozedUntil) {
      row.snoozed_until = snoozedUntil;
      draft.changed = true;
    }
    return;
  }
  const event = transitionEvent(from, to);
  if (event === undefined) {
    throw new Problem(
      "invalid_transition",
      `a conversation that is ${from} cannot become ${to}${stepBefore(from, to)}`,
    );
  }
  const before = slaClock(row);
  const clock = clockOnStatus(before, from, to, now, undoes);
  row.sla_elapsed_ms = clock.elapsedMs;
  row.sla_running_since = clock.runningSince;
  // A new clock has notices of its own.
  if (clock.elapsedMs === 0) row.sla_notices = null;
  row.sla_state = slaState(clock, settings.slaTargets[row.priority], now);
  enterStatus(row, to, snoozedUntil, now);
  draft.changed = true;
  draft.visible = true;
  const entry = draft.audit("status_changed", actor, { from, to, detail: reason ?? null });
  draft.syncDesk({ kind: "event", id: entry });
  if (undoes) return;
  addRuleEvent(draft, { kind: "status", from, to });
  if (event === "conversation.escalated") draft.handedOver = handoverOf(actor, reason, now);
  draft.emit(event, actor, { previousStatus: from });
}

function enterStatus(row: ConversationRow, to: Status, snoozedUntil: number | null, now: number): void {
  row.snoozed_from = to === "snoozed" ? row.status : null;
  row.snoozed_until = to === "snoozed" ? snoozedUntil : null;
  row.status = to;
  row.status_at = now;
  if (to === "resolved") row.resolved_at = now;
  if (to === "claimed" || to === "escalated" || to === "open") row.resolved_at = null;
  if (to === "open") {
    row.low_streak = 0;
    // The bot answers from the next message on. Earlier unanswered messages belong to the agents.
    row.settled_seq = row.last_customer_seq;
    row.assigned_to = null;
  }
}

const personal: ReadonlySet<Actor["type"]> = new Set(["customer", "agent", "api_key"]);

function audit(
  { audits, now }: PendingWrites,
  draft: ConversationDraft,
  action: AuditAction,
  actor: Actor,
  change: Parameters<Draft["audit"]>[2],
): string {
  if (personal.has(actor.type)) draft.byPerson = true;
  const id = newId("aud", now);
  audits.push({
    id,
    workspace_id: draft.row.workspace_id,
    conversation_id: draft.row.id,
    action,
    actor_type: actor.type,
    actor_id: actor.id,
    actor_name: actor.name,
    from_value: change.from ?? null,
    to_value: change.to ?? null,
    detail: change.detail ?? null,
    created_at: now,
  });
  return id;
}
