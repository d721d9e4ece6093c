import { afterAll, beforeAll, expect, it } from "vitest";
import { createAccountState } from "#channel-host/account-state.ts";
import { setWorkspace } from "#admin/workspaces/settings.ts";
import { createWorkspace } from "#admin/workspaces/workspaces.ts";
import { rowsOf } from "#test/support/database/conversation-rows.ts";
import { eachDatabase } from "#test/support/database/databases.ts";
import type { EngineBench } from "#test/support/engine-bench.ts";
import { anna, dayMs, hourMs, minuteMs, openBench } from "#test/support/engine-bench.ts";

eachDatabase("daily cleanup", (open) => {
  let bench: EngineBench;
  beforeAll(async () => {
    bench = await openBench(open, {
      dailyCleanup: true,
      settings: { autoResolveDays: null, autoArchiveDays: null },
    });
  });
  afterAll(() => bench.close());

  /**
   * Advances the clock in one step, and runs the due work. The daily cleanup runs once, however many days have passed.
   */
  async function jump(ms: number): Promise<void> {
    bench.clock.leap(ms);
    await bench.settle();
  }
  const exists = async (id: string) =>
    (await bench.store.read.selectFrom("conversations").select("id").where("id", "=", id).execute()).length === 1;
  const count = async (table: "messages" | "inbound_events" | "contacts" | "identities" | "counters" | "idempotency") =>
    (await bench.store.read.selectFrom(table).selectAll().execute()).length;

  it("deletes a conversation within a day after a year without messages", async () => {
    const silent = await bench.begin("silent", "The unforgettable xylophone");
    await jump(dayMs);
    const lively = await bench.begin("lively", "Hello");
    await bench.settle();
    await bench.engine.update(bench.workspaceId, lively, { status: "snoozed", snooze: { kind: "until_reply" } }, anna);
    await jump(300 * dayMs);
    await bench.say("lively", "Still there?");
    await bench.settle();
    await jump(64 * dayMs - hourMs);
    expect(await exists(silent)).toBe(true);
    await jump(dayMs + hourMs);
    expect(await exists(silent)).toBe(false);
    expect(await exists(lively)).toBe(true);
    expect(await bench.messages(silent)).toEqual([]);
    const log = await bench.store.read
      .selectFrom("audit")
      .select(["action", "actor_type", "actor_id"])
      .where("conversation_id", "=", silent)
      .orderBy("id", "desc")
      .execute();
    expect(log[0]).toEqual({ action: "deleted", actor_type: "system", actor_id: "retention" });
    await jump(301 * dayMs);
    expect(await exists(lively)).toBe(false);
    await jump(dayMs);
    expect([await count("messages"), await count("contacts"), await count("identities")]).toEqual([0, 0, 0]);
  });

  it("deletes an account's expired values, and keeps those that were set since", async () => {
    const { services } = bench.app;
    const state = createAccountState(bench.store, { id: bench.accountId }, bench.clock, services.secrets);
    for (const key of ["for a while", "for good"]) expect(await state.compareAndSet(key, null, "1", hourMs)).toBe(true);
    await state.set("for good", "2");
    expect(await state.compareAndSet("without an end", null, "3", null)).toBe(true);
    await jump(2 * dayMs);
    expect(await state.get("for a while")).toBeNull();
    expect([await state.get("for good"), await state.get("without an end")]).toEqual(["2", "3"]);
  });

  it("keeps conversations of an enterprise for six years", async () => {
    await bench.store.write((tx) => tx.updateTable("workspaces").set({ plan: "enterprise" }).execute());
    const id = await bench.begin("enterprise", "Hello");
    await bench.settle();
    await jump(6 * 365 * dayMs);
    expect(await exists(id)).toBe(true);
    await jump(4 * dayMs);
    expect(await exists(id)).toBe(false);
    await bench.store.write((tx) => tx.updateTable("workspaces").set({ plan: "business" }).execute());
  });

  it("deletes a conversation after the workspace's own retention, which cannot exceed its plan's", async () => {
    const retainFor = (days: string) =>
      setWorkspace(bench.store, bench.clock, bench.workspaceId, [`retention_days=${days}`]);
    await expect(retainFor("366")).rejects.toMatchObject({ code: "feature_not_in_plan" });
    await retainFor("30");
    const id = await bench.begin("brief", "Hello");
    await bench.settle();
    await jump(29 * dayMs);
    expect(await exists(id)).toBe(true);
    await jump(2 * dayMs);
    expect(await exists(id)).toBe(false);
    await retainFor("false");
  });

  it("deletes more conversations than one page and one batch hold", async () => {
    const startedAt = bench.clock.now();
    const rows = Array.from({ length: 520 }, () => rowsOf({ workspaceId: bench.workspaceId, startedAt }).conversation);
    await bench.store.write((tx) => tx.insertInto("conversations").values(rows).execute());
    await jump(367 * dayMs);
    const left = await bench.store.read.selectFrom("conversations").select("id").limit(1).execute();
    expect(left).toEqual([]);
  });

  it("removes the text of events after 30 days, and their keys after more than a year", async () => {
    await bench.say("events", "A secret of mine", { id: "event-1" });
    await bench.settle();
    const stored = () =>
      bench.store.read
        .selectFrom("inbound_events")
        .select("payload")
        .where("external_id", "=", "event-1")
        .executeTakeFirst();
    await jump(28 * dayMs);
    expect((await stored())?.payload).toContain("A secret of mine");
    await jump(4 * dayMs);
    expect(await stored()).toEqual({ payload: "{}" });
    expect((await bench.say("events", "A secret of mine", { id: "event-1" })).duplicate).toBe(true);
    await jump(400 * dayMs);
    expect(await stored()).toBeUndefined();
  });

  it("deletes expired counters, stored responses, sign-ins and dead letters", async () => {
    const now = bench.clock.now();
    const old = now - 60 * dayMs;
    await bench.store.write(async (tx) => {
      await tx.deleteFrom("counters").execute();
      await tx
        .insertInto("counters")
        .values([
          { name: "inbox:address:192.0.2.1", window_start: now - 3 * dayMs, value: 1 },
          { name: "queries:wt_a", window_start: now - 30 * dayMs, value: 7 },
          { name: "queries:wt_b", window_start: old, value: 7 },
          { name: "rate:day:key_a", window_start: now, value: 1 },
        ])
        .execute();
      const kept = { body_hash: "b", status: 200, response: "{}", lease_until: old };
      await tx
        .insertInto("idempotency")
        .values([
          { ...kept, key_id: "k", path: "/a", idempotency_key: "1", created_at: now - 3 * dayMs },
          { ...kept, key_id: "k", path: "/a", idempotency_key: "2", created_at: now },
        ])
        .execute();
      const token = { agent_id: "agt_a", kind: "session" as const, used_at: null, created_at: old };
      await tx
        .insertInto("agent_tokens")
        .values([
          { ...token, hash: "ended", expires_at: now - 1 },
          { ...token, hash: "lasting", expires_at: now + 30 * dayMs },
        ])
        .execute();
      const letter = {
        lane: "send:x",
        kind: "send",
        payload: "{}",
        due_at: old,
        attempts: 12,
        lease_id: null,
        lease_until: null,
        last_error: "gone",
        created_at: old,
      };
      await tx
        .insertInto("outbox")
        .values([
          { ...letter, dead_at: now - 31 * dayMs },
          { ...letter, dead_at: now - 2 * dayMs },
        ])
        .execute();
    });
    await jump(dayMs);
    const names = await bench.store.read.selectFrom("counters").select("name").orderBy("name").execute();
    expect(names.map(({ name }) => name)).toEqual(["queries:wt_a", "rate:day:key_a"]);
    const keys = await bench.store.read.selectFrom("idempotency").select("idempotency_key").execute();
    expect(keys.map((row) => row.idempotency_key)).toEqual(["2"]);
    const tokens = await bench.store.read.selectFrom("agent_tokens").select("hash").execute();
    expect(tokens).toEqual([{ hash: "lasting" }]);
    const dead = await bench.store.read.selectFrom("outbox").select("id").where("dead_at", "is not", null).execute();
    expect(dead).toHaveLength(1);
  });

  it("has one outbox row, which runs daily", async () => {
    for (let day = 0; day < 3; day += 1) {
      await jump(dayMs);
      const rows = await bench.store.read
        .selectFrom("outbox")
        .select(["due_at", "attempts"])
        .where("lane", "=", "housekeeping")
        .execute();
      expect(rows).toEqual([{ due_at: bench.clock.now() + dayMs, attempts: 0 }]);
    }
  });
});

eachDatabase("new settings", (open) => {
  let bench: EngineBench;
  beforeAll(async () => {
    bench = await openBench(open);
  });
  afterAll(() => bench.close());

  const set = async (...assignments: readonly string[]): Promise<void> => {
    await setWorkspace(bench.store, bench.clock, bench.workspaceId, assignments);
    await bench.settle();
    bench.clock.leap(2_000);
    await bench.settle();
  };
  const statusOf = async (id: string) => (await bench.row(id)).status;
  async function pass(ms: number): Promise<void> {
    await bench.settle();
    bench.clock.leap(ms);
    await bench.settle();
  }

  it("reschedule the timers of idle conversations: silence, archiving, SLA", async () => {
    const open1 = await bench.begin("open", "Hello");
    const resolved = await bench.begin("resolved", "Hello");
    await bench.settle();
    await bench.engine.update(bench.workspaceId, resolved, { status: "resolved" }, anna);
    await pass(30 * minuteMs);
    expect((await bench.row(open1)).sla_state).toBe("in_compliance");
    await set("sla.normal=35");
    expect((await bench.row(open1)).sla_state).toBe("at_risk");
    await pass(5 * minuteMs);
    expect((await bench.row(open1)).sla_state).toBe("breached");
    await pass(2 * dayMs);
    await set("auto_resolve_days=2", "auto_archive_days=3");
    expect(await statusOf(open1)).toBe("resolved");
    expect(await statusOf(resolved)).toBe("resolved");
    await pass(dayMs);
    expect(await statusOf(resolved)).toBe("archived");
  });

  it("start timers that were off, and stop them", async () => {
    await set("auto_resolve_days=false", "auto_archive_days=false");
    const ids = [];
    for (const thread of ["off 1", "off 2"]) ids.push(await bench.begin(thread, "Hello"));
    const [first = "", second = ""] = ids;
    await pass(10 * dayMs);
    expect([await statusOf(first), await statusOf(second)]).toEqual(["open", "open"]);
    await bench.engine.update(bench.workspaceId, second, { status: "resolved" }, anna);
    await set("auto_resolve_days=20", "auto_archive_days=20");
    await pass(10 * dayMs - 4_001);
    expect([await statusOf(first), await statusOf(second)]).toEqual(["open", "resolved"]);
    await pass(2_001);
    expect(await statusOf(first)).toBe("resolved");
    await set("auto_archive_days=false");
    await pass(30 * dayMs);
    expect(await statusOf(second)).toBe("resolved");
  });

  it("do not affect another workspace's conversations", async () => {
    const { store, secrets } = bench.app.services;
    const other = await createWorkspace({ store, clock: bench.clock, secrets }, { name: "Other" });
    await setWorkspace(store, bench.clock, other.id, ["auto_resolve_days=1"]);
    const id = await bench.begin("mine", "Hello");
    await pass(2 * dayMs);
    expect(await statusOf(id)).toBe("open");
  });
});
