import type { Status } from "#domain/conversation/status.ts";
import { statuses } from "#domain/conversation/status.ts";
import { slaState } from "#domain/conversation/sla.ts";
import type { WorkspaceSettings } from "#domain/workspace/settings.ts";
import type { ConversationRow } from "#database/queries/conversations.ts";
import { slaClock } from "#database/queries/conversations.ts";
import { Type } from "typebox";
import type { PayloadOf, Work, WorkDeclaration } from "#database/work.ts";
import { declareWork, workKind } from "#database/work.ts";
import type { NewWork } from "#database/queries/outbox.ts";
import { finishWork, insertWork } from "#database/queries/outbox.ts";
import type { Effects, PublishEffects } from "#conversations/work/effects.ts";
import { applyDueChangesNow } from "./timer-work.ts";
import type { Clock } from "#runtime/clock.ts";
import type { ConversationSearch } from "#database/search/contract.ts";
import type { Reader, Store } from "#database/contract.ts";
import { nextTimer } from "./timers.ts";
import { readWorkspace } from "#database/queries/workspaces.ts";

/** States whose timers depend on settings. In the last three only timers of rules do. */
const timed = ["open", "escalated", "resolved", "claimed", "snoozed", "archived"] as const satisfies readonly Status[];
const ruled: ReadonlySet<Status> = new Set(["claimed", "snoozed", "archived"]);

const pageSize = 500;
const settledAtOnce = 20;
/** Other processes may use settings that are a second old. After this delay their changes are stored too. */
const delayMs = 2_000;

/** The move of timers after a change of a workspace's settings. */
const rescheduleKind = workKind(
  "retime",
  Type.Object({
    workspaceId: Type.String(),
    status: Type.Optional(Type.Enum([...statuses])),
    after: Type.Optional(Type.Object({ startedAt: Type.Number(), id: Type.String() })),
  }),
  { unordered: true },
);

type RescheduleTimers = PayloadOf<typeof rescheduleKind>;

const rescheduleLane = (workspaceId: string): string => `retime:${workspaceId}`;

/** Must be stored in the transaction that changes the settings. */
export const rescheduleWork = (workspaceId: string, now: number): NewWork =>
  rescheduleKind.queued(rescheduleLane(workspaceId), { workspaceId }, now + delayMs);

interface RescheduleDependencies {
  readonly store: Store;
  readonly clock: Clock;
  readonly search: ConversationSearch;
  readonly publishEffects: PublishEffects;
}

export function declareReschedule(dependencies: RescheduleDependencies): WorkDeclaration {
  return declareWork(rescheduleKind, {
    batch: true,
    attemptsMax: 20,
    lanesMax: 1,
    run: (rows, signal) => rescheduleTimers(dependencies, rows, signal),
  });
}

/**
 * Moves timers of existing conversations after a change of settings, one page per transaction; each queues the next.
 * Only late timers are moved. A timer that fires too early reschedules itself.
 */
async function rescheduleTimers(
  dependencies: RescheduleDependencies,
  rows: readonly Work<RescheduleTimers>[],
  signal: AbortSignal,
): Promise<void> {
  const { store, clock, search, publishEffects } = dependencies;
  // A change of settings during the run starts it again. An old page must not make it lose the pages before.
  const [work] = rows.map((row) => row.payload).toSorted(byPage);
  if (work === undefined) return;
  const { workspaceId, status = timed[0], after } = work;
  const workspace = await readWorkspace(store.read, workspaceId);
  if (workspace === undefined) {
    await store.write((tx) => finishWork(tx, rows));
    return;
  }
  const page = await pageOf(store.read, workspaceId, status, after);
  const now = clock.now();
  const wrong = page.filter((row) => isWrong(row, workspace.settings, now)).map(({ id }) => id);
  for (let at = 0; at < wrong.length; at += settledAtOnce) {
    signal.throwIfAborted();
    const effects = await store.write(async (tx) => {
      const done: Effects[] = [];
      for (const id of wrong.slice(at, at + settledAtOnce)) {
        const settled = await applyDueChangesNow(tx, search, workspace, id, clock.now());
        if (settled !== null) done.push(settled);
      }
      return done;
    });
    for (const each of effects) publishEffects(each);
  }
  const next = following(work, status, page, workspace.settings);
  await store.write(async (tx) => {
    await finishWork(tx, rows);
    if (next === undefined) return;
    const dueAt = clock.now();
    await insertWork(tx, [rescheduleKind.queued(rescheduleLane(workspaceId), next, dueAt)], dueAt);
  });
}

function byPage(left: RescheduleTimers, right: RescheduleTimers): number {
  const placeOf = ({ status }: RescheduleTimers): number => (status === undefined ? -1 : timed.indexOf(status));
  const timeOf = ({ after }: RescheduleTimers): number => after?.startedAt ?? 0;
  const idOf = ({ after }: RescheduleTimers): string => after?.id ?? "";
  return placeOf(left) - placeOf(right) || timeOf(left) - timeOf(right) || (idOf(left) < idOf(right) ? -1 : 1);
}

function following(
  { workspaceId }: RescheduleTimers,
  status: (typeof timed)[number],
  page: readonly ConversationRow[],
  settings: WorkspaceSettings,
): RescheduleTimers | undefined {
  const last = page.at(-1);
  if (last !== undefined && page.length === pageSize) {
    return { workspaceId, status, after: { startedAt: last.started_at, id: last.id } };
  }
  const nextStatus = timed[timed.indexOf(status) + 1];
  const goesOn =
    nextStatus !== undefined && (!ruled.has(nextStatus) || settings.rules.some((rule) => rule.when.kind === "time"));
  return goesOn ? { workspaceId, status: nextStatus } : undefined;
}

function pageOf(
  db: Reader,
  workspaceId: string,
  status: Status,
  after: RescheduleTimers["after"],
): Promise<ConversationRow[]> {
  let query = db
    .selectFrom("conversations")
    .selectAll()
    .where("workspace_id", "=", workspaceId)
    .where("status", "=", status);
  if (after !== undefined) {
    query = query
      .where("started_at", ">=", after.startedAt)
      .where((eb) => eb.or([eb("started_at", ">", after.startedAt), eb("id", ">", after.id)]));
  }
  return query.orderBy("started_at").orderBy("id").limit(pageSize).execute();
}

function isWrong(row: ConversationRow, settings: WorkspaceSettings, now: number): boolean {
  if (
    row.sla_running_since !== null &&
    slaState(slaClock(row), settings.slaTargets[row.priority], now) !== row.sla_state
  )
    return true;
  return (nextTimer(row, settings, now) ?? Number.POSITIVE_INFINITY) < (row.timer_at ?? Number.POSITIVE_INFINITY);
}
