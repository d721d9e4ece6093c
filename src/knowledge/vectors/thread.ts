import type { Log } from "#runtime/log.ts";
import type { CallThread } from "#knowledge/index/call-thread.ts";
import { createCallThread } from "#knowledge/index/call-thread.ts";

/** Vectors of the length 1, one behind the other, in memory that threads share. */
export interface VectorBlock {
  readonly numbers: SharedArrayBuffer;
  readonly count: number;
}

export interface NearestCall {
  readonly vector: Float32Array;
  readonly blocks: readonly VectorBlock[];
  readonly limit: number;
}

export interface Hit {
  readonly block: number;
  readonly at: number;
  readonly similarity: number;
}

/** So many numbers are compared where the caller is, in less time than the way to the thread and back takes. */
const here = 500_000;
const limitMs = 10_000;
const idleMs = 60_000;

export interface Nearest {
  /** The nearest of all blocks' vectors, nearest first. */
  find(call: NearestCall, signal?: AbortSignal): Promise<readonly Hit[]>;
  stop(): Promise<void>;
}

/** Compares vectors, large numbers of them off the event loop. */
export function createNearest({ log, hereMax = here }: { readonly log: Log; readonly hereMax?: number }): Nearest {
  const thread: CallThread<NearestCall, readonly Hit[]> = createCallThread({
    entry: new URL("./worker.ts", import.meta.url),
    data: null,
    name: "the comparison of vectors",
    log,
    isUrgent: () => true,
    limitMs: () => limitMs,
    idleMs,
  });
  return {
    async find(call, signal) {
      const numbers = call.blocks.reduce((sum, { count }) => sum + count, 0) * call.vector.length;
      return numbers <= hereMax ? nearest(call) : thread.run(call, signal);
    },
    stop: () => thread.stop(),
  };
}

export function nearest({ vector, blocks, limit }: NearestCall): Hit[] {
  const dimensions = vector.length;
  const found: Hit[] = [];
  let least = Number.NEGATIVE_INFINITY;
  for (const [block, { numbers, count }] of blocks.entries()) {
    const all = new Float32Array(numbers);
    for (let at = 0, start = 0; at < count; at += 1, start += dimensions) {
      let similarity = 0;
      for (let i = 0; i < dimensions; i += 1) similarity += (vector[i] ?? 0) * (all[start + i] ?? 0);
      if (found.length >= limit * 2 && similarity <= least) continue;
      found.push({ block, at, similarity });
      if (found.length >= limit * 4) {
        found.sort((left, right) => right.similarity - left.similarity);
        found.length = limit;
        least = found.at(-1)?.similarity ?? least;
      }
    }
  }
  return found.toSorted((left, right) => right.similarity - left.similarity).slice(0, limit);
}
