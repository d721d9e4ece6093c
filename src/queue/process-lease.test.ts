import { afterEach, expect, it } from "vitest";
import { eventually } from "#test/support/eventually.ts";
import type { Log } from "#runtime/log.ts";
import type { ProcessLease } from "./process-lease.ts";
import { openProcess } from "./process-lease.ts";
import type { OpenStore } from "#database/open.ts";
import { testStart } from "#test/support/http/app.ts";
import { eachDatabase, openTestStore } from "#test/support/database/databases.ts";
import type { HandMovedClock } from "#test/support/hand-moved-clock.ts";
import { createHandMovedClock } from "#test/support/hand-moved-clock.ts";

const log = { warn: () => undefined, error: () => undefined } as unknown as Log;
const heartbeatMs = 5_000;

interface Running {
  readonly lease: ProcessLease;
  readonly clock: HandMovedClock;
}

eachDatabase("processes on one database", (open) => {
  const ends: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const end of ends.splice(0).toReversed()) await end();
  });
  async function newStore(): Promise<OpenStore> {
    const { store, close } = await openTestStore(open);
    ends.push(close);
    return store;
  }
  async function start(store: OpenStore, now: number): Promise<Running> {
    const clock = createHandMovedClock(now);
    const lease = await openProcess(store, clock, log);
    ends.push(() => lease.close());
    return { lease, clock };
  }
  /** Started on another machine, with work and a request in progress. */
  async function startElsewhere(store: OpenStore, now: number): Promise<Running> {
    const running = await start(store, now);
    const { id } = running.lease;
    const until = now + 15_000;
    const work = { lane: "send:a", kind: "send", payload: "{}", due_at: now, created_at: now, attempts: 0 };
    await store.write(async (tx) => {
      await tx.updateTable("processes").set({ host: "elsewhere" }).where("id", "=", id).execute();
      await tx
        .insertInto("outbox")
        .values({ ...work, lease_id: id, lease_until: until })
        .execute();
      await tx.insertInto("connection_leases").values({ account_id: "acc", holder: id, lease_until: until }).execute();
      await tx.insertInto("requests_in_flight").values({ key_id: "key", process_id: id, count: 1 }).execute();
    });
    return running;
  }
  async function beat({ clock }: Running): Promise<void> {
    clock.advance(heartbeatMs);
    // The next one is set when this one is written.
    await eventually(() => expect(clock.waiting()).toBe(1));
  }
  const held = async (store: OpenStore) => ({
    processes: (await store.read.selectFrom("processes").select("host").where("host", "=", "elsewhere").execute())
      .length,
    work: (await store.read.selectFrom("outbox").select("id").where("lease_id", "is not", null).execute()).length,
    connections: (await store.read.selectFrom("connection_leases").select("holder").execute()).length,
    requests: (await store.read.selectFrom("requests_in_flight").select("count").execute()).length,
  });
  const all = { processes: 1, work: 1, connections: 1, requests: 1 };
  const none = { processes: 0, work: 0, connections: 0, requests: 0 };

  it("keep the leases of a process whose clock is slow", async () => {
    const store = await newStore();
    const slow = await startElsewhere(store, testStart - 3_600_000);
    const other = await start(store, testStart);
    expect(await held(store)).toEqual(all);
    for (let beats = 0; beats < 20; beats += 1) {
      await beat(slow);
      await beat(other);
      expect([...other.lease.watch.silent()]).toEqual([]);
    }
    expect(await held(store)).toEqual(all);
  });

  it("release the leases of a process without heartbeats for a minute, which re-registers when it continues", async () => {
    const store = await newStore();
    const stopped = await startElsewhere(store, testStart - 3_600_000);
    const other = await start(store, testStart);
    for (let beats = 0; beats < 13; beats += 1) await beat(other);
    expect([...other.lease.watch.silent().keys()]).toEqual([stopped.lease.id]);
    expect(await held(store)).toEqual(all);
    await beat(other);
    expect(await held(store)).toEqual(none);
    await beat(stopped);
    const rows = await store.read.selectFrom("processes").select("id").execute();
    expect(rows.map(({ id }) => id).toSorted()).toEqual([stopped.lease.id, other.lease.id].toSorted());
  });

  it("keep the leases of a process with a heartbeat since the last check", async () => {
    const store = await newStore();
    const slow = await startElsewhere(store, testStart - 3_600_000);
    const other = await start(store, testStart);
    for (let beats = 0; beats < 13; beats += 1) await beat(other);
    await beat(slow);
    await beat(other);
    expect(await held(store)).toEqual(all);
    expect([...other.lease.watch.silent()]).toEqual([]);
  });

  it("remove their own row when they end during a heartbeat", async () => {
    const store = await newStore();
    let hold: Promise<void> | undefined;
    let heartbeat: Promise<unknown> | undefined;
    const write: OpenStore["write"] = (work, options) => {
      const before = hold;
      hold = undefined;
      if (before === undefined) return store.write(work, options);
      const written = before.then(() => store.write(work, options));
      heartbeat = written;
      return written;
    };
    const { lease, clock } = await start({ ...store, write }, testStart);
    const ended = Promise.withResolvers<void>();
    hold = ended.promise;
    clock.advance(heartbeatMs);
    await lease.close();
    ended.resolve();
    await heartbeat;
    expect(heartbeat).toBeDefined();
    expect(await store.read.selectFrom("processes").select("id").execute()).toEqual([]);
  });

  it("release the leases of a process that was killed on this machine at once", async () => {
    const store = await newStore();
    const killed = await startElsewhere(store, testStart);
    const { host } = await store.read
      .selectFrom("processes")
      .select("host")
      .where("id", "=", (await start(store, testStart)).lease.id)
      .executeTakeFirstOrThrow();
    await store.write((tx) =>
      tx
        .updateTable("processes")
        .set({ host, pid: 2 ** 30 })
        .where("id", "=", killed.lease.id)
        .execute(),
    );
    await start(store, testStart);
    expect(await held(store)).toEqual(none);
  });
});
