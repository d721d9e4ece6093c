import { describe, expect, it } from "vitest";
import { contrast, parseColor, readableOn, textOn } from "./color.ts";

describe("colours", () => {
  it("reads #rgb and #rrggbb and nothing else", () => {
    expect(parseColor("#1f6feb")).toEqual([31, 111, 235]);
    expect(parseColor("#0aF")).toEqual([0, 170, 255]);
    for (const text of [undefined, "", "red", "#12345", "#1f6feb;background:red", "rgb(0 0 0)"])
      expect(parseColor(text)).toBeUndefined();
  });

  it("gives every accent readable text on it, and a readable link colour", () => {
    for (let red = 0; red < 256; red += 51) {
      for (let green = 0; green < 256; green += 51) {
        for (let blue = 0; blue < 256; blue += 51) {
          const accent = [red, green, blue] as const;
          expect(contrast(accent, textOn(accent))).toBeGreaterThanOrEqual(4.5);
          for (const surface of [
            [255, 255, 255],
            [23, 25, 31],
          ] as const) {
            expect(contrast(readableOn(accent, surface), surface)).toBeGreaterThanOrEqual(4.5);
          }
        }
      }
    }
  });
});
