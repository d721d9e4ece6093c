import { afterEach, expect, it } from "vitest";
import { DeliveryError } from "#channels/errors.ts";
import { openStore } from "./open.ts";
import { heartbeatMs } from "./process-heartbeat.ts";
import { eachDatabase } from "#test/support/database/databases.ts";
import type { BenchOptions, EngineBench } from "#test/support/engine-bench.ts";
import { anna, answerOf, hourMs, minuteMs, openBench } from "#test/support/engine-bench.ts";
import type { HandMovedClock } from "#test/support/hand-moved-clock.ts";
import { createHandMovedClock } from "#test/support/hand-moved-clock.ts";

/** A request in flight whose process was killed. */
const requestUntil = (leaseUntil: number) => ({
  key_id: "key_gone",
  path: "/v1/query",
  idempotency_key: "gone",
  body_hash: "0".repeat(64),
  status: null,
  response: null,
  process_id: "gone",
  work_id: null,
  lease_until: leaseUntil,
  created_at: leaseUntil,
});
const retryAt = (dueAt: number, createdAt: number) => ({
  endpoint_id: "wep_test",
  subject_id: "conv_test",
  event_id: "evt_test",
  due_at: dueAt,
  attempts: 1,
  created_at: createdAt,
});

eachDatabase("a clock that was an hour ahead", (open) => {
  const benches: EngineBench[] = [];
  afterEach(async () => {
    for (const bench of benches.splice(0).toReversed()) await bench.close();
  });
  async function newBench(options: BenchOptions = {}): Promise<EngineBench> {
    const bench = await openBench(open, options);
    benches.push(bench);
    return bench;
  }
  const refuseOnce = (bench: EngineBench): void => {
    const { send } = bench.script;
    bench.script.send = async () => {
      bench.script.send = send;
      throw new DeliveryError("not_sent", "nobody is there");
    };
  };
  /** Moves the clock as fast as the program follows, for at most this many minutes. */
  async function inMinutes(bench: EngineBench, minutes: number, sent: number): Promise<void> {
    const end = bench.clock.now() + minutes * minuteMs;
    await bench.until(`${sent} messages are sent`, () => {
      if (bench.sent.length < sent && bench.clock.now() < end) bench.clock.advance(100);
      return bench.sent.length >= sent;
    });
  }
  const texts = (bench: EngineBench) => bench.sent.map(({ text }) => text);

  it("delays no work when it is set back while the program runs", async () => {
    const bench = await newBench();
    const snoozed = await bench.begin("snoozed", "Later");
    await bench.settle();
    const until = bench.clock.now() + 3 * hourMs;
    await bench.engine.update(
      bench.workspaceId,
      snoozed,
      { status: "snoozed", snooze: { kind: "until", at: until } },
      anna,
    );
    refuseOnce(bench);
    await bench.begin("refused", "Hello");
    await bench.settle();
    expect(texts(bench)).toEqual(["You asked: Later"]);
    bench.clock.putBack(hourMs);
    await inMinutes(bench, 2, 2);
    expect(texts(bench)).toEqual(["You asked: Later", "You asked: Hello"]);
    expect(await bench.row(snoozed)).toMatchObject({ status: "snoozed", snoozed_until: until });
    // Due at its own time, not an hour early.
    await bench.advance(3 * hourMs);
    expect(await bench.row(snoozed)).toMatchObject({ status: "snoozed" });
    await bench.advance(hourMs);
    expect(await bench.row(snoozed)).toMatchObject({ status: "open" });
  });

  it("delays no work and extends no lease, key or rate limit when the program restarts", async () => {
    const before = await newBench();
    refuseOnce(before);
    await before.begin("refused", "Hello");
    await before.settle();
    before.script.answer = () => new Promise(() => undefined);
    await before.begin("unanswered", "Is anybody there?");
    const ahead = before.clock.now();
    // The state that a process killed on another machine leaves.
    const far = ahead + 15_000;
    await before.until("the question is asked", () => before.asked.length === 2);
    await before.app.close();
    const left = await openStore(before.url);
    await left.write(async (tx) => {
      await tx.updateTable("outbox").set({ lease_id: "gone", lease_until: far }).where("kind", "=", "think").execute();
      const holder = { account_id: before.accountId, holder: "gone", lease_until: far };
      await tx.insertInto("connection_leases").values(holder).execute();
      await tx.insertInto("counters").values({ name: "inbox:test", window_start: ahead, value: 10 }).execute();
      const gone = { id: "gone", host: "elsewhere", pid: 1, started_at: ahead, heartbeat_at: ahead };
      await tx.insertInto("processes").values(gone).execute();
      await tx.insertInto("idempotency").values(requestUntil(far)).execute();
      await tx.insertInto("webhook_queue").values(retryAt(far, ahead)).execute();
    });
    await left.close();
    const now = ahead - hourMs;
    const after = await openWhileTimeGoesOn({ beside: before, clock: createHandMovedClock(now) });
    after.script.answer = async ({ text }) => answerOf(`You asked: ${text}`);
    await inMinutes(after, 3, 2);
    expect(texts(after).toSorted()).toEqual(["You asked: Hello", "You asked: Is anybody there?"]);
    const leases = await after.store.read.selectFrom("connection_leases").select("lease_until").execute();
    for (const { lease_until: until } of leases) expect(until).toBeLessThan(now + 5 * minuteMs);
    expect(
      await after.store.read.selectFrom("counters").selectAll().where("name", "=", "inbox:test").execute(),
    ).toEqual([]);
    const request = await after.store.read.selectFrom("idempotency").select("lease_until").executeTakeFirstOrThrow();
    expect(request.lease_until).toBeLessThan(now + 5 * minuteMs);
    const retry = await after.store.read.selectFrom("webhook_queue").selectAll().executeTakeFirstOrThrow();
    expect(retry.due_at).toBeLessThan(now + 5 * minuteMs);
    expect(retry.created_at).toBeLessThan(now + 5 * minuteMs);
    expect(after.logged.join("\n")).toContain("clock was ahead, correcting");
  });

  it("is not assumed by a process whose own clock is behind that of a running process", async () => {
    const healthy = await newBench();
    const lease = await leaseOfHealthy(healthy);
    const slow = await openWhileTimeGoesOn(
      { beside: healthy, clock: createHandMovedClock(healthy.clock.now() - hourMs) },
      healthy,
    );
    expect(await leaseUntil(slow)).toBe(lease);
    expect(slow.logged.join("\n")).toContain("this clock is behind the running processes, check NTP");
    expect(slow.logged.join("\n")).not.toContain("clock was ahead, correcting");
  });

  it("is not assumed when the clock of one of two running processes falls behind", async () => {
    const healthy = await newBench();
    const lease = await leaseOfHealthy(healthy);
    const slow = await newBench({ beside: healthy, clock: createHandMovedClock(healthy.clock.now()) });
    slow.clock.putBack(hourMs);
    await slow.until("the difference is found", async () => {
      await advanceWithHeartbeat(healthy);
      slow.clock.advance(500);
      return slow.logged.some((line) => /this clock is behind|clock was ahead/.test(line));
    });
    expect(await leaseUntil(slow)).toBe(lease);
    expect(slow.logged.join("\n")).toContain("this clock is behind the running processes, check NTP");
  });

  it("is corrected when the clocks of all running processes were set back", async () => {
    const one = await newBench();
    await leaseOfHealthy(one);
    const two = await newBench({ beside: one, clock: createHandMovedClock(one.clock.now()) });
    one.clock.putBack(hourMs);
    two.clock.putBack(hourMs);
    await two.until("the lease is shortened", async () => {
      one.clock.advance(500);
      two.clock.advance(500);
      return Number(await leaseUntil(two)) < two.clock.now() + 5 * minuteMs;
    });
  });

  /** A start waits for heartbeats of other processes by its own clock. */
  async function openWhileTimeGoesOn(
    options: BenchOptions & { readonly clock: HandMovedClock },
    beside?: EngineBench,
  ): Promise<EngineBench> {
    let opened = false;
    const opening = newBench(options).finally(() => (opened = true));
    while (!opened) {
      options.clock.advance(500);
      if (beside !== undefined) await advanceWithHeartbeat(beside);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    return opening;
  }

  /** The database is slower than the test clock, and no heartbeat may be skipped. */
  async function advanceWithHeartbeat({ store, clock }: EngineBench): Promise<void> {
    clock.advance(500);
    const newest = () =>
      store.read
        .selectFrom("processes")
        .select("heartbeat_at")
        .where("host", "=", "elsewhere")
        .where("heartbeat_at", ">=", clock.now() - heartbeatMs - 500)
        .executeTakeFirst();
    // A heartbeat that is being stored sets the next timer late. The clock follows it.
    const moved = async () => {
      const row = await newest();
      if (row === undefined) clock.advance(500);
      return row;
    };
    await expect.poll(moved, { interval: 5 }).toBeDefined();
  }

  /** The lease as seen from another machine, since both benches have this process's id. */
  async function leaseOfHealthy({ store, accountId, clock }: EngineBench): Promise<number> {
    const until = clock.now() + minuteMs;
    await store.write(async (tx) => {
      await tx.updateTable("processes").set({ host: "elsewhere" }).execute();
      await tx
        .insertInto("connection_leases")
        .values({ account_id: accountId, holder: "healthy", lease_until: until })
        .execute();
    });
    return until;
  }
  const leaseUntil = async ({ store }: EngineBench): Promise<number | undefined> =>
    (await store.read.selectFrom("connection_leases").selectAll().where("holder", "=", "healthy").executeTakeFirst())
      ?.lease_until;
});
