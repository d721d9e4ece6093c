/** A function that runs `work` after a delay. Calls until then are one with the first. */
export function createDelayed(work: () => void, delayMs: () => number): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  return () => {
    timer ??= setTimeout(() => {
      timer = undefined;
      work();
    }, delayMs());
  };
}

/** How often the list is loaded at most: in a large team something changes all the time. */
export const listEveryMs = (): number => (document.visibilityState === "visible" ? 1_000 : 10_000);
