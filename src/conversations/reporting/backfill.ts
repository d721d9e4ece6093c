import { Type } from "typebox";
import type { CellSums } from "#domain/reporting/cells.ts";
import { addCounts, createCellSums } from "#domain/reporting/cells.ts";
import { storedSettings, timezoneOf } from "#domain/workspace/settings.ts";
import type { Store, Tx } from "#database/contract.ts";
import { dialectOf } from "#database/dialects/dialect.ts";
import { insertRows } from "#database/dialects/insert-rows.ts";
import { finishWork, insertWork } from "#database/queries/outbox.ts";
import type { PayloadOf, Work, WorkDeclaration } from "#database/work.ts";
import { declareWork, workKind } from "#database/work.ts";
import type { Clock } from "#runtime/clock.ts";
import { changeRows } from "./changes.ts";
import { progressColumns } from "./progress.ts";
import { recountConversations } from "./recount.ts";

/** The count of conversations that an earlier version stored. The migration that adds reports queues the first row. */
const backfillKind = workKind("report-backfill", Type.Object({ after: Type.Optional(Type.String()) }));

const conversationsAtOnce = 50;

interface BackfillDependencies {
  readonly store: Store;
  readonly clock: Clock;
}

/** Counts some conversations as a whole, in a transaction, and queues the next ones. From then on changes are counted. */
export function declareReportBackfill({ store, clock }: BackfillDependencies): WorkDeclaration {
  return declareWork(backfillKind, {
    batch: true,
    // Must never be given up, because nothing else queues it again.
    attemptsMax: Number.POSITIVE_INFINITY,
    lanesMax: 1,
    run: (rows) => store.write((tx) => backfill(tx, rows, clock.now())),
  });
}

async function backfill(tx: Tx, rows: readonly Work<PayloadOf<typeof backfillKind>>[], now: number): Promise<void> {
  await finishWork(tx, rows);
  const [after = ""] = rows.map(({ payload }) => payload.after ?? "").toSorted();
  const query = tx
    .selectFrom("conversations")
    .select(["id", "workspace_id", "channel", "started_at", "opened_at"])
    .where("id", ">", after)
    .orderBy("id")
    .limit(conversationsAtOnce);
  const page = await (dialectOf(tx) === "mysql" ? query.forUpdate() : query).execute();
  const sums = new Map<string, CellSums>();
  const uncounted = page.filter((row) => row.opened_at === null);
  for (const [workspaceId, of] of Map.groupBy(uncounted, (row) => row.workspace_id)) {
    const workspace = await tx
      .selectFrom("workspaces")
      .select("settings")
      .where("id", "=", workspaceId)
      .executeTakeFirstOrThrow();
    const settings = storedSettings(workspace.settings);
    const found = createCellSums();
    sums.set(workspaceId, found);
    const counted = await recountConversations(tx, of, settings);
    for (const { id, channel } of of) {
      const { counts, progress } = counted.get(id) ?? {};
      if (counts === undefined || progress === undefined) continue;
      addCounts(found, counts, channel, timezoneOf(settings));
      await tx.updateTable("conversations").set(progressColumns(progress)).where("id", "=", id).execute();
    }
  }
  await insertRows(tx, "report_changes", changeRows(sums));
  const last = page.at(-1);
  if (last === undefined || page.length < conversationsAtOnce) return;
  const [{ lane } = { lane: backfillKind.kind }] = rows;
  await insertWork(tx, [backfillKind.queued(lane, { after: last.id }, now)], now);
}
