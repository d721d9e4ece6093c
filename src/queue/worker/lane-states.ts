import type { OutboxRow } from "#database/queries/outbox.ts";
import type { WorkTable } from "#queue/work-table.ts";
import type { ReadyLanes } from "./ready-lanes.ts";
import { kindOf } from "./ready-lanes.ts";

/**
 * States of the lanes that this process knows of: ready (may have due rows), claimed (leased, waits for room) and running.
 * A lane has one state at most, but a running lane may also be ready or claimed for its next run.
 */
export interface LaneStates {
  readonly ready: ReadyLanes;
  hasRoom(): boolean;
  isRunning(lane: string): boolean;
  isIdle(): boolean;
  /** Kinds that run in as many lanes as they may. */
  fullKinds(): string[];
  /** Ready lanes that can be claimed now. */
  claimable(): string[];
  /**
   * Returns the lanes that could start now, after the ready and the claimed ones. `duringBurst`: also lanes of limited
   * kinds.
   */
  offer(lanes: readonly string[], duringBurst: boolean): readonly string[];
  /** Claimed rows, which start as soon as there is room. */
  addClaimed(rows: readonly OutboxRow[]): void;
  /** Calls `start` for the claimed lanes that have room; while closing, for all that do not run. */
  startClaimed(closing: boolean, start: (lane: string, rows: readonly OutboxRow[]) => void): void;
  started(lane: string): void;
  ended(lane: string): void;
  /** Lanes whose rows this process has leased. */
  leased(): string[];
  /** Whether work runs that has no `yieldsMs`. */
  isBusy(): boolean;
  runningByKind(): ReadonlyMap<string, number>;
}

export function createLaneStates(works: WorkTable, lanesMax: number, ready: ReadyLanes): LaneStates {
  const running = new Set<string>();
  const claimed = new Map<string, readonly OutboxRow[]>();

  function roomFor(kind: string): number {
    const max = works.get(kind)?.lanesMax;
    if (max === undefined) return Number.POSITIVE_INFINITY;
    return max - [...running].filter((lane) => kindOf(lane) === kind).length;
  }

  const claimable = (): string[] => ready.next(lanesMax - running.size, roomFor, (lane) => running.has(lane));

  return {
    ready,
    hasRoom: () => running.size < lanesMax,
    isRunning: (lane) => running.has(lane),
    isIdle: () => running.size === 0,
    fullKinds: () => works.kinds.filter((kind) => roomFor(kind) <= 0),
    claimable,
    offer(lanes, duringBurst) {
      const before = [...claimed.keys(), ...claimable()];
      let room = lanesMax - running.size - before.length;
      return lanes.filter((lane) => {
        const kind = kindOf(lane);
        const declaration = works.get(kind);
        if (room <= 0 || running.has(lane) || claimed.has(lane)) return false;
        if (declaration === undefined || (declaration.lanesMax !== undefined && !duringBurst)) return false;
        if (before.filter((other) => kindOf(other) === kind).length >= roomFor(kind)) return false;
        before.push(lane);
        room -= 1;
        return true;
      });
    },
    addClaimed(rows) {
      for (const [lane, of] of Map.groupBy(rows, (row) => row.lane)) {
        claimed.set(lane, [...(claimed.get(lane) ?? []), ...of]);
      }
    },
    startClaimed(closing, start) {
      for (const [lane, rows] of claimed) {
        if (running.size >= lanesMax && !closing) return;
        if (running.has(lane) || (roomFor(kindOf(lane)) <= 0 && !closing)) continue;
        claimed.delete(lane);
        start(lane, rows);
      }
    },
    started: (lane) => void running.add(lane),
    ended: (lane) => void running.delete(lane),
    leased: () => [...running, ...claimed.keys()],
    isBusy: () => [...running].some((lane) => works.get(kindOf(lane))?.yieldsMs === undefined),
    runningByKind: () => new Map([...Map.groupBy(running, kindOf)].map(([kind, lanes]) => [kind, lanes.length])),
  };
}
