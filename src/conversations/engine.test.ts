import * as fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import { seeded } from "#test/support/tier.ts";
import type { Status } from "#domain/conversation/status.ts";
import { statuses } from "#domain/conversation/status.ts";
import { Problem } from "#domain/problem.ts";
import type { Priority } from "#domain/conversation/sla.ts";
import { eachDatabase } from "#test/support/database/databases.ts";
import { compareDays } from "#conversations/reporting/compare.ts";
import type { EngineBench } from "#test/support/engine-bench.ts";
import { anna, answerOf, dayMs, hourMs, minuteMs, openBench } from "#test/support/engine-bench.ts";

const handover = "A person will come.";
const targets: Readonly<Record<Priority, number>> = { urgent: 15, high: 30, normal: 60, low: 240 };

type Step =
  | { readonly kind: "say"; readonly mood: "content" | "puzzling" | "person" }
  | { readonly kind: "set"; readonly status: Exclude<Status, "claimed" | "snoozed"> }
  | { readonly kind: "claim" | "reply"; readonly agent: "anna" | "ben" }
  | { readonly kind: "snooze"; readonly forMs: number | null }
  | { readonly kind: "priority"; readonly priority: Priority }
  | { readonly kind: "wait"; readonly ms: number };

const agent = fc.constantFrom("anna" as const, "ben" as const);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant("say" as const),
      mood: fc.constantFrom("content" as const, "puzzling" as const, "puzzling" as const, "person" as const),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant("set" as const),
      status: fc.constantFrom("open" as const, "escalated" as const, "resolved" as const, "archived" as const),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constantFrom("claim" as const, "reply" as const), agent }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant("snooze" as const), forMs: fc.constantFrom(null, minuteMs, 5 * hourMs) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("priority" as const),
      priority: fc.constantFrom(...(Object.keys(targets) as Priority[])),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("wait" as const),
      ms: fc.constantFrom(1, 5 * minuteMs, 40 * minuteMs, 5 * hourMs, 8 * dayMs, 31 * dayMs),
    }),
  },
);

/** A model of one conversation by the contract, written independently of the engine. */
class Model {
  status: Status = "open";
  snoozedFrom: Status | null = null;
  snoozedUntil: number | null = null;
  assignedTo: string | null = null;
  priority: Priority = "normal";
  waitedMs = 0;
  lowInARow = 0;
  handovers = 0;
  lastMessageAt: number;
  resolvedAt: number | null = null;
  openedAt: number;
  now: number;

  constructor(now: number) {
    this.now = now;
    this.lastMessageAt = now;
    this.openedAt = now;
  }

  get counts(): boolean {
    return this.status === "open" || this.status === "escalated";
  }

  get slaState(): string {
    const share = this.waitedMs / (targets[this.priority] * minuteMs);
    return share >= 1 ? "breached" : share >= 0.8 ? "at_risk" : "in_compliance";
  }

  private get wakesIn(): Status {
    return this.snoozedFrom === "claimed" || this.snoozedFrom === "escalated" ? this.snoozedFrom : "open";
  }

  go(to: Status, snoozedUntil: number | null = null): void {
    const from = this.status;
    if (from === to) {
      if (to === "snoozed") this.snoozedUntil = snoozedUntil;
      return;
    }
    const closed = from === "resolved" || from === "archived";
    if (closed && (to === "open" || to === "snoozed")) this.waitedMs = 0;
    this.snoozedFrom = to === "snoozed" ? from : null;
    this.snoozedUntil = to === "snoozed" ? snoozedUntil : null;
    this.status = to;
    if (to === "resolved") this.resolvedAt = this.now;
    if (to === "open") {
      this.openedAt = this.now;
      this.assignedTo = null;
      this.lowInARow = 0;
      this.resolvedAt = null;
    }
  }

  mayGo(to: Status): boolean {
    const table: Readonly<Record<Status, readonly Status[]>> = {
      open: ["claimed", "escalated", "snoozed", "resolved"],
      escalated: ["claimed", "open", "snoozed", "resolved"],
      claimed: ["open", "snoozed", "resolved"],
      snoozed: ["open", "claimed", "escalated", "resolved"],
      resolved: ["open", "archived", "snoozed"],
      archived: ["open", "resolved", "snoozed"],
    };
    return to === this.status || table[this.status].includes(to);
  }

  wait(ms: number): void {
    const end = this.now + ms;
    for (;;) {
      const next = Math.min(
        this.status === "snoozed" ? (this.snoozedUntil ?? Infinity) : Infinity,
        this.status === "open" ? Math.max(this.lastMessageAt, this.openedAt) + 7 * dayMs : Infinity,
        this.status === "resolved" && this.resolvedAt !== null ? this.resolvedAt + 30 * dayMs : Infinity,
      );
      const stop = Math.max(this.now, Math.min(next, end));
      if (this.counts) this.waitedMs += stop - this.now;
      this.now = stop;
      if (next > end) return;
      if (this.status === "snoozed") this.go(this.wakesIn);
      else this.go(this.status === "open" ? "resolved" : "archived");
    }
  }

  /** The claim of an agent; false where it is refused. */
  claim(email: string): boolean {
    if (this.status === "claimed") return this.assignedTo === email;
    if (!this.mayGo("claimed")) return false;
    if (this.snoozedFrom === "claimed" && this.assignedTo !== email) return false;
    this.go("claimed");
    this.assignedTo = email;
    return true;
  }

  said(mood: Extract<Step, { kind: "say" }>["mood"]): void {
    if (this.status === "resolved" || this.status === "archived") this.go("open");
    else if (this.status === "snoozed") this.go(this.wakesIn);
    this.lastMessageAt = this.now;
    if (this.status !== "open") return;
    this.lowInARow = mood === "puzzling" ? this.lowInARow + 1 : 0;
    if (mood === "person" || this.lowInARow >= 2) this.handOver();
  }

  /** Waking what people had before is none. */
  isNewEscalation(): boolean {
    return this.status === "open" || (this.status === "snoozed" && this.wakesIn === "open");
  }

  handOver(): void {
    this.go("escalated");
    this.lowInARow = 0;
    this.handovers += 1;
    this.lastMessageAt = this.now;
  }
}

eachDatabase("a conversation", (open) => {
  let bench: EngineBench;
  let conversations = 0;
  beforeAll(async () => {
    bench = await openBench(open, { settings: { handoverMessage: handover } });
    bench.script.answer = async ({ text }) =>
      answerOf(`Answer to ${text}`, text.includes("puzzling") ? { confidence: "low", answered: false } : {});
  });
  afterAll(() => bench.close());

  /** False when it is refused. */
  async function applyStep(id: string, thread: string, given: Step): Promise<boolean> {
    const { engine, workspaceId, clock } = bench;
    try {
      switch (given.kind) {
        case "say":
          await bench.say(thread, given.mood === "person" ? "I want to talk to a human" : `A ${given.mood} question`);
          await bench.settle();
          break;
        case "set":
          await engine.update(workspaceId, id, { status: given.status }, anna);
          break;
        case "claim":
          await engine.update(workspaceId, id, { status: "claimed", assignedTo: `${given.agent}@test.example` }, anna);
          break;
        case "reply":
          await engine.reply({
            workspaceId,
            conversationId: id,
            content: "Reply",
            authorEmail: `${given.agent}@test.example`,
            actor: anna,
          });
          break;
        case "snooze":
          await engine.update(
            workspaceId,
            id,
            {
              status: "snoozed",
              snooze: given.forMs === null ? { kind: "until_reply" } : { kind: "until", at: clock.now() + given.forMs },
            },
            anna,
          );
          break;
        case "priority":
          await engine.update(workspaceId, id, { priority: given.priority }, anna);
          break;
        case "wait":
          await bench.advance(given.ms);
      }
      return true;
    } catch (error) {
      if (error instanceof Problem && error.code === "invalid_transition") return false;
      throw error;
    }
  }

  function applyToModel(model: Model, given: Step): boolean {
    switch (given.kind) {
      case "say":
        model.said(given.mood);
        return true;
      case "set":
        if (!model.mayGo(given.status)) return false;
        if (given.status === "escalated" && model.isNewEscalation()) model.handOver();
        else model.go(given.status);
        return true;
      case "claim":
        return model.claim(`${given.agent}@test.example`);
      case "reply":
        if (model.status === "archived") return false;
        model.lastMessageAt = model.now;
        if (model.counts) model.claim(`${given.agent}@test.example`);
        return true;
      case "snooze":
        model.go("snoozed", given.forMs === null ? null : model.now + given.forMs);
        return true;
      case "priority":
        model.priority = given.priority;
        return true;
      case "wait":
        model.wait(given.ms);
        return true;
    }
  }

  it("matches the model of the contract after every step of any sequence of events", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 14 }), async (steps) => {
        const thread = `model ${(conversations += 1)}`;
        const id = await bench.begin(thread, "A content question");
        await bench.settle();
        const model = new Model(bench.clock.now());
        try {
          for (const [i, given] of steps.entries()) {
            const at = `after step ${i + 1}, ${JSON.stringify(given)}`;
            expect(await applyStep(id, thread, given), at).toBe(applyToModel(model, given));
            await bench.settle();
            await check(id, model, at);
          }
          await checkReports(id);
        } finally {
          await bench.engine.remove(bench.workspaceId, id, anna);
          await forgetReports();
        }
      }),
      { numRuns: 25, endOnFailure: false, ...seeded },
    );
  }, 120_000);

  /** The counts of the reports equal a recount. */
  async function checkReports(id: string): Promise<void> {
    const { store, workspaceId } = bench;
    const others = await store.read.selectFrom("conversations").select("id").where("id", "!=", id).execute();
    expect(others).toEqual([]);
    const { differences } = await compareDays(store.read, workspaceId, { from: 0, to: 30_000 });
    expect(differences).toEqual([]);
  }

  /** Counts outlive conversations. The next run starts with none. */
  async function forgetReports(): Promise<void> {
    await bench.store.write(async (tx) => {
      await tx.deleteFrom("report_changes").execute();
      await tx.deleteFrom("report_counts").execute();
    });
  }

  async function check(id: string, model: Model, at: string): Promise<void> {
    const row = await bench.row(id);
    const now = bench.clock.now();
    expect(model.now, at).toBe(now);
    expect(
      {
        status: row.status,
        snoozedFrom: row.snoozed_from,
        snoozedUntil: row.snoozed_until,
        assignedTo: row.assigned_to,
        slaState: row.sla_state,
        waitedMs: row.sla_elapsed_ms + (row.sla_running_since === null ? 0 : now - row.sla_running_since),
        lastMessageAt: row.last_message_at,
      },
      at,
    ).toEqual({
      status: model.status,
      snoozedFrom: model.snoozedFrom,
      snoozedUntil: model.snoozedUntil,
      assignedTo: model.assignedTo,
      slaState: model.slaState,
      waitedMs: model.waitedMs,
      lastMessageAt: model.lastMessageAt,
    });

    const messages = await bench.messages(id);
    expect(
      messages.map(({ seq }) => seq),
      at,
    ).toEqual(messages.map((_, i) => i + 1));
    expect(row, at).toMatchObject({ last_seq: messages.length, message_count: messages.length });
    expect(
      messages.filter(({ content }) => content === handover),
      at,
    ).toHaveLength(model.handovers);

    const audit = await bench.store.read
      .selectFrom("audit")
      .selectAll()
      .where("conversation_id", "=", id)
      .where("action", "=", "status_changed")
      .orderBy("id")
      .execute();
    for (const [i, entry] of audit.entries()) {
      expect(entry.from_value, at).toBe(i === 0 ? null : (audit[i - 1]?.to_value ?? ""));
      expect(statuses, at).toContain(entry.to_value);
    }
    expect(audit.at(-1)?.to_value, at).toBe(row.status);

    // The filter values of lists match the conversation.
    const tagged = await bench.store.read
      .selectFrom("conversation_tags")
      .selectAll()
      .where("conversation_id", "=", id)
      .execute();
    for (const tag of tagged) expect(tag, at).toMatchObject({ status: row.status, sla_state: row.sla_state });
  }
});
