import { addCounts, createCellSums } from "#domain/reporting/cells.ts";
import type { CellSums } from "#domain/reporting/cells.ts";
import type { Fact } from "#domain/reporting/tally.ts";
import { tally } from "#domain/reporting/tally.ts";
import type { WorkspaceSettings } from "#domain/workspace/settings.ts";
import { timezoneOf } from "#domain/workspace/settings.ts";
import type { Tx } from "#database/contract.ts";
import { insertRows } from "#database/dialects/insert-rows.ts";
import type { ConversationRow } from "#database/queries/conversations.ts";
import { tagsIn } from "#database/queries/conversations.ts";
import type { AuditTable, MessagesTable } from "#database/schema/tables.ts";
import { changeRows } from "#conversations/reporting/changes.ts";
import { factsOf } from "#conversations/reporting/facts.ts";
import { progressColumns, progressOf } from "#conversations/reporting/progress.ts";

interface Changed {
  readonly row: ConversationRow;
  readonly before: ConversationRow;
  readonly isNew: boolean;
  readonly settings: WorkspaceSettings;
}

interface Counted {
  readonly draft: Changed;
  readonly openedAt: number;
  readonly facts: readonly Fact[];
}

/**
 * Counts the changes of this transaction for the reports, from the messages and audit entries that it stores. One
 * statement stores all increments; tags are read only if a count depends on them. Must be called before the rows and the
 * tags are written, and after everything that changes them.
 */
export async function countForReports(
  tx: Tx,
  { messages, audits }: { readonly messages: readonly MessagesTable[]; readonly audits: readonly AuditTable[] },
  changed: readonly Changed[],
): Promise<void> {
  const messagesOf = Map.groupBy(messages, (message) => message.conversation_id);
  const auditsOf = Map.groupBy(audits, (audit) => audit.conversation_id);
  const counted = changed.flatMap((draft): readonly Counted[] => {
    const { id, opened_at: openedAt } = draft.before;
    // An uncounted conversation of an earlier version is counted as a whole by the backfill.
    if (openedAt === null) return [];
    const facts = factsOf(messagesOf.get(id) ?? [], auditsOf.get(id) ?? []);
    return facts.length === 0 ? [] : [{ draft, openedAt, facts }];
  });
  if (counted.length === 0) return;
  const tags = await tagsBefore(tx, counted);
  const sums = new Map<string, CellSums>();
  for (const { draft, openedAt, facts } of counted) {
    const { row, before, settings } = draft;
    const progress = progressOf(before, openedAt, tags.get(row.id) ?? []);
    const counts = tally(progress, facts, settings.slaTargets);
    Object.assign(row, progressColumns(progress));
    let of = sums.get(row.workspace_id);
    if (of === undefined) sums.set(row.workspace_id, (of = createCellSums()));
    addCounts(of, counts, row.channel, timezoneOf(settings));
  }
  await insertRows(tx, "report_changes", changeRows(sums));
}

/** The tags before this transaction, of the conversations whose counts depend on them. */
function tagsBefore(tx: Tx, counted: readonly Counted[]): Promise<ReadonlyMap<string, readonly string[]>> {
  const ids = counted
    .filter(({ draft, facts }) => !draft.isNew && dependOnTags(draft, facts))
    .map(({ draft }) => draft.row.id);
  return tagsIn(tx, ids);
}

const dependOnTags = ({ before }: Changed, facts: readonly Fact[]): boolean =>
  facts.some((fact) => {
    if (fact.kind === "message") return fact.role === "agent" && before.awaited_since !== null;
    return fact.kind !== "priority" && fact.kind !== "unanswered";
  });
