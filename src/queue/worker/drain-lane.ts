import type { Store } from "#database/contract.ts";
import type { LeasedRow, OutboxRow } from "#database/queries/outbox.ts";
import { LostLease, PartlyFailed } from "#database/queries/outbox.ts";
import type { WorkTable } from "#queue/work-table.ts";
import type { StoreFailure } from "./failures.ts";
import type { Outages } from "./outages.ts";
import type { RowGroup } from "./row-group.ts";
import { LeftWork } from "./given-up.ts";
import { groupOf } from "./row-group.ts";

export interface DrainOptions {
  readonly store: Store;
  readonly processId: string;
  readonly works: WorkTable;
  readonly outages: Outages;
  readonly storeFailure: StoreFailure;
  /** Aborts running work when the program stops. */
  readonly signal: AbortSignal;
  readonly isClosing: () => boolean;
}

/** Runs claimed rows of one lane, in order, and releases the rest when one of them has to wait. */
export async function drainLane(options: DrainOptions, rows: readonly OutboxRow[]): Promise<void> {
  const { works, storeFailure } = options;
  let rest = rows;
  for (let [first] = rest; first !== undefined; [first] = rest) {
    if (options.isClosing()) break;
    const group = groupOf(works, first, rest);
    if (group instanceof LeftWork) {
      await storeFailure(undefined, [first], group);
      rest = rest.slice(1);
      if (works.unordered.has(first.kind)) continue;
      break;
    }
    const isDone = await runGroup(options, group);
    rest = rest.slice(group.rows.length);
    if (!isDone) break;
  }
  await release(options, rest);
}

/** Returns false if the lane must wait. */
async function runGroup(options: DrainOptions, { declaration, rows }: RowGroup): Promise<boolean> {
  const { signal, outages, storeFailure } = options;
  try {
    await declaration.run(rows, signal);
    for (const { lane } of rows.slice(0, 1)) outages.over(lane);
    return true;
  } catch (error) {
    if (error instanceof LostLease) return false;
    if (signal.aborted) {
      await release(options, rows);
    } else if (error instanceof PartlyFailed) {
      for (const { row, error: cause } of error.failures) {
        const failed = rows.filter(({ id }) => id === row.id);
        await storeFailure(declaration, failed, cause);
      }
    } else await storeFailure(declaration, rows, error);
    return false;
  }
}

async function release({ store, processId }: DrainOptions, rows: readonly LeasedRow[]): Promise<void> {
  if (rows.length === 0) return;
  const ids = rows.map(({ id }) => id);
  await store.write((tx) =>
    tx
      .updateTable("outbox")
      .set({ lease_id: null, lease_until: null })
      .where("id", "in", ids)
      .where("lease_id", "=", processId)
      .execute(),
  );
}
