import { drawing, outlines } from "#web/shared/elements.ts";

export { el } from "#web/shared/elements.ts";

export const icon = (name: keyof typeof outlines, filled = false): SVGSVGElement =>
  drawing(outlines[name], { size: "24", stroke: "2", filled });

/** Initials of at most two words, for a face that has no picture. */
export function initials(name: string): string {
  const words = name.trim().split(/\s+/u);
  const letters = [words[0], words.length > 1 ? words.at(-1) : undefined].map((word) => [...(word ?? "")][0] ?? "");
  return letters.join("").toUpperCase();
}
