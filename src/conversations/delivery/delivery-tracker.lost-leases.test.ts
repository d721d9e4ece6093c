import { pino } from "pino";
import { expect, it } from "vitest";
import { DeliveryError } from "#channels/errors.ts";
import { createDeliveryTracker } from "./delivery-tracker.ts";
import { createInboundBurst } from "#queue/backpressure.ts";
import { workTableOf } from "#test/support/queue/work-tables.ts";
import { openWorker } from "#queue/worker/worker.ts";
import { systemClock } from "#runtime/clock.ts";
import { LostLease, claimLanes, finishWork, insertWork } from "#database/queries/outbox.ts";
import { openBareDesk } from "#test/support/desk/bare-desk.ts";
import { eachDatabase, openTestStore } from "#test/support/database/databases.ts";
import type { EngineBench } from "#test/support/engine-bench.ts";
import { openBench } from "#test/support/engine-bench.ts";
import { isWriteWaiting } from "#test/support/database/waiting-writes.ts";

// The process is paused for longer than its lease, such as by a suspended machine or a lost database connection, and
// then continues its work.

eachDatabase("a process that lost its lease to another", (open) => {
  /** Stores the part as sent by the other process. */
  async function sendElsewhere({ store, clock }: EngineBench): Promise<void> {
    await store.write(async (tx) => {
      const rows = await tx.selectFrom("outbox").selectAll().where("kind", "=", "send").execute();
      await tx.updateTable("outbox").set({ lease_id: "ses_other" }).where("kind", "=", "send").execute();
      await finishWork(
        tx,
        rows.map((row) => ({ ...row, lease_id: "ses_other" })),
      );
      const sent = { state: "sent", external_id: "theirs", settled_at: clock.now() } as const;
      await tx.updateTable("deliveries").set(sent).execute();
    });
  }

  const states = async ({ store }: EngineBench) =>
    (await store.read.selectFrom("deliveries").select(["state", "external_id"]).execute()).map((row) => ({ ...row }));

  it("does not resend a part that the other sent during its lookup", async () => {
    const asked = Promise.withResolvers<undefined>();
    const answer = Promise.withResolvers<null>();
    let calls = 0;
    const bench = await openBench(open, {
      script: {
        async send() {
          calls += 1;
          throw new DeliveryError("unknown", "the connection broke");
        },
        reconcile() {
          asked.resolve(undefined);
          return answer.promise;
        },
      },
    });
    await bench.begin("anna", "hello");
    await bench.until("the first try has failed", () => calls === 1);
    await bench.settle();
    bench.clock.advance(2_000);
    await asked.promise;
    await sendElsewhere(bench);
    answer.resolve(null);
    await bench.settle();
    await bench.advance(60_000);
    expect(calls).toBe(1);
    expect(await states(bench)).toEqual([{ state: "sent", external_id: "theirs" }]);
    await bench.close();
  });

  it("does not requeue a part that the other sent while its own call failed", async () => {
    const called = Promise.withResolvers<undefined>();
    const fail = Promise.withResolvers<undefined>();
    const bench = await openBench(open, {
      script: {
        async send() {
          called.resolve(undefined);
          await fail.promise;
          throw new DeliveryError("not_sent", "nobody is there");
        },
      },
    });
    await bench.begin("anna", "hello");
    await called.promise;
    await sendElsewhere(bench);
    fail.resolve(undefined);
    await bench.advance(60_000);
    expect(await states(bench)).toEqual([{ state: "sent", external_id: "theirs" }]);
    await bench.close();
  });

  it("does not post at the agents' desk what the other posted", async () => {
    const shown: string[] = [];
    const posting = Promise.withResolvers<undefined>();
    const asked = Promise.withResolvers<undefined>();
    const answer = Promise.withResolvers<null>();
    const bench = await openBareDesk(open, {
      async post(_thread, { text }) {
        shown.push(text);
        posting.resolve(undefined);
        throw new DeliveryError("unknown", "the connection broke");
      },
      find() {
        asked.resolve(undefined);
        return answer.promise;
      },
    });
    const { store, clock } = bench;
    await bench.begin("anna", "hello");
    await posting.promise;
    await bench.settle();
    clock.advance(2_000);
    await asked.promise;
    await store.write((tx) =>
      tx.updateTable("outbox").set({ lease_id: "ses_other" }).where("kind", "=", "desk").execute(),
    );
    answer.resolve(null);
    // All runs end before the bench closes.
    await bench.close();
    expect(shown).toEqual(["hello"]);
  });

  it("does not start a call without its lease, and does not delay other calls", async () => {
    const held = Promise.withResolvers<undefined>();
    const bench = await openBench(open, {
      script: { send: () => held.promise.then(() => ({ externalId: "x", state: "sent" as const })) },
    });
    for (const name of ["anna", "ben"]) await bench.begin(name, `hello from ${name}`);
    await bench.until(
      "both are being sent",
      async () => (await states(bench)).filter(({ state }) => state === "sending").length === 2,
    );
    const { store, clock } = bench;
    await store.write((tx) => tx.updateTable("deliveries").set({ state: "queued" }).execute());
    const rows = await store.read.selectFrom("outbox").selectAll().where("kind", "=", "send").orderBy("id").execute();
    const parts = rows.map((row) => ({
      row,
      deliveryId: (JSON.parse(row.payload) as { readonly deliveryId: string }).deliveryId,
      state: "queued" as const,
    }));
    const [lost, ours] = parts;
    if (lost === undefined || ours === undefined) throw new Error("nothing is being sent");
    await store.write((tx) =>
      tx.updateTable("outbox").set({ lease_id: "ses_other" }).where("id", "=", lost.row.id).execute(),
    );
    const marks = createDeliveryTracker({ store, clock });
    const [first, second] = await Promise.allSettled([marks.begin(lost), marks.begin(ours)]);
    expect(first).toMatchObject({ status: "rejected", reason: expect.any(LostLease) });
    expect(second.status).toBe("fulfilled");
    const now = await store.read.selectFrom("deliveries").select(["id", "state"]).execute();
    expect(now.find(({ id }) => id === lost.deliveryId)?.state).toBe("queued");
    expect(now.find(({ id }) => id === ours.deliveryId)?.state).toBe("sending");
    held.resolve(undefined);
    await bench.close();
  });

  it("prevents others from taking its started part for an unsent one", async () => {
    const held = Promise.withResolvers<undefined>();
    const bench = await openBench(open, {
      script: { send: () => held.promise.then(() => ({ externalId: "x", state: "sent" as const })) },
    });
    await bench.begin("anna", "hello");
    await bench.until("it is being sent", async () => (await states(bench))[0]?.state === "sending");
    const { store, clock } = bench;
    await store.write((tx) => tx.updateTable("deliveries").set({ state: "queued" }).execute());
    const row = await store.read.selectFrom("outbox").selectAll().where("kind", "=", "send").executeTakeFirstOrThrow();
    const { deliveryId } = JSON.parse(row.payload) as { readonly deliveryId: string };

    const marked = Promise.withResolvers<undefined>();
    const commit = Promise.withResolvers<undefined>();
    const write: typeof store.write = (work) =>
      store.write(async (tx) => {
        const result = await work(tx);
        marked.resolve(undefined);
        await commit.promise;
        return result;
      });
    const slow = createDeliveryTracker({ store: { ...store, write }, clock }).begin({
      row,
      deliveryId,
      state: "queued",
    });
    await marked.promise;
    // Expired by the other process's clock.
    const later = (row.lease_until ?? 0) + 1;
    const lease = { id: "ses_other", until: later + 15_000 };
    let isTaken = false;
    const taking = store
      .write((tx) => claimLanes(tx, [row.lane], lease, later))
      .then(async ([taken]) => {
        isTaken = true;
        return { taken, seen: (await states(bench))[0]?.state };
      });
    await bench.until("the other waits, or has it", async () => isTaken || (await isWriteWaiting(store)));
    if (isTaken) await taking;
    commit.resolve(undefined);
    await slow;
    const { taken, seen } = await taking;
    // The process asks the platform first, and does not send the part as new.
    expect(seen).toBe("sending");
    if (taken === undefined) throw new Error("the lease has not ended");
    const hasty = createDeliveryTracker({ store, clock }).begin({ row: taken, deliveryId, state: "queued" });
    await expect(hasty).rejects.toThrow(LostLease);
    held.resolve(undefined);
    await bench.close();
  });

  it("does not send a part that the other claimed, even if the platform drops duplicates", async () => {
    let calls = 0;
    const bench = await openBench(open, {
      script: {
        idempotentSend: true,
        async send() {
          calls += 1;
          throw new DeliveryError("unknown", "the connection broke");
        },
      },
    });
    await bench.begin("anna", "hello");
    await bench.until("the first try has failed", () => calls === 1);
    await bench.settle();
    // Pauses after it has read the part to send.
    const { select } = bench.store;
    let slept = false;
    Object.assign(bench.store, {
      async select(query: Parameters<typeof select>[0]) {
        const rows = await select(query);
        if (!slept && query.sql.includes("deliveries")) {
          slept = true;
          await sendElsewhere(bench);
        }
        return rows;
      },
    });
    await bench.advance(60_000);
    expect(slept).toBe(true);
    expect(calls).toBe(1);
    expect(await states(bench)).toEqual([{ state: "sent", external_id: "theirs" }]);
    await bench.close();
  });

  it("neither abandons the work nor changes its lane", async () => {
    const { store, close } = await openTestStore(open);
    const now = systemClock.now();
    const begun = Promise.withResolvers<undefined>();
    const fail = Promise.withResolvers<undefined>();
    const givenUp: number[] = [];
    const worker = openWorker({
      store,
      clock: systemClock,
      log: pino({ level: "silent" }),
      processId: "ses_test",
      works: workTableOf({
        send: {
          attemptsMax: 1,
          async run() {
            begun.resolve(undefined);
            await fail.promise;
            throw new Error("too late");
          },
          async onAbandon(_tx, row) {
            givenUp.push(row.id);
            return () => undefined;
          },
        },
        amend: { attemptsMax: 9, run: () => Promise.reject(new Error("not its turn")) },
      }),
      inboundBurst: createInboundBurst(),
      lanesMax: 4,
      backoffMs: () => 60_000,
    });
    await store.write((tx) =>
      insertWork(
        tx,
        [1, 2].map((n) => ({ lane: "send:1", kind: n === 1 ? "send" : "amend", payload: { n }, dueAt: now })),
        now,
      ),
    );
    worker.wake("send:1", now);
    await begun.promise;
    const taken = { lease_id: "ses_other", lease_until: now + 3_600_000 };
    await store.write((tx) => tx.updateTable("outbox").set(taken).execute());
    fail.resolve(undefined);
    await worker.close(10_000);
    const rows = await store.read.selectFrom("outbox").select(["attempts", "lease_id", "due_at", "dead_at"]).execute();
    const untouched = { attempts: 0, lease_id: "ses_other", due_at: now, dead_at: null };
    expect(rows).toEqual([untouched, untouched]);
    expect(givenUp).toEqual([]);
    await close();
  });
});
