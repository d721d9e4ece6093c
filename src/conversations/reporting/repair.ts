import { createCellSums } from "#domain/reporting/cells.ts";
import type { Days } from "#domain/reporting/periods.ts";
import { monthOf } from "#domain/reporting/periods.ts";
import type { Store, Tx } from "#database/contract.ts";
import { dialectOf } from "#database/dialects/dialect.ts";
import { insertRows } from "#database/dialects/insert-rows.ts";
import { changeRows, foldChanges } from "./changes.ts";
import type { ComparedDays, Difference } from "./compare.ts";
import { compareDays, compareMonth, stateOfDay } from "./compare.ts";
import { addToMonth } from "./counts.ts";

export interface RecountRequest {
  readonly workspaceId: string;
  readonly days: Days;
  /** Corrects the differences; else they are only returned. */
  readonly repair: boolean;
  readonly progress?: (line: string) => void;
}

export interface Recounted {
  readonly differences: readonly Difference[];
  /** Days that were changed by customers or agents the whole time, and could not be compared. */
  readonly changing: readonly number[];
}

/** Days that are compared at once: what memory holds. */
const daysAtOnce = 366;
const attemptsMax = 4;
const progressEvery = 10_000;

/**
 * Compares the counts of reports with a recount of the stored messages and audit log, and corrects them while the server
 * runs. A correction adds the difference of a day, in a transaction of its own.
 */
export async function recountReports(store: Store, request: RecountRequest): Promise<Recounted> {
  const { workspaceId, days, repair } = request;
  await foldChanges(store);
  const differences: Difference[] = [];
  const changing: number[] = [];
  for (let from = days.from; from <= days.to; from += daysAtOnce) {
    const to = Math.min(days.to, from + daysAtOnce - 1);
    const found = await recountDays(store, request, { from, to });
    differences.push(...found.differences);
    changing.push(...found.changing);
  }
  await foldChanges(store);
  for (let month = monthOf(days.from); month <= days.to; month = monthOf(month, 1)) {
    differences.push(
      ...(repair
        ? await store.write((tx) => repairMonth(tx, workspaceId, month))
        : await compareMonth(store.read, workspaceId, month)),
    );
  }
  return { differences, changing };
}

async function recountDays(store: Store, request: RecountRequest, days: Days): Promise<Recounted> {
  const { workspaceId, repair, progress } = request;
  const differences: Difference[] = [];
  let open = new Map<number, string>();
  let range = days;
  for (let attempt = 1; attempt <= attemptsMax; attempt += 1) {
    const compared = await compareDays(store.read, workspaceId, range, (read) => {
      if (read % progressEvery === 0) progress?.(`${read} conversations`);
    });
    const next = new Map<number, string>();
    for (const [day, found] of daysOf(compared)) {
      if (attempt > 1 && !open.has(day)) continue;
      const text = JSON.stringify(found);
      // A change that was undone while it was counted looks like a difference once.
      const isSure = !compared.changing.has(day) && found.length > 0 && open.get(day) === text;
      if (!isSure) next.set(day, compared.changing.has(day) ? "" : text);
      else if (!repair || (await repairDay(store, workspaceId, found, compared.stateOf(day))))
        differences.push(...found);
      else next.set(day, "");
    }
    open = next;
    if (open.size === 0) break;
    range = { from: Math.min(...open.keys()), to: Math.max(...open.keys()) };
  }
  return { differences, changing: [...open.keys()].toSorted((a, b) => a - b) };
}

/** The days that have differences or were changing. */
function daysOf({ differences, changing }: ComparedDays): ReadonlyMap<number, readonly Difference[]> {
  const byDay = Map.groupBy(differences, ({ day }) => day);
  return new Map([...new Set([...byDay.keys(), ...changing])].map((day) => [day, byDay.get(day) ?? []]));
}

/** False if the day was changed since it was compared. */
function repairDay(
  store: Store,
  workspaceId: string,
  differences: readonly Difference[],
  state: string,
): Promise<boolean> {
  const [{ day } = { day: 0 }] = differences;
  const sums = sumsOf(differences);
  return store.write(async (tx) => {
    await lockWorkspace(tx, workspaceId);
    if ((await stateOfDay(tx, workspaceId, day)) !== state) return false;
    await insertRows(tx, "report_changes", changeRows(new Map([[workspaceId, sums]])));
    return true;
  });
}

/** Adds to the month what it lacks of its days. Increments that arrive meanwhile change both by the same. */
async function repairMonth(tx: Tx, workspaceId: string, month: number): Promise<readonly Difference[]> {
  await lockWorkspace(tx, workspaceId);
  const differences = await compareMonth(tx, workspaceId, month);
  await addToMonth(tx, workspaceId, sumsOf(differences));
  return differences;
}

function sumsOf(differences: readonly Difference[]) {
  const sums = createCellSums();
  for (const { stored, recounted, ...cell } of differences) sums.add(cell, recounted - stored);
  return sums;
}

/** Two recounts at the same time must not correct the same. */
async function lockWorkspace(tx: Tx, workspaceId: string): Promise<void> {
  if (dialectOf(tx) !== "mysql") return;
  await tx.selectFrom("workspaces").select("id").where("id", "=", workspaceId).forUpdate().execute();
}
