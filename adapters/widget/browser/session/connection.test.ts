import { describe, expect, it } from "vitest";
import { backoffMs } from "./connection.ts";

describe("reconnecting", () => {
  it("waits from a quarter of a second to half a minute, at random", () => {
    expect(backoffMs(0, 0)).toBe(250);
    expect(backoffMs(0, 1)).toBe(500);
    expect(backoffMs(4, 0.5)).toBe(6_000);
    expect(backoffMs(1_000, 1)).toBe(30_000);
  });
});
