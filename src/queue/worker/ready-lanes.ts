/** Lanes that may have work, in the order in which they came to have it, each kind by itself. */
export interface ReadyLanes {
  /** Of a lane that waits already, the time since when stays. */
  add(lane: string, since: number): void;
  remove(lanes: readonly string[]): void;
  size(): number;
  /** Since when the first waits of those that wait since a time that counts. */
  oldest(counts: (since: number) => boolean): number | undefined;
  /** So many at most, and of each kind as many as there is room for; one of each kind in turn. */
  next(count: number, roomFor: (kind: string) => number, isRunning: (lane: string) => boolean): string[];
}

/** `isHeld`: what waits since then is not to be begun yet; `alone`: nothing of another kind waits. */
export function createReadyLanes(isHeld: (since: number, kind: string, alone: boolean) => boolean): ReadyLanes {
  const kinds = new Map<string, Map<string, number>>();

  function* inOrder(
    kind: string,
    room: number,
    isRunning: (lane: string) => boolean,
  ): Generator<string, undefined, undefined> {
    let left = room;
    for (const [lane, since] of kinds.get(kind) ?? []) {
      // Those after it have not waited as long.
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
        // Goes to the end, so that it is the others' turn where there is not room for all.
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
