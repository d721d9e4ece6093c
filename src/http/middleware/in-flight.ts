/** Requests that may still store something after their connections are closed. */
export interface InFlight {
  /** Counts a request. The returned function ends it. */
  enter(): () => void;
  /** Resolves when no request is left, or after `timeoutMs`. */
  settled(timeoutMs: number): Promise<void>;
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
    async settled(timeoutMs) {
      if (count === 0) return;
      const done = Promise.withResolvers<void>();
      onSettled = done.resolve;
      const timer = setTimeout(done.resolve, timeoutMs);
      await done.promise;
      clearTimeout(timer);
    },
  };
}
