/** Lanes that may have work: first come, first served within a kind, and the kinds take turns. */
export interface ReadyLanes {
  /** A lane that is already here keeps its time. */
  add(lane: string, since: number): void;
  remove(lanes: readonly string[]): void;
  size(): number;
  /** Time of the lane that has waited longest, of those whose time `counts`. */
  oldest(counts: (since: number) => boolean): number | undefined;
  /** At most `count` lanes, at most `roomFor` of each kind, one of each kind in turn. */
  next(count: number, roomFor: (kind: string) => number, isRunning: (lane: string) => boolean): string[];
}

/** `isHeld`: a lane that waits since then must not start yet. `alone`: no lane of another kind waits. */
export function createReadyLanes(isHeld: (since: number, kind: string, alone: boolean) => boolean): ReadyLanes {
  const kinds = new Map<string, Map<string, number>>();

  function* inOrder(
    kind: string,
    room: number,
    isRunning: (lane: string) => boolean,
  ): Generator<string, undefined, undefined> {
    let left = room;
    for (const [lane, since] of kinds.get(kind) ?? []) {
      // Later lanes have waited less.
      if (left <= 0 || isHeld(since, kind, kinds.size === 1)) return;
      if (isRunning(lane)) continue;
      left -= 1;
      yield lane;
    }
  }

  return {
    add(lane, since) {
      const kind = kindOf(lane);
      const lanes = kinds.get(kind) ?? new Map<string, number>();
      kinds.set(kind, lanes);
      if (!lanes.has(lane)) lanes.set(lane, since);
    },
    remove(lanes) {
      for (const lane of lanes) {
        const kind = kindOf(lane);
        const of = kinds.get(kind);
        if (of?.delete(lane) !== true) continue;
        // Moves the kind to the end, so that other kinds come first where there is not room for all.
        kinds.delete(kind);
        if (of.size > 0) kinds.set(kind, of);
      }
    },
    size: () => [...kinds.values()].reduce((total, lanes) => total + lanes.size, 0),
    oldest(counts) {
      const firsts = [...kinds.values()].flatMap((lanes) => lanes.values().find(counts) ?? []);
      return firsts.length === 0 ? undefined : Math.min(...firsts);
    },
    next(count, roomFor, isRunning) {
      const found: string[] = [];
      let turns = [...kinds.keys()].map((kind) => inOrder(kind, roomFor(kind), isRunning));
      while (turns.length > 0) {
        turns = turns.filter((turn) => {
          if (found.length >= count) return false;
          const { value } = turn.next();
          if (value !== undefined) found.push(value);
          return value !== undefined;
        });
      }
      return found;
    },
  };
}

export const kindOf = (lane: string): string => lane.split(":", 1)[0] ?? lane;
