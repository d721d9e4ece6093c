import type { Log } from "#runtime/log.ts";
import type { CallThread } from "#knowledge/index/thread/call-thread.ts";
import { createCallThread } from "#knowledge/index/thread/call-thread.ts";

/** Unit vectors, stored one after another in shared memory. */
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

/** Up to this many numbers are compared on the calling thread, which is faster than the messages. */
const hereMaxDefault = 500_000;
const limitMs = 10_000;
const idleMs = 60_000;

export interface Nearest {
  /** The nearest vectors of all blocks, nearest first. */
  find(call: NearestCall, signal?: AbortSignal): Promise<readonly Hit[]>;
  stop(): Promise<void>;
}

/** Compares vectors. Large comparisons run in a worker thread. */
export function createNearest({
  log,
  hereMax = hereMaxDefault,
}: {
  readonly log: Log;
  readonly hereMax?: number;
}): Nearest {
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
  const hits: Hit[] = [];
  let least = Number.NEGATIVE_INFINITY;
  for (const [block, { numbers, count }] of blocks.entries()) {
    const all = new Float32Array(numbers);
    for (let at = 0, start = 0; at < count; at += 1, start += dimensions) {
      let similarity = 0;
      for (let i = 0; i < dimensions; i += 1) similarity += (vector[i] ?? 0) * (all[start + i] ?? 0);
      if (hits.length >= limit * 2 && similarity <= least) continue;
      hits.push({ block, at, similarity });
      if (hits.length >= limit * 4) {
        hits.sort((left, right) => right.similarity - left.similarity);
        hits.length = limit;
        least = hits.at(-1)?.similarity ?? least;
      }
    }
  }
  return hits.toSorted((left, right) => right.similarity - left.similarity).slice(0, limit);
}
