/** Requests that still have something to store when their connections are gone. */
export interface InFlight {
  /** Enters a request; the end of it. */
  enter(): () => void;
  /** Resolves when none is left, or after `mostMs`. */
  settled(mostMs: number): Promise<void>;
}

export function createInFlight(): InFlight {
  let count = 0;
  let onSettled: (() => void) | undefined;
  return {
    enter() {
      count += 1;
      let left = false;
      return () => {
        if (left) return;
        left = true;
        count -= 1;
        if (count === 0) onSettled?.();
      };
    },
    async settled(mostMs) {
      if (count === 0) return;
      const done = Promise.withResolvers<void>();
      onSettled = done.resolve;
      const timer = setTimeout(done.resolve, mostMs);
      await done.promise;
      clearTimeout(timer);
    },
  };
}
