import { expect, it } from "vitest";
import { vectorsFromBytes, vectorsToBytes } from "./packed.ts";

const dimensions = 512;

function made(seed: number): Float32Array {
  let state = seed;
  const numbers = Float32Array.from(
    { length: dimensions },
    () => (state = (state * 48_271) % 2_147_483_647) / 2 ** 30 - 1,
  );
  const length = Math.hypot(...numbers);
  return numbers.map((each) => each / length);
}
const dot = (left: Float32Array, right: Float32Array): number =>
  left.reduce((sum, each, at) => sum + each * (right[at] ?? 0), 0);

it("keeps the similarities of vectors that are stored in bytes", () => {
  const vectors = Array.from({ length: 20 }, (_, at) => made(at + 1));
  const bytes = vectorsToBytes(vectors);
  expect(bytes.byteLength).toBe(20 * dimensions);
  const read = vectorsFromBytes(bytes, dimensions);
  for (const [at, vector] of vectors.entries()) {
    for (const [other, second] of vectors.entries()) {
      const change = Math.abs(dot(read[at] ?? vector, read[other] ?? second) - dot(vector, second));
      expect(change).toBeLessThan(0.01);
    }
  }
});

it("reads the same vectors from a Buffer that is a part of another one", () => {
  const vectors = [made(1), made(2)];
  const bytes = vectorsToBytes(vectors);
  const within = Buffer.concat([Buffer.alloc(7, 1), bytes, Buffer.alloc(9, 1)]).subarray(7, 7 + bytes.length);
  expect(vectorsFromBytes(within, dimensions)).toEqual(vectorsFromBytes(bytes, dimensions));
});

it("reads no vector from no bytes", () => {
  expect(vectorsFromBytes(vectorsToBytes([]), dimensions)).toEqual([]);
});
