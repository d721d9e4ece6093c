/** Types of pictures that agents may have. SVG is none of them: it can hold scripts. */
export type PictureType = "image/png" | "image/jpeg" | "image/webp";

const beginsWith = (bytes: Uint8Array, at: number, expected: readonly number[]): boolean =>
  expected.every((byte, i) => bytes[at + i] === byte);

const riff = [0x52, 0x49, 0x46, 0x46];
const webp = [0x57, 0x45, 0x42, 0x50];

/** The type by the bytes, whatever the sender says. Undefined: it is no such picture. */
export function pictureTypeOf(bytes: Uint8Array): PictureType | undefined {
  if (beginsWith(bytes, 0, [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])) return "image/png";
  if (beginsWith(bytes, 0, [0xff, 0xd8, 0xff])) return "image/jpeg";
  return beginsWith(bytes, 0, riff) && beginsWith(bytes, 8, webp) ? "image/webp" : undefined;
}
