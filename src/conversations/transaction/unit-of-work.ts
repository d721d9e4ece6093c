import type { ConversationDraft } from "./conversation-draft.ts";
import { createDraft } from "./conversation-draft.ts";
import type { UnitOfWork } from "./draft.ts";
import { emitSla, emitUpdates } from "./effects/change-events.ts";
import type { Effects } from "#conversations/work/effects.ts";
import { slaState } from "#domain/conversation/sla.ts";
import {
  insertConversations,
  linkConversations,
  saveConversations,
  slaClock,
} from "#database/queries/conversations.ts";
import { insertRows } from "#database/dialects/insert-rows.ts";
import type { NewWork } from "#database/queries/outbox.ts";
import { hasWork, insertWork } from "#database/queries/outbox.ts";
import { syncWork } from "#conversations/work/desk-sync-work.ts";
import { runRules } from "#conversations/automation/rules.ts";
import { countForReports } from "./effects/report-effects.ts";
import { signalOf } from "#conversations/work/inbox-signal.ts";
import { ruleReplyLane, turnLane, timerLane } from "#queue/lanes.ts";
import { indexWorks } from "./effects/search-indexing.ts";
import type { PendingWrites } from "./pending-writes.ts";
import { createPendingWrites } from "./pending-writes.ts";
import { surveyWork } from "#conversations/work/survey-work.ts";
import { platformWork } from "#conversations/work/platform-status.ts";
import type { ConversationSearch } from "#database/search/contract.ts";
import type { Tx } from "#database/contract.ts";
import { ruleReplyKind } from "#conversations/work/rule-reply-work.ts";
import { nextTimer, timerKind } from "#conversations/automation/timers.ts";

export function createUnitOfWork(now: number, search: Pick<ConversationSearch, "refilter">): UnitOfWork {
  const drafts = new Map<string, ConversationDraft>();
  const writes = createPendingWrites(now);
  const changedDrafts = () => [...drafts.values()].filter((draft) => draft.changed);

  return {
    now,
    track(row, settings, isNew) {
      const tracked = drafts.get(row.id);
      if (tracked !== undefined) return tracked;
      const draft = createDraft(writes, row, settings, isNew);
      drafts.set(row.id, draft);
      return draft;
    },
    addWork: (work) => writes.works.push(work),
    emitContact: writes.events.emitContact,
    files: writes.files,
    async flush(tx) {
      const changed = changedDrafts();
      await writes.tags.passOver(tx, writes.audits);
      for (const draft of changed) emitSla(draft, now);
      await automate(tx, writes, changed);
      for (const draft of changed) emitSla(draft, now);
      await emitUpdates(tx, writes, changed);
      await writes.events.number(tx);
      queueFollowUps(writes, changed);
      await countForReports(tx, writes, changed);
      await rescheduleTimers(tx, writes, changed);
      await write(tx, search, writes, changed);
      return effectsOf(writes, changedDrafts());
    },
  };
}

async function automate(tx: Tx, { works, now }: PendingWrites, changed: readonly ConversationDraft[]): Promise<void> {
  for (const draft of changed) {
    if (draft.byPerson) draft.row.activity += 1;
    draft.ruled = true;
  }
  await runRules(tx, changed, now);
  // Read after all rules ran, so that a later action such as an assignment does not make the reply stale.
  for (const { row, ruleReplies } of changed) {
    for (const reply of ruleReplies) {
      works.push(ruleReplyKind.queued(ruleReplyLane(row.id), { ...reply, status: row.status, seq: row.last_seq }, now));
    }
  }
  for (const draft of changed) await withdrawTurns(tx, works, draft);
}

/** Cancels bot answers to messages that a rule has answered, or handed to agents. */
async function withdrawTurns(tx: Tx, works: NewWork[], { row, answeredByRule }: ConversationDraft): Promise<void> {
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

/** Completes the rows, and queues the work for the search index and for the platforms. */
function queueFollowUps({ works, now }: PendingWrites, changed: readonly ConversationDraft[]): void {
  const reindexed = changed.filter(({ textChanged }) => textChanged).map(({ row }) => row);
  works.push(...indexWorks(reindexed, now));
  for (const draft of changed) {
    const { row, before } = draft;
    works.push(...platformWork(row, draft, now));
    works.push(...surveyWork(before, row, draft.settings, now));
    row.version += 1;
    row.sla_state = slaState(slaClock(row), draft.settings.slaTargets[row.priority], now);
    // Comparisons are written out because a loop over field names made V8 deoptimize this function repeatedly.
    draft.refiltered ||=
      row.status !== before.status ||
      row.sla_state !== before.sla_state ||
      row.customer_email_key !== before.customer_email_key;
  }
}

async function rescheduleTimers(
  tx: Tx,
  { works, now }: PendingWrites,
  changed: readonly ConversationDraft[],
): Promise<void> {
  const outdated: string[] = [];
  for (const { row, settings } of changed) {
    const at = nextTimer(row, settings, now);
    // A timer that fires too early reschedules itself, so only an earlier due time needs a new row.
    if (at === null || (row.timer_at !== null && row.timer_at <= at && row.timer_at > now)) continue;
    const lane = timerLane(row.id);
    if (row.timer_at !== null) outdated.push(lane);
    row.timer_at = at;
    works.push(timerKind.queued(lane, { conversationId: row.id }, at));
  }
  if (outdated.length > 0) await tx.deleteFrom("outbox").where("lane", "in", outdated).execute();
}

async function write(
  tx: Tx,
  search: Pick<ConversationSearch, "refilter">,
  writes: PendingWrites,
  changed: readonly ConversationDraft[],
): Promise<void> {
  const { works, now } = writes;
  const added = changed.filter(({ isNew }) => isNew);
  const stored = changed.filter(({ isNew }) => !isNew);
  await insertConversations(
    tx,
    added.map(({ row }) => row),
  );
  await saveConversations(tx, stored);
  await insertRows(tx, "messages", writes.messages);
  if (writes.reacted.size > 0) {
    await tx
      .updateTable("messages")
      .set({ reacted_at: now })
      .where("id", "in", [...writes.reacted])
      .execute();
  }
  await writes.files.write(tx);
  await insertRows(tx, "deliveries", writes.deliveries);
  for (const { row, handedOver } of changed) if (handedOver !== undefined) writes.weakAnswers.addHandover(row);
  works.push(...(await writes.weakAnswers.write(tx, now)));
  await linkConversations(tx, writes.links);
  await insertRows(tx, "audit", writes.audits);
  await writes.tags.write(tx, changed);
  const refiltered = stored.filter((draft) => draft.refiltered).map(({ row }) => row.id);
  if (refiltered.length > 0) await search.refilter(tx, refiltered);
  works.push(...(await writes.events.store(tx)));
  works.push(...(await syncWork(tx, changed, now)));
  await insertWork(tx, works, now);
}

const effectsOf = ({ works, audits }: PendingWrites, changed: readonly ConversationDraft[]): Effects => ({
  wake: works.filter(({ lease }) => lease === undefined),
  threads: changed
    .filter(({ visible }) => visible)
    .map(({ row, edited }) => ({ accountId: row.account_id, contextKey: row.context_key, amended: edited })),
  workspaces: changed.map(({ row }) => signalOf(row, audits)),
});
