import { sql } from "kysely";
import { afterEach, expect, it } from "vitest";
import { indexWork } from "#conversations/transaction/effects/search-indexing.ts";
import { listConversations } from "#database/queries/conversation-list.ts";
import { runLane } from "./run-lane.ts";
import { finishWork, insertWork } from "#database/queries/outbox.ts";
import type { LeasedRow } from "#database/queries/outbox.ts";
import { Type } from "typebox";
import { declareWork, workKind } from "#database/work.ts";
import { createWorkTable } from "#queue/work-table.ts";
import { eachDatabase } from "#test/support/database/databases.ts";
import type { EngineBench } from "#test/support/engine-bench.ts";
import { dayMs, hourMs, openBench } from "#test/support/engine-bench.ts";

// Work that cannot run must neither block other work nor disappear without a trace.

let bench: EngineBench;
afterEach(() => bench.close());

const rowsOf = (kind: string) =>
  bench.store.read.selectFrom("outbox").selectAll().where("kind", "=", kind).orderBy("id").execute();

/** Stored as by another process; the worker finds it when it looks the next time. */
async function add(works: Parameters<typeof insertWork>[1]): Promise<void> {
  await bench.store.write((tx) => insertWork(tx, works, bench.clock.now()));
  bench.clock.advance(1_000);
  await bench.settle();
}

async function found(text: string): Promise<readonly string[]> {
  const filter = { workspaceId: bench.workspaceId, text, limit: 100 };
  const { rows } = await listConversations(bench.store, filter, bench.app.services.search);
  return rows.map(({ id }) => id).toSorted();
}

/** Makes the database refuse this conversation's text. */
async function refuseText(conversationId: string): Promise<void> {
  const id = sql.lit(conversationId);
  if (bench.store.dialect === "sqlite") {
    const trigger = sql`create trigger refused before insert on conversation_text for each row
      when new.conversation_id = ${id}
      begin select raise(abort, 'this text is refused'); end`;
    await bench.store.write((tx) => trigger.execute(tx));
    return;
  }
  // Outside a transaction, which such a statement would end.
  await sql`create trigger refused before insert on conversation_text for each row
    if new.conversation_id = ${id} then
      signal sqlstate '45000' set message_text = 'this text is refused';
    end if`.execute(bench.store.read);
}

eachDatabase("work that cannot run", (open) => {
  it("leaves out only the conversation whose text cannot be stored, and keeps a dead letter", async () => {
    bench = await openBench(open);
    const started = await bench.begin("anna", "the lamp is broken");
    await refuseText(started);
    const later = [await bench.begin("ben", "my lamp flickers"), await bench.begin("clara", "the lamp is too bright")];
    // One row for all, like the conversations of one transaction.
    const together = [await bench.begin("dora", "a lamp fell"), await bench.begin("emil", "no lamp came")];
    await add([indexWork([started, ...together], bench.clock.now())]);
    await bench.advance(200);
    expect(await found("lamp")).toEqual([...later, ...together].toSorted());
    // Later work does not wait for it either.
    const last = await bench.begin("fritz", "which lamp is brightest");
    await bench.advance(200);
    expect(await found("lamp")).toEqual([...later, ...together, last].toSorted());
    await bench.advance(dayMs);
    const dead = await rowsOf("index");
    expect(dead.map((row) => [row.attempts, row.dead_at !== null, JSON.parse(row.payload)])).toEqual(
      dead.map(() => [20, true, { conversationIds: [started] }]),
    );
    expect(dead.length).toBeGreaterThan(0);
    for (const row of dead) expect(row.last_error).toContain("this text is refused");
  });

  it("is kept for the newer version that stored it, for every kind", async () => {
    bench = await openBench(open);
    const { store, clock } = bench;
    // Some name nothing, or only where to go on.
    const named = bench.app.works.known.filter((kind) => bench.app.works.read({ kind, payload: "{}" }) === undefined);
    expect(named.length).toBeGreaterThan(20);
    const newer = { asNewerVersionsNameIt: ["x"] };
    await add(
      [...named, "unheard-of"].map((kind) => ({ lane: `${kind}:newer`, kind, payload: newer, dueAt: clock.now() })),
    );
    const rows = await store.read.selectFrom("outbox").selectAll().where("lane", "like", "%:newer").execute();
    expect(rows.map(({ kind }) => kind).toSorted()).toEqual([...named, "unheard-of"].toSorted());
    for (const row of rows) {
      expect(row).toMatchObject({ attempts: 1, dead_at: null, lease_id: null });
      expect(row.last_error).toContain("newer version");
    }
    const told = () =>
      bench.logged.filter((line) => line.includes("newer version") && !line.includes('"level":20')).length;
    expect(told()).toBe(rows.length);
    // The state after two hours of attempts. Each delay is as short as the first, so that a process that can run the
    // work gets it soon.
    const [wait = 0] = rows.map((row) => row.due_at - clock.now());
    expect(wait).toBeLessThanOrEqual(10_000);
    const attempts = (2 * hourMs) / wait;
    await store.write((tx) => tx.updateTable("outbox").set({ attempts }).where("lane", "like", "%:newer").execute());
    await bench.advance(wait);
    const later = await store.read.selectFrom("outbox").selectAll().where("lane", "like", "%:newer").execute();
    for (const row of later) {
      expect(row).toMatchObject({ attempts: attempts + 1, dead_at: null, due_at: clock.now() + wait });
    }
    await bench.advance(hourMs / 6);
    const kept = await store.read.selectFrom("outbox").selectAll().where("lane", "like", "%:newer").execute();
    expect(kept.length).toBe(rows.length);
    for (const row of kept) expect(row.dead_at).not.toBeNull();
    // Once when it was left, and once when it was given up.
    expect(told()).toBe(2 * rows.length);
  });

  it("is kept for a process that has the required services", async () => {
    bench = await openBench(open);
    const { clock } = bench;
    await add([{ lane: "embed:x", kind: "embed", payload: {}, dueAt: clock.now() }]);
    const [row] = await rowsOf("embed");
    expect(row).toMatchObject({ attempts: 1, dead_at: null });
    expect(row?.last_error).toContain("set up for it");
    expect(row?.last_error).not.toContain("version");
    await bench.advance((row?.due_at ?? 0) - clock.now());
    expect((await rowsOf("embed")).map(({ attempts }) => attempts)).toEqual([2]);
  });

  it("blocks its lane if it is unreadable, but no other lane", async () => {
    bench = await openBench(open);
    const { clock } = bench;
    const id = await bench.begin("anna", "is the lamp broken?");
    await bench.settle();
    const newer = { asNewerVersionsNameIt: ["x"] };
    const lane = `send:${id}`;
    await add([
      { lane, kind: "send", payload: newer, dueAt: clock.now() },
      { lane, kind: "stand-there", payload: { conversationId: id }, dueAt: clock.now() },
      { lane: "index", kind: "index", payload: newer, dueAt: clock.now() },
      indexWork([id], clock.now()),
    ]);
    expect((await rowsOf("stand-there")).length).toBe(1);
    expect((await rowsOf("index")).map(({ payload }) => JSON.parse(payload))).toEqual([newer]);
    expect(await found("lamp")).toEqual([id]);
  });

  it("makes a command report that a lane with an unreadable first row was not run", async () => {
    bench = await openBench(open);
    const { store, clock } = bench;
    const done: LeasedRow[] = [];
    const ingestKind = workKind("ingest", Type.Object({ documentId: Type.String() }));
    const ingest = declareWork(ingestKind, {
      attemptsMax: 1,
      async run(rows) {
        await store.write((tx) => finishWork(tx, rows));
        done.push(...rows);
      },
    });
    const step = () => runLane({ store, clock, works: createWorkTable([ingest]) }, "ingest:doc");
    const known = { lane: "ingest:doc", kind: "ingest", payload: { documentId: "doc" }, dueAt: clock.now() };
    const newer = { ...known, payload: { asNewerVersionsNameIt: ["x"] } };
    await store.write((tx) => insertWork(tx, [known, newer, known], clock.now()));
    expect([await step(), done.length]).toEqual([true, 1]);
    expect([await step(), done.length]).toEqual([false, 1]);
    expect((await rowsOf("ingest")).map((row) => row.lease_id)).toEqual([null, null]);
  });

  it("does not count attempts by a version that could not read it", async () => {
    bench = await openBench(open);
    const { store, clock } = bench;
    const id = await bench.begin("anna", "is the lamp broken?");
    await bench.settle();
    await refuseText(id);
    await store.write((tx) => tx.deleteFrom("outbox").where("kind", "=", "index").execute());
    await add([{ lane: "index", kind: "index", payload: { newer: [id] }, dueAt: clock.now() }]);
    await bench.advance(10_000);
    expect((await rowsOf("index")).map(({ attempts }) => attempts)).toEqual([2]);
    // A newer version reads it, and fails for another reason.
    const payload = JSON.stringify({ conversationIds: [id] });
    const taken = { payload, due_at: clock.now() };
    await store.write((tx) => tx.updateTable("outbox").set(taken).where("kind", "=", "index").execute());
    clock.advance(1_000);
    await bench.settle();
    const rows = await rowsOf("index");
    expect(rows.map((row) => [row.attempts, row.last_error?.includes("this text is refused")])).toEqual([[1, true]]);
  });
});
