import { createCallThread } from "#knowledge/index/thread/call-thread.ts";
import type { Embedder } from "#models/embedding.ts";
import { ModelAway } from "#models/model-away.ts";
import { untilAborted, within } from "#runtime/abort.ts";
import type { Log } from "#runtime/log.ts";
import type { ManualVectors } from "./manual-vectors.ts";
import { readManualVectors, vectorOf } from "./manual-vectors.ts";
import { encoderModel } from "./model.ts";

export interface EncoderCall {
  readonly texts: readonly string[];
  readonly purpose: "background" | "question";
}

const questionsKept = 500;
/** Texts of one call in the background, behind which a question waits. */
const textsAtOnce = 2;
const limitMs = 30_000;
/** The thread holds the model's memory. */
const idleMs = 600_000;
/** How long a question waits for the model: it loads in half a second, and again after the thread was idle. */
const loadMsMax = 2_000;

/**
 * Encodes in a thread of this process. The thread starts at the first need. A question waits `loadMs` for the model, and
 * is answered by words if it is not loaded by then.
 */
export function createBuiltInEmbedder({
  log,
  entry,
  loadMs = loadMsMax,
}: {
  readonly log: Log;
  readonly entry?: URL;
  readonly loadMs?: number;
}): Embedder {
  const thread = createCallThread<EncoderCall, readonly Float32Array[]>({
    entry: entry ?? new URL("./worker.ts", import.meta.url),
    data: null,
    name: "the built-in encoder",
    log,
    isUrgent: ({ purpose }) => purpose === "question",
    limitMs: () => limitMs,
    idleMs,
  });
  const known = new Map<string, Float32Array>();
  let manual: Promise<ManualVectors> | undefined;
  let isLoaded = false;
  let trouble: string | null = null;

  async function encode(call: EncoderCall, signal?: AbortSignal): Promise<readonly Float32Array[]> {
    try {
      const vectors = await thread.run(call, signal);
      trouble = null;
      isLoaded = true;
      return vectors;
    } catch (error) {
      signal?.throwIfAborted();
      isLoaded = false;
      trouble = `the built-in encoder: ${error instanceof Error ? error.message : "unknown failure"}`;
      throw new ModelAway(trouble, { cause: error });
    }
  }

  /** A call that nobody waits for any more still loads the model. */
  function loaded<T>(encoded: Promise<T>, waitMs: number, signal: AbortSignal | undefined): Promise<T> {
    encoded.catch((error: unknown) => log.warn({ err: error }, "vectors: loading the built-in encoder failed"));
    const late = (): Error => new ModelAway("the built-in encoder is being loaded");
    return untilAborted(within(waitMs, encoded, late), signal);
  }

  /** None where the file cannot be read: its texts are encoded like others. */
  async function ofTheManual(): Promise<ManualVectors> {
    try {
      return await readManualVectors();
    } catch (error) {
      log.warn({ err: error }, "vectors: those of the manual cannot be read");
      return new Map();
    }
  }

  /** Encodes what the manual does not say. */
  async function background(texts: readonly string[], signal: AbortSignal | undefined): Promise<Float32Array[]> {
    const ofManual = await (manual ??= ofTheManual());
    const ready = texts.map((text) => vectorOf(text, ofManual));
    const missing = texts.filter((_, at) => ready[at] === undefined);
    const encoded: Float32Array[] = [];
    for (let at = 0; at < missing.length; at += textsAtOnce) {
      encoded.push(...(await encode({ texts: missing.slice(at, at + textsAtOnce), purpose: "background" }, signal)));
    }
    const fresh = encoded.values();
    return ready.map((vector) => vector ?? fresh.next().value ?? new Float32Array());
  }

  async function question(text: string, signal: AbortSignal | undefined): Promise<Float32Array> {
    const before = known.get(text);
    if (before !== undefined) return before;
    const isWarm = isLoaded && thread.started;
    // A damaged model fails as often as it is loaded.
    const waitMs = trouble === null ? loadMs : 0;
    const call: EncoderCall = { texts: [text], purpose: "question" };
    const [vector = new Float32Array()] = await (isWarm ? encode(call, signal) : loaded(encode(call), waitMs, signal));
    if (known.size >= questionsKept) known.delete(known.keys().next().value ?? "");
    known.set(text, vector);
    return vector;
  }

  return {
    model: encoderModel,
    isLocal: true,
    trouble: () => trouble,
    async embed(texts, purpose, signal) {
      if (purpose === "question") return Promise.all(texts.map((text) => question(text, signal)));
      return background(texts, signal);
    },
    close: () => thread.stop(),
  };
}
