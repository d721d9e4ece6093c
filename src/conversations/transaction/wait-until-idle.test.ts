import { expect, it } from "vitest";
import { createWaitUntilIdle } from "./wait-until-idle.ts";
import type { LocalWorker } from "./local-worker.ts";

/** Becomes free of each after it has been looked at so often. */
function after(looks: { readonly writes?: number; readonly runs?: number }) {
  let [writes, runs] = [looks.writes ?? 0, looks.runs ?? 0];
  const seen: string[] = [];
  const isCalm = (): boolean => {
    seen.push("writes");
    return (writes -= 1) < 0;
  };
  const isBusy = (): boolean => {
    seen.push("runs");
    return (runs -= 1) >= 0;
  };
  const hands: Pick<LocalWorker, "isBusy"> = { isBusy };
  return { seen, giveWay: createWaitUntilIdle({ isCalm }, () => hands as LocalWorker) };
}

it("goes at once when nobody waits", async () => {
  const { seen, giveWay } = after({});
  await giveWay(60_000);
  expect(seen).toEqual(["writes", "runs"]);
});

it("waits for what is written, and for what runs", async () => {
  const { seen, giveWay } = after({ writes: 2, runs: 2 });
  await giveWay(60_000);
  expect(seen).toEqual(["writes", "writes", "writes", "runs", "writes", "runs", "writes", "runs"]);
});

it("waits no longer than it was told", async () => {
  const { seen, giveWay } = after({ writes: Number.POSITIVE_INFINITY });
  await giveWay(5);
  expect(seen.length).toBeGreaterThan(1);
  expect(seen).not.toContain("runs");
});

it("does not wait for a worker where there is none", async () => {
  const giveWay = createWaitUntilIdle({ isCalm: () => true }, () => undefined);
  await expect(giveWay(60_000)).resolves.toBeUndefined();
});
