import { expect, it } from "vitest";
import { createWaitUntilIdle } from "./wait-until-idle.ts";
import type { LocalWorker } from "./local-worker.ts";

/** Becomes idle after this many checks of each. */
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
  const worker: Pick<LocalWorker, "isBusy"> = { isBusy };
  return { seen, waitUntilIdle: createWaitUntilIdle({ isCalm }, () => worker as LocalWorker) };
}

it("resolves at once when idle", async () => {
  const { seen, waitUntilIdle } = after({});
  await waitUntilIdle(60_000);
  expect(seen).toEqual(["writes", "runs"]);
});

it("waits for writes, and for work on which a person waits", async () => {
  const { seen, waitUntilIdle } = after({ writes: 2, runs: 2 });
  await waitUntilIdle(60_000);
  expect(seen).toEqual(["writes", "writes", "writes", "runs", "writes", "runs", "writes", "runs"]);
});

it("waits no longer than the limit", async () => {
  const { seen, waitUntilIdle } = after({ writes: Number.POSITIVE_INFINITY });
  await waitUntilIdle(5);
  expect(seen.length).toBeGreaterThan(1);
  expect(seen).not.toContain("runs");
});

it("does not wait for a worker in a process without one", async () => {
  const waitUntilIdle = createWaitUntilIdle({ isCalm: () => true }, () => undefined);
  await expect(waitUntilIdle(60_000)).resolves.toBeUndefined();
});
