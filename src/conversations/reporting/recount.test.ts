import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { dayOfDate } from "#domain/reporting/local-time.ts";
import { monthOf } from "#domain/reporting/periods.ts";
import { eachDatabase } from "#test/support/database/databases.ts";
import type { EngineBench } from "#test/support/engine-bench.ts";
import { anna, answerOf, hourMs, minuteMs, openBench } from "#test/support/engine-bench.ts";
import { foldChanges } from "./changes.ts";
import { compareDays, compareMonth, storedCells } from "./compare.ts";
import type { CountedCell } from "./counts.ts";

const allDays = { from: 0, to: 30_000 };

eachDatabase("reports", (open) => {
  let bench: EngineBench;
  let threads = 0;
  beforeAll(async () => {
    bench = await openBench(open, { settings: { timezone: "America/Los_Angeles" } });
    bench.script.answer = async ({ text }) =>
      text.includes("puzzling")
        ? answerOf("No idea.", { confidence: "low", answered: false, skillsFired: ["knowledge_search"] })
        : answerOf("Like so.", { skillsFired: ["knowledge_search"] });
  });
  afterAll(() => bench.close());
  beforeEach(async () => {
    for (const { id } of await bench.store.read.selectFrom("conversations").select("id").execute()) {
      await bench.engine.remove(bench.workspaceId, id, anna);
    }
    await bench.store.write(async (tx) => {
      await tx.deleteFrom("report_counts").execute();
      await tx.deleteFrom("report_changes").execute();
    });
  });

  const begin = async (text = "How do I pay?"): Promise<string> => {
    const id = await bench.begin(`thread ${(threads += 1)}`, text);
    await bench.settle();
    return id;
  };
  const say = async (id: string, text: string): Promise<void> => {
    await bench.say((await bench.row(id)).context_key, text);
    await bench.settle();
  };
  const change = (id: string, to: Parameters<EngineBench["engine"]["update"]>[2]) =>
    bench.engine.update(bench.workspaceId, id, to, anna);
  const reply = (conversationId: string) =>
    bench.engine.reply({
      workspaceId: bench.workspaceId,
      conversationId,
      content: "I help.",
      authorEmail: "anna@test.example",
      actor: anna,
    });

  /** `metric: value` of the cells of a dimension, after a check against the recount. */
  async function counted(dimension = "channel"): Promise<Readonly<Record<string, number>>> {
    const { store, workspaceId } = bench;
    expect((await compareDays(store.read, workspaceId, allDays)).differences).toEqual([]);
    const stored = await storedCells(store.read, workspaceId, allDays);
    for (const month of new Set(stored.map(({ day }) => monthOf(day)))) {
      expect(await compareMonth(store.read, workspaceId, month)).toEqual([]);
    }
    return totals(stored, dimension);
  }

  function totals(cells: readonly CountedCell[], dimension: string): Readonly<Record<string, number>> {
    const found: Record<string, number> = {};
    for (const { metric, name, value, ...cell } of cells) {
      if (cell.dimension !== dimension) continue;
      const key = dimension === "channel" ? metric.replace(/:.*/, "") : `${name} ${metric.replace(/:.*/, "")}`;
      found[key] = (found[key] ?? 0) + value;
    }
    return found;
  }

  it("count a conversation that the bot resolves alone", async () => {
    const id = await begin();
    await change(id, { status: "resolved" });
    expect(await counted()).toEqual({
      conversations: 1,
      messages_by_customers: 1,
      messages_by_bot: 1,
      first_reply: 1,
      resolved: 1,
      resolved_by_bot: 1,
      resolution: 1,
      sla_met: 1,
    });
  });

  it("count hand-overs by reason, and the time until a person replies, under the agent", async () => {
    const id = await begin("I want to talk to a human");
    bench.clock.advance(10 * minuteMs);
    await reply(id);
    await change(id, { status: "resolved" });
    const puzzled = await begin("A puzzling question");
    await say(puzzled, "Another puzzling question");
    const byAgent = await begin();
    await change(byAgent, { status: "escalated" });
    expect(await counted()).toMatchObject({
      unanswered: 2,
      handed_over: 3,
      handed_over_asked: 1,
      handed_over_low_confidence: 1,
      handed_over_other: 1,
      person_reply: 1,
      resolved: 1,
      messages_by_agents: 1,
    });
    expect(await counted()).not.toHaveProperty("resolved_by_bot");
    expect(await counted("agent")).toEqual({
      "anna@test.example assigned": 1,
      "anna@test.example messages_by_agents": 1,
      "anna@test.example person_reply": 1,
      "anna@test.example resolved": 1,
      "anna@test.example resolution": 1,
      "anna@test.example sla_met": 1,
    });
    expect(await counted("tag")).toMatchObject({ "escalated conversations": 3, "escalated resolved": 1 });
  });

  it("count a time in the hour in which it ends, and take it back there", async () => {
    const times = async () =>
      Object.entries(await counted("hour"))
        .filter(([name]) => /person_reply|resolution/.test(name))
        .map(([name, value]) => `${name} ${value}`)
        .toSorted();
    const local = new Intl.DateTimeFormat("en", { timeZone: "America/Los_Angeles", hour: "numeric", hourCycle: "h23" });
    const hour = (): number => Number(local.format(bench.clock.now()));
    const id = await begin("I want to talk to a human");
    await bench.pass(3 * hourMs);
    const replied = hour();
    await reply(id);
    await bench.pass(2 * hourMs);
    const resolved = hour();
    await change(id, { status: "resolved" });
    expect(await times()).toEqual([`${replied} person_reply 1`, `${resolved} resolution 1`].toSorted());
    bench.clock.advance(5_000);
    await change(id, { restore: { status: "claimed" } });
    expect(await times()).toEqual([`${replied} person_reply 1`]);
  });

  it("take back exactly what an undone resolve has counted, whatever changed in between", async () => {
    const id = await begin();
    const agent = { email: "anna@test.example", name: "Anna" };
    const act = async (action: Parameters<EngineBench["engine"]["applyAction"]>[2]) => {
      const { kind } = await bench.engine.applyAction(bench.workspaceId, id, action, agent);
      expect(kind).toBe("done");
    };
    const before = await counted();
    await act({ kind: "resolve" });
    await change(id, { tags: ["vip"], priority: "urgent" });
    bench.clock.advance(20 * minuteMs);
    await reply(id);
    expect(await counted()).toMatchObject({ resolved: 1, resolved_by_bot: 1, sla_met: 1, messages_by_agents: 1 });
    await act({ kind: "undo_resolve", snooze: { kind: "until_reply" } });
    expect(await counted()).toEqual({ ...before, messages_by_agents: 1 });
    expect(await counted("agent")).toEqual({ "anna@test.example messages_by_agents": 1 });
    expect(await counted("tag")).toEqual({ "vip conversations": 1 });
  });

  it("count a missed target, and a conversation that is opened again by its customer", async () => {
    const id = await begin();
    await bench.pass(2 * hourMs);
    await change(id, { status: "resolved" });
    await say(id, "One more thing");
    await reply(id);
    await change(id, { status: "resolved" });
    expect(await counted()).toMatchObject({
      conversations: 1,
      reopened: 1,
      resolved: 2,
      resolved_by_bot: 1,
      sla_missed: 1,
      sla_met: 1,
    });
  });

  it("take back a resolve that an agent takes back, with its durations", async () => {
    const id = await begin("I want to talk to a human");
    await change(id, { status: "claimed", assignedTo: "anna@test.example" });
    bench.clock.advance(minuteMs);
    await change(id, { status: "resolved" });
    bench.clock.advance(5_000);
    await change(id, { restore: { status: "claimed" } });
    expect(await counted()).toMatchObject({ handed_over: 1, assigned: 1 });
    for (const metric of ["resolved", "resolution", "sla_met", "reopened"]) {
      expect(await counted()).not.toHaveProperty(metric);
    }
    bench.clock.advance(minuteMs);
    await reply(id);
    await change(id, { status: "resolved" });
    expect(await counted()).toMatchObject({ resolved: 1, resolution: 1, person_reply: 1, assigned: 1 });
  });

  it("count a conversation under its present tags, on the day of its start", async () => {
    const id = await begin();
    await bench.pass(26 * hourMs);
    await change(id, { tags: ["refund", "vip"] });
    await change(id, { tags: ["vip"] });
    await change(id, { tags: ["vip"], status: "resolved" });
    expect(await counted("tag")).toEqual({
      "vip conversations": 1,
      "vip resolved": 1,
      "vip resolved_by_bot": 1,
      "vip resolution": 1,
      "vip sla_missed": 1,
    });
    const { started_at: startedAt } = await bench.row(id);
    const cells = await storedCells(bench.store.read, bench.workspaceId, allDays);
    const tagged = cells.find(({ dimension, metric }) => dimension === "tag" && metric === "conversations");
    const local = new Intl.DateTimeFormat("en-CA", { timeZone: "America/Los_Angeles" }).format(startedAt);
    expect(tagged?.day).toBe(dayOfDate(local));
  });

  it("are the same after two contacts are merged, and after the merge is undone", async () => {
    const ids = [await begin(), await begin("I want to talk to a human")];
    const [from = "", into = ""] = await Promise.all(ids.map(async (id) => (await bench.row(id)).contact_id));
    const before = await Promise.all(["channel", "tag"].map(counted));
    const { customers } = bench.app.services;
    await customers.merge(bench.workspaceId, from, into, anna);
    await bench.settle();
    expect(await Promise.all(ids.map(async (id) => (await bench.row(id)).contact_id))).toEqual([into, into]);
    expect(await Promise.all(["channel", "tag"].map(counted))).toEqual(before);
    for (const id of ids) await change(id, { status: "resolved" });
    const resolved = await counted();
    await customers.unmerge(bench.workspaceId, from, anna);
    await bench.settle();
    expect(await Promise.all(ids.map(async (id) => (await bench.row(id)).contact_id))).toEqual([from, into]);
    expect(await counted()).toEqual(resolved);
    expect(resolved).toMatchObject({ conversations: 2, handed_over: 1, resolved: 2 });
  });

  it("keep the counts of a deleted conversation", async () => {
    const id = await begin();
    const before = await counted();
    await bench.engine.remove(bench.workspaceId, id, anna);
    expect(totals(await storedCells(bench.store.read, bench.workspaceId, allDays), "channel")).toEqual(before);
  });

  it("are the same before and after increments are added up, by several processes at once", async () => {
    await Promise.all(Array.from({ length: 20 }, () => begin()));
    const before = await counted();
    await Promise.all([foldChanges(bench.store), foldChanges(bench.store), begin()]);
    await foldChanges(bench.store);
    expect(await bench.store.read.selectFrom("report_changes").selectAll().execute()).toEqual([]);
    expect(await counted()).toMatchObject({ conversations: (before["conversations"] ?? 0) + 1, messages_by_bot: 21 });
  });

  it("count conversations of an earlier version in the background, also those that change meanwhile", async () => {
    const ids = [];
    for (let i = 0; i < 60; i += 1) ids.push(await begin(i % 3 === 0 ? "I want to talk to a human" : "How do I pay?"));
    const [first = "", second = ""] = ids;
    await change(second, { status: "resolved", tags: ["refund"] });
    const before = await counted();
    await bench.store.write(async (tx) => {
      const earlier = {
        opened_at: null,
        awaited_since: null,
        replied: 0,
        bot_replied: 0,
        people_involved: 0,
        resolution: null,
      } as const;
      await tx.updateTable("conversations").set(earlier).execute();
      await tx.deleteFrom("report_counts").execute();
      await tx.deleteFrom("report_changes").execute();
    });
    await reply(first);
    expect(await bench.store.read.selectFrom("report_changes").selectAll().execute()).toEqual([]);
    const row = { lane: "report-backfill", kind: "report-backfill", payload: "{}" };
    await bench.store.write((tx) =>
      tx
        .insertInto("outbox")
        .values({ ...row, due_at: 0, attempts: 0, created_at: 0 })
        .execute(),
    );
    bench.clock.advance(minuteMs);
    await bench.settle();
    expect(await counted()).toEqual({ ...before, assigned: 1, messages_by_agents: 1, person_reply: 1 });
    await reply(first);
    await change(first, { status: "resolved" });
    expect(await counted()).toMatchObject({ messages_by_agents: 2, resolved: 2 });
  });

  it("store all increments of a transaction in one row", async () => {
    const id = await begin();
    const rows = async () => (await bench.store.read.selectFrom("report_changes").select("id").execute()).length;
    const before = await rows();
    await reply(id);
    expect((await rows()) - before).toBe(1);
  });
});
