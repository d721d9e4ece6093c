import { CompiledQuery } from "kysely";
import { pino } from "pino";
import { Type } from "typebox";
import { expect, it } from "vitest";
import type { Worker, WorkerOptions } from "./worker.ts";
import { openWorker } from "./worker.ts";
import { createInboundBurst } from "#queue/backpressure.ts";
import type { OpenStore } from "#database/open.ts";
import type { LeasedRow, OutboxRow } from "#database/queries/outbox.ts";
import { claimLanes, finishWork, insertWork, lanesWithWork } from "#database/queries/outbox.ts";
import type { Work, WorkKind } from "#database/work.ts";
import { declareWork, workKind } from "#database/work.ts";
import { createWorkTable } from "#queue/work-table.ts";
import type { TestHandler } from "#test/support/queue/work-tables.ts";
import { workTableOf } from "#test/support/queue/work-tables.ts";
import { systemClock } from "#runtime/clock.ts";
import { eachDatabase, newSqlite, openTestStore } from "#test/support/database/databases.ts";
import { createHandMovedClock } from "#test/support/hand-moved-clock.ts";
import { isWriteWaiting } from "#test/support/database/waiting-writes.ts";

eachDatabase("the worker", (open) => {
  it("indexes despite a row with a far future due time, and keeps the order in other lanes", async () => {
    const { store, close } = await openTestStore(open);
    const now = systemClock.now();
    const rows = (kind: string) => [
      { lane: kind, kind, payload: { n: 1 }, dueAt: now + 86_400_000 },
      { lane: kind, kind, payload: { n: 2 }, dueAt: now },
    ];
    await store.write((tx) => insertWork(tx, [...rows("index"), ...rows("send")], now));
    const lease = { id: "ses_test", until: now + 1_000 };
    const claimed = await store.write((tx) => claimLanes(tx, ["index", "send"], lease, now, new Set(["index"])));
    expect(claimed.map(({ kind, payload }) => [kind, JSON.parse(payload)])).toEqual([["index", { n: 2 }]]);
    await close();
  });

  it("does later rows of a lane after a failure only if their kind has no order", async () => {
    const { store, close } = await openTestStore(open);
    const tried: string[] = [];
    const kindOf = (kind: string, order: Pick<WorkKind, "unordered">) =>
      declareWork(workKind(kind, Type.Object({ n: Type.Number() }), order), {
        attemptsMax: 5,
        async run([row]) {
          if (row === undefined) return;
          tried.push(`${row.kind} ${row.payload.n}`);
          if (row.payload.n === 1) throw new Error("the server is away");
          await store.write((tx) => finishWork(tx, [row]));
        },
      });
    const worker = openWorker({
      store,
      clock: systemClock,
      log: pino({ level: "silent" }),
      processId: "ses_test",
      works: createWorkTable([kindOf("index", { unordered: true }), kindOf("send", {})]),
      lanesMax: 2,
      backoffMs: () => 60_000,
      inboundBurst: createInboundBurst(),
    });
    const now = systemClock.now();
    const rows = (kind: string) => [1, 2].map((n) => ({ lane: kind, kind, payload: { n }, dueAt: now }));
    await store.write((tx) => insertWork(tx, [...rows("index"), ...rows("send")], now));
    for (const lane of ["index", "send"]) worker.wake(lane, now);
    const left = async () =>
      (await store.read.selectFrom("outbox").select(["kind", "due_at", "lease_id"]).orderBy("id").execute())
        .filter((row) => row.due_at > now && row.lease_id === null)
        .map(({ kind }) => kind);
    await expect.poll(left).toEqual(["index", "send", "send"]);
    await expect.poll(() => tried.toSorted()).toEqual(["index 1", "index 2", "send 1"]);
    await worker.close(0);
    await close();
  });

  it("runs work once if it is claimed twice at the same time in one process", async () => {
    const { store, close } = await openTestStore(open);
    const now = systemClock.now();
    const lanes = Array.from({ length: 100 }, (_, n) => `send:${n}`);
    await store.write((tx) =>
      insertWork(
        tx,
        lanes.map((lane) => work(lane, 1, now)),
        now,
      ),
    );
    const worker = openWorker({
      store,
      clock: systemClock,
      log: pino({ level: "silent" }),
      processId: "ses_test",
      works: workTableOf({}),
      lanesMax: 0,
      backoffMs: () => 60_000,
      inboundBurst: createInboundBurst(),
    });
    const began = Promise.withResolvers<undefined>();
    const commit = Promise.withResolvers<undefined>();
    const first = store.write(async (tx) => {
      const taken = await worker.claim(tx, lanes, now);
      began.resolve(undefined);
      await commit.promise;
      return taken;
    });
    await began.promise;
    const second = store.write((tx) => worker.claim(tx, lanes, now));
    // On a server with concurrent writers, the second does not see the first one's claim, and waits for the rows.
    await expect.poll(() => isWriteWaiting(store)).toBe(true);
    commit.resolve(undefined);
    expect([(await first).length, (await second).length]).toEqual([100, 0]);
    await worker.close(0);
    await close();
  });

  it("leaves room for other work when a limited kind has more than its limit", async () => {
    const { store, close } = await openTestStore(open);
    const clock = systemClock;
    const now = clock.now();
    const ended = Promise.withResolvers<undefined>();
    const answered = Promise.withResolvers<undefined>();
    let reading = 0;
    let readingMost = 0;
    let read = 0;
    const allRead = Promise.withResolvers<undefined>();
    const works = workTableOf({
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
    });
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
      works,
      lanesMax: 8,
      backoffMs: () => 1_000,
      inboundBurst: createInboundBurst(),
    });
    for (let i = 0; i < documents; i += 1) worker.wake(`ingest:${i}`, now);
    await expect.poll(() => reading).toBe(2);
    // No signal is sent for this work, so the worker finds it by polling.
    await store.write((tx) => insertWork(tx, [{ lane: "think:1", kind: "think", payload: {}, dueAt: now }], now));
    await answered.promise;
    expect(readingMost).toBe(2);
    ended.resolve(undefined);
    await allRead.promise;
    expect(readingMost).toBe(2);
    await worker.close(1_000);
    await close();
  }, 20_000);

  it("runs inline-claimed work in order, and then the lane's later rows", async () => {
    const { store, close } = await openTestStore(open);
    const done: number[] = [];
    const begun = Promise.withResolvers<undefined>();
    const goOn = Promise.withResolvers<undefined>();
    const worker = openTestWorker(store, async (row) => {
      begun.resolve(undefined);
      await goOn.promise;
      await store.write((tx) => finishWork(tx, [row]));
      done.push((row.payload as { readonly n: number }).n);
    });
    expect(worker.offer(["send:1", "kept-by-nobody:1"])).toEqual(["send:1"]);
    const given = await insertTaken(store, worker, "send:1", [1, 2]);
    worker.take(given);
    await begun.promise;
    // A running lane is not offered again, and later rows wait.
    expect(worker.offer(["send:1"])).toEqual([]);
    const now = systemClock.now();
    await store.write((tx) => insertWork(tx, [work("send:1", 3, now)], now));
    worker.wake("send:1", now);
    goOn.resolve(undefined);
    await expect.poll(() => done).toEqual([1, 2, 3]);
    await worker.close(1_000);
    await close();
  });

  it("releases claimed work without room when it closes", async () => {
    const { store, close } = await openTestStore(open);
    const goOn = Promise.withResolvers<undefined>();
    const done: string[] = [];
    const worker = openTestWorker(store, async (row) => {
      await goOn.promise;
      await store.write((tx) => finishWork(tx, [row]));
      done.push(row.lane);
    });
    // It has room for two lanes, and offers no more.
    expect(worker.offer(["send:1", "send:2", "send:3"])).toEqual(["send:1", "send:2"]);
    for (const lane of ["send:1", "send:2", "send:3"]) worker.take(await insertTaken(store, worker, lane, [1]));
    expect(worker.running().get("send")).toBe(2);
    expect(worker.offer(["send:4"])).toEqual([]);
    const closed = worker.close(10_000);
    goOn.resolve(undefined);
    await closed;
    expect(done.toSorted()).toEqual(["send:1", "send:2"]);
    const rows = await store.read.selectFrom("outbox").select(["lane", "lease_id"]).execute();
    expect(rows).toEqual([{ lane: "send:3", lease_id: null }]);
    await close();
  });

  it("starts only work that is two seconds late during a burst, and the rest afterwards", async () => {
    const { store, close } = await openTestStore(open);
    const clock = createHandMovedClock(systemClock.now());
    const rush = handMovedBurst();
    const done: string[] = [];
    const worker = openTestWorker(store, (row) => end(store, row, done), { clock, inboundBurst: rush });
    const put = async (lane: string): Promise<void> => {
      await store.write((tx) => insertWork(tx, [work(lane, 1, clock.now())], clock.now()));
      worker.wake(lane, clock.now());
    };
    await put("send:before");
    await expect.poll(() => done).toEqual(["send:before"]);
    rush.begin();
    expect(worker.offer(["send:other"])).toEqual([]);
    // But of what agents do.
    expect(worker.offer(["send:other"], true)).toEqual(["send:other"]);
    const asked = rush.asked();
    await put("send:first");
    // It has looked at what there is, and left it.
    await expect.poll(() => rush.asked()).toBeGreaterThan(asked);
    clock.advance(1_000);
    await put("send:second");
    clock.advance(999);
    expect(worker.running().size).toBe(0);
    expect(done).toEqual(["send:before"]);
    clock.advance(1);
    await expect.poll(() => done).toEqual(["send:before", "send:first"]);
    await put("send:third");
    rush.end();
    await expect.poll(() => done.length).toBe(4);
    await expect.poll(() => worker.offer(["send:other"])).toEqual(["send:other"]);
    await worker.close(0);
    await close();
  });

  it("offers room to a limited kind during a burst, up to its limit", async () => {
    const { store, close } = await openTestStore(open);
    const rush = handMovedBurst();
    const done: string[] = [];
    const free = Promise.withResolvers<undefined>();
    const worker = openTestWorker(
      store,
      async (row) => {
        await free.promise;
        await end(store, row, done);
      },
      { inboundBurst: rush },
    );
    const bounded = ["amend:1", "amend:2"];
    expect(worker.offer(bounded)).toEqual([]);
    rush.begin();
    expect(worker.offer(bounded)).toEqual([]);
    expect(worker.offer(bounded, true)).toEqual(["amend:1"]);
    // Two that were offered before either was taken.
    for (const lane of bounded) worker.take(await insertTaken(store, worker, lane, [1]));
    expect(worker.running()).toEqual(new Map([["amend", 1]]));
    expect(worker.offer(["amend:3"], true)).toEqual([]);
    free.resolve(undefined);
    await expect.poll(() => done).toEqual(bounded);
    await worker.close(0);
    await close();
  });

  it("starts work that is two seconds late during a burst, even behind older work without room", async () => {
    const { store, close } = await openTestStore(open);
    const clock = createHandMovedClock(systemClock.now());
    const rush = handMovedBurst();
    const done: string[] = [];
    const free = Promise.withResolvers<undefined>();
    const run = async (row: LeasedRow): Promise<void> => {
      if (row.lane === "amend:long") await free.promise;
      await end(store, row, done);
    };
    const worker = openTestWorker(store, run, { clock, inboundBurst: rush });
    const put = async (lane: string, kind: string): Promise<void> => {
      await store.write((tx) => insertWork(tx, [{ ...work(lane, 1, clock.now()), kind }], clock.now()));
      worker.wake(lane, clock.now());
    };
    // The limit of this kind is reached.
    await put("amend:long", "amend");
    await expect.poll(() => worker.running().get("amend")).toBe(1);
    await put("amend:waits", "amend");
    clock.leap(2_500);
    rush.begin();
    let asked = rush.asked();
    await put("send:held", "send");
    await expect.poll(() => rush.asked()).toBeGreaterThan(asked);
    asked = rush.asked();
    clock.advance(1_999);
    // The worker polls every second.
    await expect.poll(() => rush.asked()).toBeGreaterThan(asked);
    expect(done).toEqual([]);
    clock.advance(1);
    await expect.poll(() => done).toEqual(["send:held"]);
    free.resolve(undefined);
    rush.end();
    await expect.poll(() => done.length).toBe(3);
    await worker.close(0);
    await close();
  });

  it("delays yielding work for other work, up to its limit", async () => {
    const { store, close } = await openTestStore(open);
    const clock = createHandMovedClock(systemClock.now());
    const done: string[] = [];
    const free = Promise.withResolvers<undefined>();
    const run = async (row: LeasedRow): Promise<void> => {
      if (row.lane === "amend:held") await free.promise;
      await end(store, row, done);
    };
    const worker = openTestWorker(store, run, { clock });
    const put = async (lanes: readonly string[]): Promise<void> => {
      const works = lanes.map((lane) => ({ ...work(lane, 1, clock.now()), kind: lane.split(":")[0] ?? "" }));
      await store.write((tx) => insertWork(tx, works, clock.now()));
      for (const lane of lanes) worker.wake(lane, clock.now());
    };
    // One of two slots stays taken, and the limit of this kind is reached.
    await put(["amend:held"]);
    await expect.poll(() => worker.running().get("amend")).toBe(1);
    await put(["gather:1", "send:1", "send:2"]);
    await expect.poll(() => done).toEqual(["send:1", "send:2", "gather:1"]);
    await put(["amend:waits", "gather:2", "send:3"]);
    await expect.poll(() => done.slice(3)).toEqual(["send:3"]);
    clock.advance(1_000);
    await expect.poll(() => done.slice(4)).toEqual(["gather:2"]);
    free.resolve(undefined);
    await expect.poll(() => done.slice(5)).toEqual(["amend:held", "amend:waits"]);
    await worker.close(0);
    await close();
  });

  it("starts lanes of each kind in turn, so that one kind does not block another", async () => {
    const { store, close } = await openTestStore(open);
    const now = systemClock.now();
    const done: string[] = [];
    const lanes = [...Array.from({ length: 20 }, (_, n) => `send:${n}`), "amend:1"];
    await store.write((tx) =>
      insertWork(
        tx,
        lanes.map((lane) => ({ ...work(lane, 1, now), kind: lane.split(":")[0] ?? "" })),
        now,
      ),
    );
    const worker = openTestWorker(store, (row) => end(store, row, done));
    for (const lane of lanes) worker.wake(lane, now);
    await expect.poll(() => done.length).toBe(21);
    expect(done.indexOf("amend:1")).toBeLessThan(4);
    await worker.close(0);
    await close();
  });
});

it("finds due lanes by an index, whatever the number of future rows", async () => {
  const { store, close } = await openTestStore(newSqlite);
  const now = systemClock.now();
  await store.write((tx) =>
    insertWork(
      tx,
      Array.from({ length: 500 }, (_, n) => work(`timer:${n}`, 1, now + 86_400_000)),
      now,
    ),
  );
  const asked: CompiledQuery[] = [];
  const lanes = ["send:1", "send:2", "send:3"];
  await lanesWithWork(
    {
      read: store.read,
      select(query) {
        asked.push(query);
        return store.select(query);
      },
    },
    lanes,
    now,
  );
  await store.write(async (tx) => {
    const watched = new Proxy(tx, {
      get(target, name) {
        if (name !== "executeQuery") {
          const value: unknown = Reflect.get(target, name, target);
          return typeof value === "function" ? (value.bind(target) as unknown) : value;
        }
        return (query: CompiledQuery) => {
          asked.push(query);
          return target.executeQuery(query);
        };
      },
    });
    await claimLanes(watched, lanes, { id: "ses_test", until: now + 1_000 }, now);
  });
  expect(asked).toHaveLength(2);
  for (const query of asked) {
    const { rows } = await store.read.executeQuery<{ readonly detail: string }>(
      CompiledQuery.raw(`explain query plan ${query.sql}`, [...query.parameters]),
    );
    expect(rows[0]?.detail).toContain("USING INDEX outbox_lane");
  }
  await close();
});

async function end(store: OpenStore, row: LeasedRow, done: string[]): Promise<void> {
  await store.write((tx) => finishWork(tx, [row]));
  done.push(row.lane);
}

function handMovedBurst() {
  let on = false;
  let asked = 0;
  let ended = (): void => undefined;
  return {
    isOn() {
      asked += 1;
      return on;
    },
    /** How often it was asked for. */
    asked: () => asked,
    onEnd(listener: () => void) {
      ended = listener;
    },
    begin() {
      on = true;
    },
    end() {
      on = false;
      ended();
    },
  };
}

const work = (lane: string, n: number, dueAt: number) => ({ lane, kind: "send", payload: { n }, dueAt });

function openTestWorker(
  store: OpenStore,
  run: (row: Work) => Promise<void>,
  given: Partial<Pick<WorkerOptions, "clock" | "inboundBurst">> = {},
): Worker {
  const handler: TestHandler = {
    attemptsMax: 1,
    async run(rows) {
      for (const row of rows) await run(row);
    },
  };
  return openWorker({
    store,
    clock: systemClock,
    log: pino({ level: "silent" }),
    processId: "ses_test",
    works: workTableOf({ send: handler, amend: { ...handler, lanesMax: 1 }, gather: { ...handler, yieldsMs: 1_000 } }),
    lanesMax: 2,
    backoffMs: () => 1_000,
    inboundBurst: createInboundBurst(),
    ...given,
  });
}

/** Stores work and takes it for the worker, in one transaction. */
function insertTaken(store: OpenStore, worker: Worker, lane: string, numbers: readonly number[]): Promise<OutboxRow[]> {
  return store.write(async (tx) => {
    const now = systemClock.now();
    await insertWork(
      tx,
      numbers.map((n) => work(lane, n, now)),
      now,
    );
    return worker.claim(tx, [lane], now);
  });
}
