import { pino } from "pino";
import { expect, it } from "vitest";
import type { Handler } from "#jobs/worker.ts";
import { openWorker } from "#jobs/worker.ts";
import { claimLanes, finishWork, insertWork } from "#store/outbox.ts";
import { systemClock } from "#src/clock.ts";
import { eachDatabase, openTestStore } from "../support/databases.ts";

eachDatabase("the worker", (open) => {
  it("is not held up in indexing by a row that a clock gone wrong has put far ahead, and keeps order elsewhere", async () => {
    const { store, close } = await openTestStore(open);
    const now = systemClock.now();
    const rows = (kind: string) => [
      { lane: kind, kind, payload: { n: 1 }, dueAt: now + 86_400_000 },
      { lane: kind, kind, payload: { n: 2 }, dueAt: now },
    ];
    await store.write((tx) => insertWork(tx, [...rows("index"), ...rows("send")], now));
    const lease = { id: "ses_test", until: now + 1_000 };
    const claimed = await store.write((tx) => claimLanes(tx, ["index", "send"], lease, now));
    expect(claimed.map(({ kind, payload }) => [kind, JSON.parse(payload)])).toEqual([["index", { n: 2 }]]);
    await close();
  });

  it("leaves room for other work when a kind that is bounded has more than it may run", async () => {
    const { store, close } = await openTestStore(open);
    const clock = systemClock;
    const now = clock.now();
    const ended = Promise.withResolvers<undefined>();
    const answered = Promise.withResolvers<undefined>();
    let reading = 0;
    let readingMost = 0;
    let read = 0;
    const allRead = Promise.withResolvers<undefined>();
    const handlers: Readonly<Record<string, Handler>> = {
      ingest: {
        batch: true,
        attemptsMax: 1,
        lanesMax: 2,
        async run(rows) {
          reading += 1;
          readingMost = Math.max(readingMost, reading);
          await ended.promise;
          await store.write((tx) => finishWork(tx, rows));
          reading -= 1;
          read += 1;
          if (read === documents) allRead.resolve(undefined);
        },
      },
      think: {
        batch: true,
        attemptsMax: 1,
        async run(rows) {
          await store.write((tx) => finishWork(tx, rows));
          answered.resolve(undefined);
        },
      },
    };
    // More than the lanes that the worker has, and than it looks up at a time.
    const documents = 600;
    await store.write((tx) =>
      insertWork(
        tx,
        Array.from({ length: documents }, (_, i) => ({
          lane: `ingest:${i}`,
          kind: "ingest",
          payload: {},
          dueAt: now - 1,
        })),
        now,
      ),
    );
    const worker = openWorker({
      store,
      clock,
      log: pino({ level: "silent" }),
      processId: "ses_test",
      handlers,
      lanesMax: 8,
      backoffMs: () => 1_000,
    });
    for (let i = 0; i < documents; i += 1) worker.wake(`ingest:${i}`, now);
    await expect.poll(() => reading).toBe(2);
    // Nobody wakes the worker for it: it is found by looking.
    await store.write((tx) => insertWork(tx, [{ lane: "think:1", kind: "think", payload: {}, dueAt: now }], now));
    await answered.promise;
    expect(readingMost).toBe(2);
    ended.resolve(undefined);
    await allRead.promise;
    expect(readingMost).toBe(2);
    await worker.close(1_000);
    await close();
  }, 20_000);
});
