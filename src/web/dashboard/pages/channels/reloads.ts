import { useEffect } from "preact/hooks";
import type { Resource } from "#web/dashboard/ui/resource.tsx";

const reloadMs = 3_000;

/** Loads again every few seconds, while the page is visible. */
export function useReloads({ reload }: Pick<Resource<unknown>, "reload">): void {
  useEffect(() => {
    const timer = setInterval(() => void (document.hidden || reload()), reloadMs);
    return () => clearInterval(timer);
  }, [reload]);
}
