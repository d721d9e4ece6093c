import { hash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { vectorsFromBytes, vectorsToBytes } from "#knowledge/vectors/packed.ts";
import { encoderDimensions, encoderModel } from "./model.ts";

// A fresh installation answers from the manual. To encode it takes two minutes, in which words alone would answer, so its
// vectors are part of the project: `node test/support/project/manual-vectors.ts` writes them.

export const manualVectorsUrl = new URL("./manual-vectors.bin", import.meta.url);

/** Vectors in the form of packed.ts, by the key of their text. */
export type ManualVectors = ReadonlyMap<string, Uint8Array>;

const keyBytes = 8;
const recordBytes = keyBytes + encoderDimensions;

/** The key of a text. It depends on the model, so vectors of another one are never found. */
export const vectorKey = (text: string): string => hash("sha256", `${encoderModel}\n${text}`).slice(0, keyBytes * 2);

export async function readManualVectors(): Promise<ManualVectors> {
  const file = await readFile(manualVectorsUrl);
  const vectors = new Map<string, Uint8Array>();
  for (let at = 0; at + recordBytes <= file.length; at += recordBytes) {
    vectors.set(file.toString("hex", at, at + keyBytes), file.subarray(at + keyBytes, at + recordBytes));
  }
  return vectors;
}

/** The bytes of the file. They are sorted, so that a changed page changes few of them. */
export function manualVectorsFile(vectors: ManualVectors): Buffer {
  const sorted = [...vectors].toSorted(([left], [right]) => (left < right ? -1 : 1));
  return Buffer.concat(sorted.flatMap(([key, vector]) => [Buffer.from(key, "hex"), vector]));
}

export const packVector = (vector: Float32Array): Uint8Array => vectorsToBytes([vector]);

export function vectorOf(text: string, vectors: ManualVectors): Float32Array | undefined {
  const packed = vectors.get(vectorKey(text));
  return packed && vectorsFromBytes(packed, encoderDimensions)[0];
}
