import { expect, it } from "vitest";
import { partsOf } from "./parts.ts";

it("gives the heading and each sentence of a passage a vector", () => {
  const parts = partsOf("Returns › Deadline", "You have 30 days. After that we cannot help you.\n\n- Yes");
  expect(parts).toEqual(["Returns › Deadline", "You have 30 days.", "After that we cannot help you."]);
});

it("finds the sentences of languages without spaces", () => {
  expect(partsOf("退货", "商品可以在三十天内退货。退款需要五天时间。\n是")).toEqual([
    "退货",
    "商品可以在三十天内退货。",
    "退款需要五天时间。",
  ]);
});

it("takes a passage of single words without a heading as a whole", () => {
  expect(partsOf("", "Yes\nNo")).toEqual(["Yes\nNo"]);
  expect(partsOf("", " ")).toEqual([]);
});
