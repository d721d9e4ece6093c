import { expect, it } from "vitest";
import { manualTexts } from "#test/support/project/manual-vectors.ts";
import { skipped } from "#test/support/skipped.ts";
import { readManualVectors, vectorOf } from "./manual-vectors.ts";
import { isEncoderInstalled, loadEncoder } from "./model.ts";

it("has a vector for each text of the manual, and no other", async () => {
  const [texts, vectors] = await Promise.all([manualTexts(), readManualVectors()]);
  const missing = [...texts].flatMap(([key, text]) => (vectors.has(key) ? [] : [text]));
  const old = [...vectors.keys()].filter((key) => !texts.has(key));
  expect({ missing, old }, "run: node test/support/project/manual-vectors.ts").toEqual({ missing: [], old: [] });
});

if (isEncoderInstalled()) {
  it("has the vectors that the built-in encoder makes", async () => {
    const [texts, vectors] = await Promise.all([manualTexts(), readManualVectors()]);
    const encode = await loadEncoder();
    for (const text of [...texts.values()].filter((_, at) => at % 500 === 0)) {
      const [encoded = new Float32Array()] = await encode([text]);
      const similarity = vectorOf(text, vectors)?.reduce((sum, each, at) => sum + each * (encoded[at] ?? 0), 0);
      expect(similarity, text).toBeGreaterThan(0.99);
    }
  });
} else skipped("vectors of the manual", "the encoder's optional packages are not installed");
