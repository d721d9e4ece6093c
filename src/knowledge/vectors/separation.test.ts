import { describe, expect, it } from "vitest";
import type { SampledPassage } from "./separation.ts";
import { isBetter, pairsOf, separationOf, spreadOf } from "./separation.ts";

const passage = (documentId: string, title: string): SampledPassage => ({
  documentId,
  title,
  text: `The first of ${title}. The second of ${title}. The third of ${title}.`,
});

describe("pairs", () => {
  it("asks a sentence of its passage, without the sentence, and of passages of other documents", () => {
    const { related, unrelated } = pairsOf([passage("a", "Tents"), passage("a", "Stoves"), passage("b", "Bags")]);
    expect(related[0]).toEqual({
      question: "The first of Tents.",
      parts: ["Tents", "The second of Tents.", "The third of Tents."],
    });
    expect(related).toHaveLength(6);
    const ofTents = unrelated.filter(({ question }) => question.includes("Tents"));
    expect(new Set(ofTents.map(({ parts }) => parts[0]))).toEqual(new Set(["Bags"]));
  });

  it("compares headings where there is one document only", () => {
    const { unrelated } = pairsOf([passage("a", "Tents"), passage("a", "Tents"), passage("a", "Stoves")]);
    const ofTents = unrelated.filter(({ question }) => question.includes("Tents"));
    expect(new Set(ofTents.map(({ parts }) => parts[0]))).toEqual(new Set(["Stoves"]));
  });

  it("are none for a single passage and for passages of one sentence", () => {
    expect(pairsOf([]).related).toEqual([]);
    expect(pairsOf([passage("a", "Tents")]).unrelated).toEqual([]);
    expect(pairsOf([{ documentId: "a", title: "", text: "There is one sentence." }]).related).toEqual([]);
  });
});

describe("separation", () => {
  it("is the share of related pairs that are nearer than an unrelated one", () => {
    expect(separationOf({ related: [0.9, 0.8], unrelated: [0.1, 0.2] })).toBe(1);
    expect(separationOf({ related: [0.5, 0.5], unrelated: [0.5] })).toBe(0.5);
    expect(separationOf({ related: [0.9, 0.1], unrelated: [0.5] })).toBe(0.5);
  });

  it("is better only where the difference is more than chance", () => {
    const values = (count: number, from: number, step: number): number[] =>
      Array.from({ length: count }, (_, at) => from + ((at * 7) % count) * step);
    const plain = { related: values(100, 0.3, 0.004), unrelated: values(100, 0.2, 0.004) };
    const clear = { related: values(100, 0.5, 0.004), unrelated: values(100, 0.2, 0.004) };
    const noisy = { ...plain, related: plain.related.map((each, at) => each + (at % 2 === 0 ? 0.05 : -0.045)) };
    expect(isBetter(plain, clear)).toBe(true);
    expect(isBetter(clear, plain)).toBe(false);
    expect(isBetter(plain, noisy)).toBe(false);
    expect(isBetter(plain, { ...clear, related: clear.related.slice(1) })).toBe(false);
  });

  it("takes both kinds with the same weight for the spread", () => {
    const { mean, deviation } = spreadOf({ related: [0.8], unrelated: [0.2, 0.2, 0.2] });
    expect(mean).toBeCloseTo(0.5, 10);
    expect(deviation).toBeCloseTo(0.3, 10);
  });
});
