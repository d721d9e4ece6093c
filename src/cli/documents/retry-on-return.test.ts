import { expect, it } from "vitest";
import { eventually } from "#test/support/eventually.ts";
import { onceBack } from "./retry-on-return.ts";
import { DatabaseAway } from "#database/faults.ts";
import { createHandMovedClock } from "#test/support/hand-moved-clock.ts";

const away = new DatabaseAway(new Error("connection refused"));

function begin(step: () => Promise<string>) {
  const clock = createHandMovedClock(0);
  const waits: unknown[] = [];
  const log = { warn: ({ againInMs }: { readonly againInMs?: number }) => void waits.push(againInMs) };
  const ended = Promise.withResolvers<number>();
  let stopping = false;
  const result = onceBack(step, {
    clock,
    log,
    stopping: { stopped: ended.promise, isStopping: () => stopping },
  });
  result.catch(() => undefined);
  return {
    clock,
    waits,
    result,
    waiting: () => eventually(() => expect(clock.waiting()).toBe(1)),
    stop: () => {
      stopping = true;
    },
    end: () => ended.resolve(0),
  };
}

it("repeats a step with growing delays while the database is down, and leaves no timer", async () => {
  let left = 6;
  const { clock, waits, result, waiting } = begin(async () => {
    if (left-- > 0) throw away;
    return "done";
  });
  for (const ms of [1_000, 2_000, 4_000, 8_000, 10_000, 10_000]) {
    await waiting();
    expect(waits.at(-1)).toBe(ms);
    clock.advance(ms);
  }
  expect(await result).toBe("done");
  expect(clock.waiting()).toBe(0);
});

it("stops waiting when the program ends, without another try or a timer left", async () => {
  let steps = 0;
  const { clock, result, waiting, stop, end } = begin(async () => {
    steps += 1;
    throw away;
  });
  await waiting();
  stop();
  end();
  await expect(result).rejects.toBe(away);
  expect([steps, clock.waiting()]).toEqual([1, 0]);
});

it("does not repeat a step during which the program ends", async () => {
  const step = Promise.withResolvers<string>();
  const { clock, waits, result, stop } = begin(() => step.promise);
  stop();
  step.reject(away);
  await expect(result).rejects.toBe(away);
  expect([waits, clock.waiting()]).toEqual([[], 0]);
});

it("does not repeat a step that fails for another reason", async () => {
  const mistake = new Error("a mistake");
  const { clock, result } = begin(() => Promise.reject(mistake));
  await expect(result).rejects.toBe(mistake);
  expect(clock.waiting()).toBe(0);
});
