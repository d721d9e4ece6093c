import { useEffect, useRef } from "preact/hooks";

const everyMs = 2_000;

/** Calls `load` every two seconds, one call at a time, while `isOn` and the tab is visible. */
export function usePolling(isOn: boolean, load: () => Promise<void>): void {
  const latest = useRef(load);
  latest.current = load;
  useEffect(() => {
    if (!isOn) return undefined;
    let isLoading = false;
    const timer = setInterval(() => {
      if (isLoading || document.visibilityState !== "visible") return;
      isLoading = true;
      // A request that failed is made again two seconds later.
      const ended = (): void => void (isLoading = false);
      latest.current().then(ended, ended);
    }, everyMs);
    return () => clearInterval(timer);
  }, [isOn]);
}
