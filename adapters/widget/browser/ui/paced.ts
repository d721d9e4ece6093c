/** A frame of the screen. More than one drawing within it is never seen. */
const frameMs = 16;

/**
 * Calls `draw` at once, and at most once in the time that the last drawing took: a batch of messages that arrives
 * together is drawn together. The last call is always followed by a drawing, unless `ended` aborts.
 */
export function createPaced(draw: () => void, ended: AbortSignal): () => void {
  let freeAt = 0;
  let timer: number | undefined;

  const run = (): void => {
    timer = undefined;
    const startedAt = performance.now();
    draw();
    const endedAt = performance.now();
    freeAt = endedAt + Math.max(frameMs, endedAt - startedAt);
  };

  ended.addEventListener("abort", () => clearTimeout(timer));
  return () => {
    if (timer !== undefined || ended.aborted) return;
    const waitMs = freeAt - performance.now();
    if (waitMs <= 0) run();
    else timer = window.setTimeout(run, waitMs);
  };
}
