import { expect, it } from "vitest";
import { skipped } from "#test/support/skipped.ts";
import { isEncoderInstalled, loadEncoder } from "./model.ts";
import { readWeights } from "./weights.ts";

const dot = (left: Float32Array, right: Float32Array): number =>
  left.reduce((sum, each, at) => sum + each * (right[at] ?? 0), 0);

if (isEncoderInstalled()) {
  it("gives the vectors of the model, as ONNX Runtime computes them", async () => {
    const encode = await loadEncoder();
    const [asked, ...headings] = await encode([
      "can i hook this up to my whatsapp number?",
      "How do I connect WhatsApp?",
      "Can two accounts use the same mailbox, bot or number?",
      "What is an access token?",
    ]);
    const similarities = headings.map((each) => dot(each, asked ?? each));
    for (const [at, expected] of [0.739, 0.219, 0.148].entries()) expect(similarities[at]).toBeCloseTo(expected, 2);
  });

  it("cuts long texts, and encodes any text", async () => {
    const encode = await loadEncoder();
    for (const text of ["", "\uD83D", "🙂".repeat(5_000), "a ".repeat(50_000), "My Wi-Fi router 退货"]) {
      const [vector] = await encode([text]);
      expect(dot(vector ?? new Float32Array(), vector ?? new Float32Array())).toBeCloseTo(1, 4);
    }
  });

  it("has no vector for texts in other letters, which are all near each other", async () => {
    const encode = await loadEncoder();
    for (const text of ["退货需要几天", "Как вернуть товар?", "كيف أعيد المنتج؟", "ฉันจะคืนสินค้าได้อย่างไร"])
      expect((await encode([text]))[0]).toHaveLength(0);
  });
} else skipped("the model of the built-in encoder", "its optional packages are not installed");

it("refuses a file that is not of this model", () => {
  expect(() => readWeights(Buffer.alloc(1_000))).toThrow("too short");
  expect(() => readWeights(Buffer.alloc(54_429_697))).toThrow("too long");
});
