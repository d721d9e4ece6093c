import type { Draft, StatusDetails, UnitOfWork } from "./draft.ts";
import type { Effects } from "./effects.ts";
import type { Insertable } from "kysely";
import type { Handover } from "#channels/contract.ts";
import type { PlatformStatus } from "#channels/inbound-event.ts";
import type { Happening } from "#domain/workspace/automation.ts";
import { newId } from "#domain/ids.ts";
import type { Status } from "#domain/conversation/status.ts";
import { stepBefore, transitionEvent } from "#domain/conversation/status.ts";
import type { Actor, AuditAction } from "#domain/conversation/message.ts";
import { Problem } from "#domain/problem.ts";
import { clockOnStatus, slaState } from "#domain/conversation/sla.ts";
import type { WorkspaceSettings } from "#domain/workspace/settings.ts";
import type { ConversationRow } from "#database/queries/conversations.ts";
import { insertConversations, linkConversations, saveConversations } from "#database/queries/conversations.ts";
import { insertRows } from "#database/dialects/insert-rows.ts";
import type { NewWork } from "#database/queries/outbox.ts";
import { hasWork, insertWork } from "#database/queries/outbox.ts";
import type { AuditTable, ConversationLinksTable, DeliveriesTable, MessagesTable } from "#database/schema/tables.ts";
import type { SyncItem } from "./desk-sync-work.ts";
import { syncWork } from "./desk-sync-work.ts";
import { runRules } from "#conversations/automation/rules.ts";
import type { Grouped, MessageFiles } from "#conversations/attachments/attachments.ts";
import { signalOf } from "./inbox-signal.ts";
import { authorOf, createEvents } from "./events.ts";
import { ruleReplyLane, turnLane, timerLane } from "#queue/lanes.ts";
import { indexWorks } from "./search-indexing.ts";
import { createFileEffects } from "./file-effects.ts";
import type { NewMessage } from "./new-message.ts";
import { messageRow } from "./new-message.ts";
import { handoverOf, platformStatusOf, platformWork } from "#conversations/delivery/platform-status.ts";
import { sendingOf } from "#conversations/delivery/send-plan.ts";
import type { ConversationSearch } from "#database/search/contract.ts";
import type { Tx } from "#database/contract.ts";
import type { RuleReply } from "#conversations/answering/rule-reply-work.ts";
import { createTagEffects } from "./tag-effects.ts";
import { nextTimer } from "#conversations/automation/timers.ts";

interface TrackedDraft extends Draft {
  readonly row: ConversationRow;
  readonly settings: WorkspaceSettings;
  readonly isNew: boolean;
  readonly before: ConversationRow;
  changed: boolean;
  /** The customer's view has new content. */
  visible: boolean;
  /** A message that the customer has seen was changed. */
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
  readonly happenings: Happening[];
  /** A customer, an agent or an API client made some of the changes. */
  byPerson: boolean;
  readonly tagsAdded: Set<string>;
  readonly tagsRemoved: Set<string>;
  /** Set while a rule makes changes. */
  ruled: boolean;
  /** `seq` of the customer's messages that a rule has answered. */
  readonly answeredByRule: Set<number>;
  queueRuleReply(text: string, rule: string, answers: readonly number[]): void;
}

export function createUnitOfWork(now: number, search: Pick<ConversationSearch, "refilter">): UnitOfWork {
  const drafts = new Map<string, TrackedDraft>();
  const messages: MessagesTable[] = [];
  const deliveries: Insertable<DeliveriesTable>[] = [];
  const audits: AuditTable[] = [];
  const works: NewWork[] = [];
  const files = createFileEffects(works, now);
  const ruleReplies: { readonly draft: TrackedDraft; readonly reply: Omit<RuleReply, "status" | "seq"> }[] = [];
  const events = createEvents(now);
  const links: ConversationLinksTable[] = [];
  const tagging = createTagEffects();

  function track(row: ConversationRow, settings: WorkspaceSettings, isNew: boolean): Draft {
    const known = drafts.get(row.id);
    if (known !== undefined) return known;
    const current = { ...row };
    const draft: TrackedDraft = {
      row: current,
      now,
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
      bringToDesk() {
        draft.isShownAtDesk = true;
        draft.changed = true;
      },
      happenings: [],
      byPerson: false,
      tagsAdded: new Set(),
      tagsRemoved: new Set(),
      ruled: false,
      answeredByRule: new Set(),
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
        events.emitUpdate(draft, messageId);
      },
      joinMessage: (message, content, given) => joinMessage(draft, message, content, given),
      addMessage: (message) => addMessage(draft, message),
      setStatus: (to, actor, how = {}) => setStatus(draft, to, actor, how),
      audit: (action, actor, change) => audit(draft, action, actor, change),
      setTags(add, remove, actor) {
        for (const tag of add) setTag(draft, "tagged", tag, actor);
        for (const tag of remove) setTag(draft, "untagged", tag, actor);
        draft.changed = true;
        draft.refiltered ||= add.length + remove.length > 0;
      },
      emit: (type, actor, details = {}) => events.emit(draft, type, actor, details),
    };
    drafts.set(row.id, draft);
    return draft;
  }

  function happen(draft: TrackedDraft, happening: Happening): Happening | undefined {
    if (draft.ruled) return undefined;
    draft.happenings.push(happening);
    return happening;
  }

  function setTag(draft: TrackedDraft, kind: "tagged" | "untagged", tag: string, actor: Actor): void {
    const isAdded = kind === "tagged";
    (isAdded ? draft.tagsAdded : draft.tagsRemoved).add(tag);
    (isAdded ? draft.tagsRemoved : draft.tagsAdded).delete(tag);
    const happening = happen(draft, { kind, tag });
    const entry = audit(draft, kind, actor, isAdded ? { to: tag } : { from: tag });
    tagging.add({ draft, tag, kind, entry, happening });
  }

  /** API clients fetch the reply, so it is stored at once. On other channels the adapter must render it first. */
  function queueRuleReply(draft: TrackedDraft, text: string, rule: string, answers: readonly number[]): void {
    const { row, settings } = draft;
    const answersSeq = answers.at(-1) ?? null;
    for (const seq of answers) draft.answeredByRule.add(seq);
    if (row.channel === "api") {
      const authorName = settings.botName;
      const given = { authorName, sources: "[]", skills: "[]", tokensUsed: 0 };
      addMessage(draft, {
        role: "assistant",
        content: text,
        ...given,
        ...(answersSeq === null ? {} : { answersSeq }),
      });
      return;
    }
    ruleReplies.push({ draft, reply: { conversationId: row.id, rule, text, answersSeq } });
  }

  function addMessage(draft: TrackedDraft, message: NewMessage): MessagesTable {
    const { row } = draft;
    row.last_seq += 1;
    row.message_count += 1;
    row.last_message_at = Math.max(row.last_message_at, now);
    const stored = messageRow(row, message, now);
    messages.push(stored);
    const sending = sendingOf(row, stored, message.parts ?? [], now);
    deliveries.push(...sending.deliveries);
    links.push(...sending.links);
    works.push(...sending.works);
    draft.textChanged = true;
    draft.changed = true;
    draft.visible = true;
    draft.syncDesk({ kind: "message", seq: stored.seq });
    if (message.role !== "assistant") draft.byPerson = true;
    happen(draft, { kind: "message", by: message.role, message: stored, confidence: stored.confidence });
    const attachments = files.begin(stored, message.files);
    draft.emit("message.created", authorOf(stored), { message: stored, attachments });
    return stored;
  }

  function joinMessage(draft: TrackedDraft, message: Grouped, content: string, given: MessageFiles): void {
    const here = messages.find(({ id }) => id === message.messageId);
    files.join(message, content, given, here);
    if (here === undefined) {
      draft.syncDesk({ kind: "changed", id: message.messageId });
      events.emitJoined(draft, message.messageId);
    }
    draft.textChanged = true;
    draft.changed = true;
    draft.visible = true;
  }

  function setStatus(
    draft: TrackedDraft,
    to: Status,
    actor: Actor,
    { snoozedUntil = null, reason, undoes = false }: StatusDetails,
  ): void {
    const { row, settings } = draft;
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
    const before = { elapsedMs: row.sla_elapsed_ms, runningSince: row.sla_running_since };
    const clock = clockOnStatus(before, from, to, now, undoes);
    row.sla_elapsed_ms = clock.elapsedMs;
    row.sla_running_since = clock.runningSince;
    row.sla_state = slaState(clock, settings.slaTargets[row.priority], now);
    row.snoozed_from = to === "snoozed" ? from : null;
    row.snoozed_until = to === "snoozed" ? snoozedUntil : null;
    row.status = to;
    row.status_at = now;
    if (!undoes) happen(draft, { kind: "status", from, to });
    if (event === "conversation.escalated" && !undoes) draft.handedOver = handoverOf(actor, reason, now);
    if (to === "resolved") row.resolved_at = now;
    if (to === "claimed" || to === "escalated") row.resolved_at = null;
    if (to === "open") {
      row.resolved_at = null;
      row.low_streak = 0;
      // The bot answers from the next message on. Earlier unanswered messages belong to the agents.
      row.settled_seq = row.last_customer_seq;
      row.assigned_to = null;
    }
    draft.changed = true;
    draft.visible = true;
    draft.syncDesk({ kind: "event", id: audit(draft, "status_changed", actor, { from, to, detail: reason ?? null }) });
    if (!undoes) draft.emit(event, actor, { previousStatus: from });
  }

  function audit(
    draft: TrackedDraft,
    action: AuditAction,
    actor: Actor,
    change: { from?: string | null; to?: string | null; detail?: string | null },
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

  async function flush(tx: Tx): Promise<Effects> {
    const changed = [...drafts.values()].filter((draft) => draft.changed);
    await tagging.passOver(tx, audits);
    await automate(tx, changed);
    await events.number(tx);
    const reindexed = changed.filter((draft) => draft.textChanged);
    works.push(
      ...indexWorks(
        reindexed.map(({ row }) => row),
        now,
      ),
    );
    const rearmed: TrackedDraft[] = [];
    for (const draft of changed) {
      const { row, before } = draft;
      works.push(...platformWork(draft.row, draft, now));
      row.version += 1;
      const clock = { elapsedMs: row.sla_elapsed_ms, runningSince: row.sla_running_since };
      row.sla_state = slaState(clock, draft.settings.slaTargets[row.priority], now);
      // Comparisons are written out because a loop over field names made V8 deoptimize this function repeatedly.
      draft.refiltered ||=
        row.status !== before.status ||
        row.sla_state !== before.sla_state ||
        row.customer_email_key !== before.customer_email_key;
      const at = nextTimer(row, draft.settings, now);
      // A timer that fires too early reschedules itself, so only an earlier due time needs a new row.
      if (at === null || (row.timer_at !== null && row.timer_at <= at && row.timer_at > now)) continue;
      if (row.timer_at !== null) rearmed.push(draft);
      row.timer_at = at;
      works.push({ lane: timerLane(row.id), kind: "timer", payload: { conversationId: row.id }, dueAt: at });
    }
    if (rearmed.length > 0) {
      const lanes = rearmed.map(({ row }) => timerLane(row.id));
      await tx.deleteFrom("outbox").where("lane", "in", lanes).execute();
    }
    await insertConversations(
      tx,
      changed.filter((draft) => draft.isNew).map((draft) => draft.row),
    );
    await saveConversations(
      tx,
      changed.filter((draft) => !draft.isNew),
    );
    await insertRows(tx, "messages", messages);
    await files.write(tx);
    await insertRows(tx, "deliveries", deliveries);
    await linkConversations(tx, links);
    await insertRows(tx, "audit", audits);
    await tagging.write(tx, changed);
    const refiltered = changed.filter((draft) => draft.refiltered && !draft.isNew).map(({ row }) => row.id);
    if (refiltered.length > 0) await search.refilter(tx, refiltered);
    works.push(...(await events.store(tx)));
    works.push(...(await syncWork(tx, changed, now)));
    await insertWork(tx, works, now);
    const signalled = [...drafts.values()].filter((draft) => draft.changed);
    return {
      wake: works.filter((work) => work.lease === undefined),
      threads: signalled
        .filter((draft) => draft.visible)
        .map(({ row, edited }) => ({ accountId: row.account_id, contextKey: row.context_key, amended: edited })),
      workspaces: signalled.map(({ row }) => signalOf(row, audits)),
    };
  }

  async function automate(tx: Tx, changed: readonly TrackedDraft[]): Promise<void> {
    for (const draft of changed) {
      if (draft.byPerson) draft.row.activity += 1;
      draft.ruled = true;
    }
    await runRules(tx, changed, now);
    // Read after all rules ran, so that a later action such as an assignment does not make the reply stale.
    for (const { draft, reply } of ruleReplies) {
      const payload: RuleReply = { ...reply, status: draft.row.status, seq: draft.row.last_seq };
      works.push({ lane: ruleReplyLane(draft.row.id), kind: "speak", payload, dueAt: now });
    }
    for (const draft of changed) await withdrawTurns(tx, draft);
  }

  /** Cancels bot answers to messages that a rule has answered, or handed to agents. */
  async function withdrawTurns(tx: Tx, { row, answeredByRule }: TrackedDraft): Promise<void> {
    if (answeredByRule.size === 0 && row.status === "open") return;
    const lane = turnLane(row.id);
    const isSettled = ({ payload }: NewWork): boolean =>
      row.status !== "open" || answeredByRule.has((payload as { readonly seq: number }).seq);
    for (let at = works.length - 1; at >= 0; at -= 1) {
      const work = works[at];
      if (work?.lane === lane && isSettled(work)) works.splice(at, 1);
    }
    if (row.status !== "open" || works.some((work) => work.lane === lane) || (await hasWork(tx, lane))) return;
    row.settled_seq = row.last_customer_seq;
  }

  return {
    now,
    track,
    addWork: (work) => works.push(work),
    files,
    flush,
  };
}

const personal: ReadonlySet<Actor["type"]> = new Set(["customer", "agent", "api_key"]);
