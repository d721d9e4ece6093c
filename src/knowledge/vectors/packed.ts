/** Numbers of a unit vector are small: most of 512 are below 0.2. */
const bytesPerOne = 400;

/**
 * The vectors of one passage, one after another, with a byte for each number. That takes a quarter of the space, and
 * changes a similarity by less than 0.01.
 */
export function vectorsToBytes(vectors: readonly Float32Array[]): Uint8Array {
  const numbers = vectors.flatMap((vector) => [...vector]);
  const bytes = Int8Array.from(numbers, (each) => Math.max(-127, Math.min(127, Math.round(each * bytesPerOne))));
  return new Uint8Array(bytes.buffer);
}

/** Returns unit vectors of this length. */
export function vectorsFromBytes(bytes: Uint8Array, dimensions: number): readonly Float32Array[] {
  return Array.from({ length: Math.floor(bytes.byteLength / dimensions) }, (_, at) => {
    const numbers = new Int8Array(bytes.slice(at * dimensions, (at + 1) * dimensions).buffer);
    const length = Math.hypot(...numbers) || 1;
    return Float32Array.from(numbers, (each) => each / length);
  });
}
