import { expect, it } from "vitest";
import { encoderOf, isFit, readState } from "./encoder-state.ts";

const state = {
  server: "key",
  prefixes: "e5",
  dimensions: 384,
  passages: 100,
  at: 0,
  measured: { separation: 0.8, mean: 0.84, deviation: 0.034 },
} as const;
const server = { key: "key", prefixes: "auto" } as const;

it("converts similarities to the scale of the built-in encoder", () => {
  const squeezed = encoderOf({ model: "m" }, state);
  const faint = encoderOf({ model: "m" }, { ...state, measured: { separation: 0.8, mean: 0.18, deviation: 0.07 } });
  expect(squeezed.onScale(0.84)).toBeCloseTo(faint.onScale(0.18), 10);
  expect(squeezed.onScale(0.84 + 0.034)).toBeCloseTo(faint.onScale(0.18 + 0.07), 10);
  expect(squeezed.onScale(0.84)).toBeCloseTo(0.293, 3);
  expect(squeezed.onScale(0.84 + 0.034)).toBeCloseTo(0.443, 3);
});

it("only orders passages by an encoder that is not calibrated", () => {
  const { measured: _, ...small } = state;
  expect(encoderOf({ model: "m" }, small).calibration).toBeUndefined();
  expect(encoderOf({ model: "m" }, state).calibration).toBeDefined();
  expect(isFit(small)).toBe(true);
});

it("names the dimension and the prefixes in the model of the vectors", () => {
  expect(encoderOf({ model: "openai:m" }, state).model).toBe("openai:m#384-e5");
  expect(encoderOf({ model: "openai:m" }, { ...state, prefixes: "none" }).model).toBe("openai:m#384");
});

it("reads no state of another server or of an unknown form", () => {
  expect(readState({ server }, JSON.stringify(state))).toEqual(state);
  expect(readState({ server: { ...server, key: "other" } }, JSON.stringify(state))).toBeUndefined();
  expect(readState({ server }, JSON.stringify({ ...state, prefixes: "unknown" }))).toBeUndefined();
  expect(readState({ server }, null)).toBeUndefined();
});
