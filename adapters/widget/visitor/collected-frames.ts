import type { Log } from "#runtime/log.ts";
import type { ServerFrame } from "../frames.ts";
import { closeCodes } from "../frames.ts";
import type { VisitorSocket } from "./visitor-socket.ts";

/** From this size on the rest waits for the browser's next request. */
const fullBytes = 256 * 1024;

/** Collects the frames for one HTTP response. */
export interface CollectedFrames extends VisitorSocket {
  /** Everything collected so far. */
  frames(): readonly ServerFrame[];
  /** The code with which a socket would have been closed; null: it is open. */
  closeCode(): number | null;
  /** Resolves when there is more to send than what comes with every request: at once, with a later frame, or the close. */
  news(): Promise<void>;
  /** Nothing is collected any more, and running work ends early. */
  end(): void;
}

export function createCollectedFrames(log: Log): CollectedFrames {
  const frames: ServerFrame[] = [];
  const running = new Set<Promise<void>>();
  const news = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  /** Resolves when further work is held back. */
  let hold = Promise.withResolvers<void>();
  /** Number of works that wait for the next request. */
  let held = 0;
  let bytes = 0;
  let closeCode: number | null = null;
  let isEnded = false;
  let isAwaited = false;

  const close = (code: number): void => {
    closeCode ??= code;
    news.resolve();
    ended.resolve();
  };

  const collect = (frame: ServerFrame): void => {
    if (isEnded || closeCode !== null) return;
    frames.push(frame);
    bytes += JSON.stringify(frame).length;
    if (isAwaited || (frame.kind !== "ready" && frame.kind !== "changed")) news.resolve();
  };

  return {
    send: collect,
    async sendPaced(frame) {
      collect(frame);
      // A long history continues with the next request.
      if (bytes < fullBytes) return;
      held += 1;
      hold.resolve();
      await ended.promise;
    },
    run(work) {
      const promise = work()
        .catch((error: unknown) => {
          log.error({ err: error }, "widget: request failed");
          close(1011);
        })
        .finally(() => running.delete(promise));
      running.add(promise);
    },
    close,
    closeAsForeign: () => close(closeCodes.badToken),
    isOpen: () => !isEnded && closeCode === null,
    isClosed: () => isEnded || closeCode !== null,
    /** Work that waits for the next request is not waited for: it ends with this one. */
    async settled() {
      while (running.size > held) {
        await Promise.race([...running, hold.promise]);
        hold = Promise.withResolvers();
      }
    },
    frames: () => frames,
    closeCode: () => closeCode,
    news() {
      isAwaited = true;
      return news.promise;
    },
    end() {
      isEnded = true;
      news.resolve();
      ended.resolve();
    },
  };
}
