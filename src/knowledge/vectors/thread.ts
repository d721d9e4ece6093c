import type { Log } from "#runtime/log.ts";
import type { CallThread } from "#knowledge/index/thread/call-thread.ts";
import { createCallThread } from "#knowledge/index/thread/call-thread.ts";

/** Unit vectors, stored one after another in shared memory: those of a passage together, that of its heading first. */
export interface VectorBlock {
  readonly numbers: SharedArrayBuffer;
  /** A byte for each vector: 1 for the first of a passage. */
  readonly firsts: SharedArrayBuffer;
  readonly count: number;
}

export interface NearestCall {
  readonly vector: Float32Array;
  readonly blocks: readonly VectorBlock[];
  readonly limit: number;
}

export interface Hit {
  readonly block: number;
  /** The first vector of the passage. */
  readonly at: number;
  readonly similarity: number;
}

/** Up to this many numbers are compared on the calling thread, which is faster than the messages. */
const hereMaxDefault = 500_000;
const limitMs = 10_000;
const idleMs = 60_000;

export interface Nearest {
  /** The nearest passages of all blocks, nearest first. */
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

/**
 * The similarity of a passage is the mean of its heading's and of its nearest sentence's: headings alone are too short,
 * and single sentences are near to many questions.
 */
export function nearest({ vector, blocks, limit }: NearestCall): Hit[] {
  const hits: Hit[] = [];
  let least = Number.NEGATIVE_INFINITY;
  const take = (hit: Hit): void => {
    if (hits.length >= limit * 2 && hit.similarity <= least) return;
    hits.push(hit);
    if (hits.length < limit * 4) return;
    hits.sort((left, right) => right.similarity - left.similarity);
    hits.length = limit;
    least = hits.at(-1)?.similarity ?? least;
  };
  for (const [block, { numbers, firsts, count }] of blocks.entries()) {
    const all = new Float32Array(numbers);
    const isFirst = new Uint8Array(firsts);
    for (let at = 0; at < count;) {
      const heading = similarityAt(all, at, vector);
      let sentence = Number.NEGATIVE_INFINITY;
      let next = at + 1;
      for (; next < count && isFirst[next] === 0; next += 1) {
        sentence = Math.max(sentence, similarityAt(all, next, vector));
      }
      take({ block, at, similarity: next === at + 1 ? heading : (heading + sentence) / 2 });
      at = next;
    }
  }
  return hits.toSorted((left, right) => right.similarity - left.similarity).slice(0, limit);
}

function similarityAt(all: Float32Array, at: number, vector: Float32Array): number {
  const start = at * vector.length;
  let similarity = 0;
  for (let i = 0; i < vector.length; i += 1) similarity += (vector[i] ?? 0) * (all[start + i] ?? 0);
  return similarity;
}

/** The similarity of one passage, as {@link nearest} computes it. `parts`: its vectors, that of its heading first. */
export function similarityOfParts(question: Float32Array, parts: readonly Float32Array[]): number {
  const numbers = Float32Array.from(parts.flatMap((part) => [...part]));
  const [heading = 0, ...sentences] = parts.map((_, at) => similarityAt(numbers, at, question));
  return sentences.length === 0 ? heading : (heading + Math.max(...sentences)) / 2;
}
