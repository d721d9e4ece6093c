import { afterAll, beforeAll, expect, it } from "vitest";
import type { Status } from "#domain/conversation/status.ts";
import { statuses } from "#domain/conversation/status.ts";
import { Problem } from "#domain/problem.ts";
import type { ConversationChange } from "#conversations/agents/requests.ts";
import { lockConversation } from "#database/queries/conversations.ts";
import { eachDatabase } from "#test/support/database/databases.ts";
import type { EngineBench } from "#test/support/engine-bench.ts";
import { isWriteWaiting } from "#test/support/database/waiting-writes.ts";
import { anna, dayMs, hourMs, minuteMs, openBench } from "#test/support/engine-bench.ts";

/** The permitted changes of status by the contract. Deliberately not the code's own table. */
const allowed: readonly (readonly [Status, Status])[] = [
  ["open", "claimed"],
  ["escalated", "claimed"],
  ["open", "escalated"],
  ["open", "snoozed"],
  ["escalated", "snoozed"],
  ["claimed", "snoozed"],
  ["resolved", "snoozed"],
  ["archived", "snoozed"],
  ["open", "resolved"],
  ["escalated", "resolved"],
  ["claimed", "resolved"],
  ["snoozed", "resolved"],
  ["archived", "resolved"],
  ["resolved", "archived"],
  ["resolved", "open"],
  ["archived", "open"],
  ["claimed", "open"],
  ["escalated", "open"],
  ["snoozed", "open"],
  ["snoozed", "claimed"],
  ["snoozed", "escalated"],
];

eachDatabase("the lifecycle", (open) => {
  let bench: EngineBench;
  let threads = 0;
  beforeAll(async () => {
    bench = await openBench(open);
  });
  afterAll(() => bench.close());

  const change = (id: string, to: ConversationChange) => bench.engine.update(bench.workspaceId, id, to, anna);
  const claim: ConversationChange = { status: "claimed", assignedTo: "anna@test.example" };
  const to = (status: Status): ConversationChange => (status === "claimed" ? claim : { status });

  const paths: Readonly<Record<Status, readonly ConversationChange[]>> = {
    open: [],
    claimed: [claim],
    escalated: [{ status: "escalated" }],
    snoozed: [{ status: "snoozed" }],
    resolved: [{ status: "resolved" }],
    archived: [{ status: "resolved" }, { status: "archived" }],
  };

  async function conversationIn(status: Status, ...more: readonly ConversationChange[]): Promise<string> {
    threads += 1;
    const id = await bench.begin(`lifecycle ${threads}`, "Hello");
    await bench.settle();
    for (const step of [...paths[status], ...more]) await change(id, step);
    return id;
  }

  const statusOf = async (id: string): Promise<Status> => (await bench.row(id)).status;

  async function codeOf(work: Promise<unknown>): Promise<string> {
    try {
      await work;
    } catch (error) {
      if (error instanceof Problem) return error.code;
      throw error;
    }
    return "done";
  }

  for (const from of statuses) {
    for (const target of statuses) {
      if (from === target) {
        it(`${from} to ${from} changes nothing and is not an error`, async () => {
          const id = await conversationIn(from);
          const before = await bench.row(id);
          const audit = async () =>
            (await bench.store.read.selectFrom("audit").select("id").where("conversation_id", "=", id).execute())
              .length;
          const entries = await audit();
          await change(id, to(target));
          const { version: _, ...after } = await bench.row(id);
          expect(before).toMatchObject(after);
          expect(await audit()).toBe(entries);
        });
      } else if (allowed.some(([a, b]) => a === from && b === target)) {
        it(`${from} to ${target} is permitted`, async () => {
          const id = await conversationIn(from);
          await change(id, to(target));
          expect(await statusOf(id)).toBe(target);
        });
      } else {
        it(`${from} to ${target} is refused, with every other part of the change`, async () => {
          const id = await conversationIn(from);
          const before = await bench.row(id);
          expect(
            await codeOf(
              change(id, {
                ...to(target),
                priority: "urgent",
                tags: ["a"],
                notes: [{ content: "n", authorEmail: null }],
              }),
            ),
          ).toBe("invalid_transition");
          expect(await bench.row(id)).toEqual(before);
          expect(await bench.notes(id)).toEqual([]);
        });
      }
    }
  }

  for (const from of ["open", "claimed", "escalated"] as const) {
    it(`a timed snooze returns to ${from} at its time, not a millisecond sooner`, async () => {
      const id = await conversationIn(from);
      await change(id, { status: "snoozed", snooze: { kind: "until", at: bench.clock.now() + 3 * hourMs } });
      await bench.advance(3 * hourMs - 1);
      expect(await statusOf(id)).toBe("snoozed");
      await bench.advance(1);
      await bench.until("the snooze has ended", async () => (await statusOf(id)) === from);
      const row = await bench.row(id);
      expect(row).toMatchObject({ snoozed_from: null, snoozed_until: null });
      expect(row.assigned_to).toBe(from === "claimed" ? "anna@test.example" : null);
    });

    it(`a timed snooze returns to ${from} when the customer writes first`, async () => {
      const id = await conversationIn(from);
      await change(id, { status: "snoozed", snooze: { kind: "until", at: bench.clock.now() + 3 * hourMs } });
      await bench.say((await bench.row(id)).context_key, "Hello again");
      expect(await statusOf(id)).toBe(from);
    });

    it(`a snooze until the customer replies does not expire, and returns to ${from}`, async () => {
      const id = await conversationIn(from);
      await change(id, { status: "snoozed", snooze: { kind: "until_reply" } });
      await bench.pass(400 * dayMs);
      expect(await statusOf(id)).toBe("snoozed");
      await bench.say((await bench.row(id)).context_key, "Hello again");
      expect(await statusOf(id)).toBe(from);
    });
  }

  it("a second snooze replaces the time of the first", async () => {
    const id = await conversationIn("open");
    await change(id, { status: "snoozed", snooze: { kind: "until", at: bench.clock.now() + hourMs } });
    await change(id, { status: "snoozed", snooze: { kind: "until", at: bench.clock.now() + 3 * hourMs } });
    await bench.advance(2 * hourMs);
    expect(await statusOf(id)).toBe("snoozed");
    await change(id, { status: "snoozed", snooze: { kind: "until", at: bench.clock.now() + minuteMs } });
    await bench.advance(minuteMs);
    expect(await statusOf(id)).toBe("open");
  });

  for (const from of ["resolved", "archived"] as const) {
    it(`a snooze from ${from} ends in open, with a new SLA clock`, async () => {
      const id = await conversationIn("open");
      await bench.advance(50 * minuteMs);
      for (const step of paths[from]) await change(id, step);
      await change(id, { status: "snoozed", snooze: { kind: "until", at: bench.clock.now() + hourMs } });
      await bench.advance(hourMs);
      expect(await bench.row(id)).toMatchObject({ status: "open", sla_elapsed_ms: 0, sla_state: "in_compliance" });
    });

    it(`a message opens a conversation that is ${from}, starts a new SLA clock, and is answered by the bot`, async () => {
      const id = await conversationIn("open");
      await bench.advance(50 * minuteMs);
      for (const step of paths[from]) await change(id, step);
      await bench.say((await bench.row(id)).context_key, "One more thing");
      await bench.settle();
      expect(await bench.row(id)).toMatchObject({
        status: "open",
        resolved_at: null,
        sla_elapsed_ms: 0,
        sla_running_since: bench.clock.now(),
      });
      expect((await bench.talk(id)).slice(-2)).toEqual([
        "user: One more thing",
        "assistant: You asked: One more thing",
      ]);
    });
  }

  it("resolves an open conversation after exactly seven silent days, and archives it thirty days later", async () => {
    const id = await conversationIn("open");
    await bench.advance(7 * dayMs - 1);
    expect(await statusOf(id)).toBe("open");
    await bench.advance(1);
    expect(await statusOf(id)).toBe("resolved");
    await bench.advance(30 * dayMs - 1);
    expect(await statusOf(id)).toBe("resolved");
    await bench.advance(1);
    expect(await statusOf(id)).toBe("archived");
  });

  it("counts the days of silence from the last message", async () => {
    const id = await conversationIn("open");
    await bench.advance(6 * dayMs);
    await bench.say((await bench.row(id)).context_key, "Still here");
    await bench.advance(6 * dayMs);
    expect(await statusOf(id)).toBe("open");
    await bench.advance(dayMs);
    expect(await statusOf(id)).toBe("resolved");
  });

  for (const [what, ...steps] of [
    ["reopened", { status: "resolved" }, { status: "open" }],
    ["released", claim, { status: "open" }],
  ] as const) {
    it(`restarts the days of silence for a conversation that was ${what}`, async () => {
      const id = await conversationIn("open");
      const [first, second] = steps;
      await change(id, first);
      await bench.advance(8 * dayMs);
      await change(id, second);
      await bench.advance(7 * dayMs - 1);
      expect(await statusOf(id)).toBe("open");
      await bench.advance(1);
      expect(await statusOf(id)).toBe("resolved");
    });
  }

  it("restarts the days of silence at the end of a long snooze", async () => {
    const id = await conversationIn("open");
    await change(id, { status: "snoozed", snooze: { kind: "until", at: bench.clock.now() + 20 * dayMs } });
    await bench.advance(20 * dayMs);
    expect(await statusOf(id)).toBe("open");
    await bench.advance(7 * dayMs);
    expect(await statusOf(id)).toBe("resolved");
  });

  for (const status of ["claimed", "escalated"] as const) {
    it(`never resolves a conversation that is ${status} automatically`, async () => {
      const id = await conversationIn(status);
      await bench.pass(100 * dayMs);
      expect(await statusOf(id)).toBe(status);
    });
  }

  it("changes the SLA state at exactly 80 % and 100 % of the target", async () => {
    const id = await conversationIn("open");
    const state = async () => (await bench.row(id)).sla_state;
    await bench.advance(48 * minuteMs - 1);
    expect(await state()).toBe("in_compliance");
    await bench.advance(1);
    expect(await state()).toBe("at_risk");
    await bench.advance(12 * minuteMs - 1);
    expect(await state()).toBe("at_risk");
    await bench.advance(1);
    expect(await state()).toBe("breached");
  });

  it("pauses the SLA clock while claimed or snoozed, and continues it afterwards", async () => {
    const id = await conversationIn("open");
    await bench.advance(40 * minuteMs);
    await change(id, claim);
    await bench.advance(5 * hourMs);
    await change(id, { status: "open" });
    await change(id, { status: "snoozed", snooze: { kind: "until", at: bench.clock.now() + 5 * hourMs } });
    await bench.advance(5 * hourMs + 8 * minuteMs - 1);
    expect(await bench.row(id)).toMatchObject({ status: "open", sla_state: "in_compliance" });
    await bench.advance(1);
    expect(await bench.row(id)).toMatchObject({ status: "open", sla_state: "at_risk" });
  });

  it("applies the target of a new priority from its change on", async () => {
    const id = await conversationIn("open");
    await bench.advance(20 * minuteMs);
    await change(id, { priority: "urgent" });
    expect((await bench.row(id)).sla_state).toBe("breached");
    await change(id, { priority: "high" });
    expect((await bench.row(id)).sla_state).toBe("in_compliance");
    await bench.advance(4 * minuteMs);
    expect((await bench.row(id)).sla_state).toBe("at_risk");
    await change(id, { priority: "low" });
    expect((await bench.row(id)).sla_state).toBe("in_compliance");
  });

  it("keeps one escalation tag, and logs every added and removed tag", async () => {
    const id = await conversationIn("escalated", { status: "open" });
    const tagging = async () =>
      (
        await bench.store.read
          .selectFrom("audit")
          .select(["action", "from_value", "to_value"])
          .where("conversation_id", "=", id)
          .where("action", "in", ["tagged", "untagged"])
          .orderBy("id")
          .execute()
      ).map(({ action, from_value, to_value }) => `${action} ${from_value ?? to_value}`);
    const tags = async () =>
      (
        await bench.store.read.selectFrom("conversation_tags").select("tag").where("conversation_id", "=", id).execute()
      ).map(({ tag }) => tag);
    expect(await tagging()).toEqual(["tagged escalated"]);
    await change(id, { status: "escalated" });
    expect(await tagging()).toEqual(["tagged escalated"]);
    await change(id, { status: "open" });
    await change(id, { status: "escalated", tags: ["money"] });
    expect(await tagging()).toEqual(["tagged escalated", "tagged money"]);
    expect((await tags()).toSorted()).toEqual(["escalated", "money"]);
    await change(id, { tags: ["money"] });
    await change(id, { status: "open" });
    await change(id, { status: "escalated", tags: [] });
    expect((await tagging()).slice(2)).toEqual(["untagged escalated", "tagged escalated", "untagged money"]);
    expect(await tags()).toEqual(["escalated"]);
  });

  it("reads the time after the wait for the lock, so that the audit log is in the order of the changes", async () => {
    const { store, clock } = bench;
    /**
     * Starts work that waits for the conversation's lock, advances the clock, and releases the lock. Returns the times
     * in the audit log.
     */
    async function late(id: string, work: () => Promise<unknown>): Promise<readonly number[]> {
      const locked = Promise.withResolvers<undefined>();
      const go = Promise.withResolvers<undefined>();
      const first = store.write(async (tx) => {
        await lockConversation(tx, bench.workspaceId, id);
        locked.resolve(undefined);
        await go.promise;
      });
      await locked.promise;
      const second = work();
      await bench.until("it waits", () => isWriteWaiting(store));
      clock.leap(1_000);
      go.resolve(undefined);
      await Promise.all([first, second]);
      const entries = store.read.selectFrom("audit").select("created_at").where("conversation_id", "=", id);
      return (await entries.orderBy("id").execute()).map(({ created_at }) => created_at);
    }
    const id = await conversationIn("open");
    expect((await late(id, () => change(id, claim))).at(-1)).toBe(clock.now());
    expect((await late(id, () => change(id, { status: "resolved" }))).at(-1)).toBe(clock.now());
    expect((await late(id, () => bench.say(`lifecycle ${threads}`, "And now?"))).at(-1)).toBe(clock.now());
    expect(await statusOf(id)).toBe("open");
    await bench.settle();
  });

  it("lets one of twenty concurrent claims succeed, and names its agent to the others", async () => {
    const id = await conversationIn("escalated");
    const outcomes = await Promise.allSettled(
      Array.from({ length: 20 }, (_, agent) =>
        change(id, { status: "claimed", assignedTo: `agent${agent}@test.example` }),
      ),
    );
    const { assigned_to: winner } = await bench.row(id);
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    expect(outcomes.findIndex(({ status }) => status === "fulfilled")).toBe(
      Number(/^agent(\d+)@/.exec(winner ?? "")?.[1]),
    );
    for (const outcome of outcomes) {
      if (outcome.status === "fulfilled") continue;
      expect(outcome.reason).toMatchObject({
        code: "invalid_transition",
        message: expect.stringContaining(String(winner)) as unknown,
      });
    }
    const audit = await bench.store.read
      .selectFrom("audit")
      .select(["action"])
      .where("conversation_id", "=", id)
      .execute();
    expect(audit.filter(({ action }) => action === "assigned")).toHaveLength(1);
  });

  it("lets the owner hand a conversation to a colleague, and refuses another agent's claim", async () => {
    const id = await conversationIn("claimed");
    await change(id, { assignedTo: "ben@test.example" });
    expect((await bench.row(id)).assigned_to).toBe("ben@test.example");
    expect(await codeOf(change(id, claim))).toBe("invalid_transition");
  });

  it("claims an open or escalated conversation for an agent who replies, and leaves a colleague's conversation assigned", async () => {
    for (const status of ["open", "escalated", "claimed"] as const) {
      const id = await conversationIn(status);
      await bench.engine.reply({
        workspaceId: bench.workspaceId,
        conversationId: id,
        content: "Hello from Ben",
        authorEmail: "ben@test.example",
        actor: anna,
      });
      expect(await bench.row(id)).toMatchObject({
        status: "claimed",
        assigned_to: status === "claimed" ? "anna@test.example" : "ben@test.example",
      });
    }
  });
});
