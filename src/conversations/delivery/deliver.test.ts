import { afterEach, expect, it } from "vitest";
import type { Attempt } from "#channels/contract.ts";
import { DeliveryError } from "#channels/errors.ts";
import { defaultSettings } from "#domain/workspace/settings.ts";
import type { DeliveriesTable } from "#database/schema/tables.ts";
import { eachDatabase } from "#test/support/database/databases.ts";
import type { BenchOptions, EngineBench } from "#test/support/engine-bench.ts";
import { anna, answerOf, dayMs, minuteMs, openBench } from "#test/support/engine-bench.ts";
import { createHandMovedClock } from "#test/support/hand-moved-clock.ts";
import { createEndlessBurst } from "#test/support/endless-burst.ts";

eachDatabase("delivering", (open) => {
  const benches: EngineBench[] = [];
  afterEach(async () => {
    for (const bench of benches.splice(0).toReversed()) await bench.close();
  });

  async function newBench(options: BenchOptions = {}): Promise<EngineBench> {
    const bench = await openBench(open, options);
    benches.push(bench);
    return bench;
  }

  const deliveries = (bench: EngineBench): Promise<DeliveriesTable[]> =>
    bench.store.read.selectFrom("deliveries").selectAll().orderBy("message_id").orderBy("part").execute();
  const stateOf = async (bench: EngineBench) => (await deliveries(bench)).map(({ state }) => state);
  const shown = (bench: EngineBench) => bench.sent.map(({ text }) => text);

  it("sends the parts of a message in order, one call each, and stores the platform's ids", async () => {
    const bench = await newBench();
    bench.script.answer = async () => answerOf("one\n\ntwo\n\nthree");
    await bench.begin("parts", "Hello");
    await bench.settle();
    expect(shown(bench)).toEqual(["one", "two", "three"]);
    const rows = await deliveries(bench);
    expect(rows.map(({ state, external_id }) => [state, external_id])).toEqual(
      bench.sent.map(({ key }) => ["sent", `platform-${key}`]),
    );
  });

  it("sends an agent's reply after the bot's earlier answer, however slow that answer is", async () => {
    const bench = await newBench();
    let free: () => void = () => undefined;
    const slow = new Promise<void>((resolve) => {
      free = resolve;
    });
    bench.script.send = async (_part, { key }) => {
      if (bench.sent.length === 0) await slow;
      return { externalId: key, state: "sent" };
    };
    const id = await bench.begin("order", "Hello");
    await bench.until("the answer is stored", async () => (await bench.messages(id)).length === 2);
    const reply = {
      workspaceId: bench.workspaceId,
      conversationId: id,
      content: "From Anna",
      authorEmail: "anna@test.example",
      actor: anna,
    };
    const first = await bench.engine.reply({ ...reply, clientId: "reply-1" });
    expect(await bench.engine.reply({ ...reply, clientId: "reply-1" })).toEqual(first);
    expect(shown(bench)).toEqual([]);
    free();
    await bench.settle();
    expect(shown(bench)).toEqual(["You asked: Hello", "From Anna"]);
  });

  it("fails a refused part and the rest of its message, notifies the agents, and sends the next message", async () => {
    const bench = await newBench();
    bench.script.answer = async () => answerOf("one\n\ntwo\n\nthree");
    const { send } = bench.script;
    let calls = 0;
    bench.script.send = async (part, context) => {
      calls += 1;
      if (part.text === "two") throw new DeliveryError("rejected", "the customer has blocked the bot");
      return send(part, context);
    };
    const id = await bench.begin("refused", "Hello");
    await bench.settle();
    await bench.advance(dayMs);
    expect(await stateOf(bench)).toEqual(["sent", "failed", "failed"]);
    expect(calls).toBe(2);
    expect(await bench.notes(id)).toEqual(["This message could not be delivered: the customer has blocked the bot"]);
    bench.script.answer = async () => answerOf("four");
    await bench.say("refused", "Hello?");
    await bench.settle();
    expect(shown(bench)).toEqual(["one", "four"]);
  });

  it("retries an undelivered part in order, and not before the platform allows it", async () => {
    const bench = await newBench();
    bench.script.answer = async () => answerOf("one\n\ntwo");
    const { send } = bench.script;
    const calls: number[] = [];
    bench.script.send = async (part, context) => {
      calls.push(bench.clock.now());
      if (calls.length === 1) throw new DeliveryError("not_sent", "too many requests", { retryAfterMs: 90_000.5 });
      return send(part, context);
    };
    const start = bench.clock.now();
    await bench.begin("limited", "Hello");
    await bench.settle();
    await bench.advance(90_000);
    expect(shown(bench)).toEqual([]);
    await bench.advance(minuteMs);
    expect(shown(bench)).toEqual(["one", "two"]);
    expect((calls[1] ?? 0) - start).toBeGreaterThanOrEqual(90_000);
    expect(await stateOf(bench)).toEqual(["sent", "sent"]);
  });

  it("abandons a part that never arrives: state failed, a note, a dead letter, and escalation", async () => {
    const bench = await newBench();
    const { send } = bench.script;
    let calls = 0;
    bench.script.send = async (...given) => {
      calls += 1;
      if (calls > 24) return send(...given);
      throw new DeliveryError("not_sent", "no route to host");
    };
    const id = await bench.begin("unreachable", "Hello");
    await bench.settle();
    await bench.advance(dayMs);
    expect(await stateOf(bench)).toEqual(["failed", "sent"]);
    expect(calls).toBe(25);
    expect(await bench.notes(id)).toEqual([
      "This message could not be delivered. It is not sent again: no route to host",
    ]);
    const dead = await bench.store.read
      .selectFrom("outbox")
      .select(["kind", "last_error"])
      .where("dead_at", "is not", null)
      .execute();
    expect(dead).toEqual([{ kind: "send", last_error: "no route to host" }]);
    expect(await bench.row(id)).toMatchObject({ status: "escalated" });
    expect(shown(bench)).toEqual([defaultSettings.handoverMessage]);
  });

  for (const broken of [
    new DeliveryError("unknown", "the connection broke"),
    new TypeError("not a DeliveryError at all"),
  ]) {
    it(`does not resend a possibly sent part if the platform cannot be asked (${broken.message}), and notifies the agents`, async () => {
      const bench = await newBench();
      let calls = 0;
      bench.script.send = async () => {
        calls += 1;
        throw broken;
      };
      const id = await bench.begin("unknown", "Hello");
      await bench.settle();
      await bench.advance(dayMs);
      // Once the answer, and once the hand-over.
      expect(calls).toBe(2);
      expect(await stateOf(bench)).toEqual(["unknown", "unknown"]);
      expect((await bench.notes(id)).join()).toContain("may not have arrived");
      expect(await bench.row(id)).toMatchObject({ status: "escalated" });
      expect((await bench.talk(id)).at(-1)).toBe(`assistant: ${defaultSettings.handoverMessage}`);
    });
  }

  it("marks a possibly sent part as sent if the platform has it", async () => {
    const bench = await newBench({
      script: { reconcile: async (key) => ({ externalId: `found-${key}`, state: "delivered" }) },
    });
    let calls = 0;
    bench.script.send = async () => {
      calls += 1;
      throw new DeliveryError("unknown", "the connection broke");
    };
    const id = await bench.begin("reconciled", "Hello");
    await bench.settle();
    await bench.advance(dayMs);
    expect(calls).toBe(1);
    expect(await deliveries(bench)).toMatchObject([
      { state: "delivered", external_id: expect.stringMatching(/^found-/) as unknown },
    ]);
    expect(await bench.notes(id)).toEqual([]);
  });

  it("looks a possibly sent part up again when the platform allows, and sends nothing before", async () => {
    const asked: number[] = [];
    const bench = await newBench();
    bench.script.reconcile = async (key) => {
      asked.push(bench.clock.now());
      if (asked.length === 1) throw new DeliveryError("not_sent", "too many requests", { retryAfterMs: dayMs });
      return { externalId: `found-${key}`, state: "delivered" };
    };
    await bench.begin("limited", "Hello");
    let calls = 0;
    bench.script.send = async () => {
      calls += 1;
      throw new DeliveryError("unknown", "the connection broke");
    };
    await bench.settle();
    await bench.advance(2 * dayMs);
    expect(calls).toBe(1);
    expect((asked[1] ?? 0) - (asked[0] ?? 0)).toBeGreaterThanOrEqual(dayMs);
    expect(await stateOf(bench)).toEqual(["delivered"]);
  });

  it("resends a possibly sent part if the platform does not have it", async () => {
    const bench = await newBench({ script: { reconcile: async () => null } });
    const { send } = bench.script;
    const keys: string[] = [];
    bench.script.send = async (part, context) => {
      keys.push(context.key);
      if (keys.length === 1) throw new DeliveryError("unknown", "the connection broke");
      return send(part, context);
    };
    await bench.begin("resent", "Hello");
    await bench.settle();
    await bench.advance(minuteMs);
    expect(shown(bench)).toEqual(["You asked: Hello"]);
    expect(keys[1]).toBe(keys[0]);
    expect(await stateOf(bench)).toEqual(["sent"]);
  });

  it("resends under the same key if the platform drops duplicates", async () => {
    const bench = await newBench({ script: { idempotentSend: true } });
    const { send } = bench.script;
    const keys: string[] = [];
    bench.script.send = async (part, context) => {
      keys.push(context.key);
      if (keys.length < 3) throw new DeliveryError("unknown", "the connection broke");
      return send(part, context);
    };
    await bench.begin("idempotent", "Hello");
    await bench.settle();
    await bench.advance(minuteMs);
    expect(new Set(keys).size).toBe(1);
    expect(await stateOf(bench)).toEqual(["sent"]);
  });

  it("does not resend after a restart a part that was being sent when the process died", async () => {
    const bench = await newBench();
    let calls = 0;
    let end: () => void = () => undefined;
    bench.script.send = () => {
      calls += 1;
      return new Promise((resolve) => {
        end = () => resolve({ externalId: null, state: "sent" });
      });
    };
    const id = await bench.begin("died", "Hello");
    await bench.until("the call is under way", () => calls === 1);
    // A process of the same number gets the work of the previous one at once.
    const next = await newBench({ beside: bench, clock: bench.clock });
    await next.until("the next process has dealt with it", async () => {
      next.clock.advance(1_000);
      return (await stateOf(next))[0] === "unknown";
    });
    // The unknown outcome also hands the conversation over. Only that message may be sent.
    await next.settle();
    end();
    expect(shown(next)).toEqual([defaultSettings.handoverMessage]);
    expect(calls).toBe(1);
    expect(await stateOf(next)).toEqual(["unknown", "sent"]);
    expect((await next.notes(id)).join()).toContain("may not have arrived");
  });

  it("stores the most advanced receipt, in any order and with duplicates", async () => {
    const bench = await newBench();
    const id = await bench.begin("reports", "Hello");
    await bench.settle();
    const [{ external_id: part } = { external_id: null }] = await deliveries(bench);
    const report = (state: "delivered" | "read" | "failed", n: number) =>
      bench.accept({
        kind: "delivery",
        externalId: `report ${state} ${n}`,
        partExternalId: part ?? "",
        state,
        sentAt: bench.clock.now(),
      });
    await report("read", 1);
    await report("delivered", 1);
    await report("read", 2);
    await report("failed", 1);
    expect(await stateOf(bench)).toEqual(["read"]);
    expect(await bench.notes(id)).toEqual([]);
  });

  it("notifies the agents if the platform later reports a message as failed", async () => {
    const bench = await newBench();
    const id = await bench.begin("late failure", "Hello");
    await bench.settle();
    const [{ external_id: part } = { external_id: null }] = await deliveries(bench);
    await bench.accept({
      kind: "delivery",
      externalId: "report",
      partExternalId: part ?? "",
      state: "failed",
      error: "the number does not exist",
      sentAt: bench.clock.now(),
    });
    expect(await stateOf(bench)).toEqual(["failed"]);
    expect(await bench.notes(id)).toEqual(["the number does not exist"]);
  });

  it("keeps a receipt that arrives before the answer of the send", async () => {
    const bench = await newBench();
    const states = ["delivered", "failed"] as const;
    bench.script.send = async (_part, { key }) => {
      const state = states[bench.sent.length] ?? "read";
      await bench.accept({
        kind: "delivery",
        externalId: `early ${key}`,
        partExternalId: `platform-${key}`,
        partKey: key,
        state,
        ...(state === "failed" ? { error: "it was refused on the way" } : {}),
        sentAt: bench.clock.now(),
      });
      return { externalId: `platform-${key}`, state: "sent" };
    };
    bench.script.answer = async () => answerOf("one\n\ntwo");
    const id = await bench.begin("early", "Hello");
    await bench.settle();
    const rows = await deliveries(bench);
    expect(rows.map(({ state, external_id }) => [state, external_id])).toEqual(
      bench.sent.map(({ key }, at) => [states[at], `platform-${key}`]),
    );
    expect(await bench.notes(id)).toEqual(["it was refused on the way"]);
  });

  it("does not apply a receipt to a part with a similar id", async () => {
    const bench = await newBench();
    await bench.begin("mixed up", "Hello");
    await bench.settle();
    const [row] = await deliveries(bench);
    const report = { kind: "delivery", state: "read", sentAt: 1 } as const;
    await bench.accept({ ...report, externalId: "r1", partExternalId: "another", partKey: row?.id ?? "" });
    await bench.accept({ ...report, externalId: "r2", partExternalId: row?.external_id ?? "", partKey: "another" });
    expect(await stateOf(bench)).toEqual(["sent"]);
  });

  it("passes the part, the start of the send and the known ids to the platform's lookup", async () => {
    const attempts: Attempt[] = [];
    const bench = await newBench({
      script: {
        reconcile: async (_key, attempt) => {
          attempts.push(attempt);
          return null;
        },
      },
    });
    const id = await bench.begin("attempt", "Hello");
    await bench.settle();
    const { send } = bench.script;
    let broken = false;
    bench.script.send = async (part, context) => {
      if (!broken) {
        broken = true;
        throw new DeliveryError("unknown", "the connection broke");
      }
      return send(part, context);
    };
    const began = bench.clock.now();
    await bench.say("attempt", "And now?");
    await bench.settle();
    await bench.advance(minuteMs);
    const known = (await deliveries(bench)).map(({ external_id }) => external_id);
    expect(attempts).toEqual([
      {
        part: { text: "You asked: And now?", payload: { text: "You asked: And now?" } },
        startedAt: began,
        otherExternalIds: known.slice(0, 1),
      },
    ]);
    expect(await bench.messages(id)).toHaveLength(4);
  });

  it("fails a message at once if the channel account is gone, and notifies the agents", async () => {
    const bench = await newBench();
    bench.script.send = () => Promise.reject(new DeliveryError("not_sent", "no route to host"));
    const id = await bench.begin("removed", "Hello");
    await bench.settle();
    await bench.store.write((tx) =>
      tx.updateTable("accounts").set({ enabled: 0 }).where("id", "=", bench.accountId).execute(),
    );
    // The process that had loaded the account does not run; the other one finds the account disabled.
    const other = await newBench({ beside: bench, clock: createHandMovedClock(bench.clock.now()) });
    await other.until("the other has given it up", async () => {
      other.clock.advance(500);
      return (await stateOf(other))[0] === "failed";
    });
    expect((await other.notes(id)).join()).toContain("removed or is disabled");
  });

  it("sends an agent's reply during a burst of events, and the bot's reply afterwards", async () => {
    const burst = createEndlessBurst();
    const bench = await newBench({ burst });
    const id = await bench.begin("quiet", "Hello");
    await bench.settle();
    const before = bench.sent.length;
    burst.begin();
    await bench.say("busy", "Hello");
    const words = {
      kind: "reply",
      content: "Here I am.",
      files: [],
      clientId: "req_reply",
      overrideOwner: true,
    } as const;
    await bench.engine.postAgentMessage(bench.workspaceId, id, words, { email: "anna@test.example", name: "Anna" });
    await bench.until("it is sent", () => bench.sent.length > before);
    expect(shown(bench).slice(before)).toEqual(["Here I am."]);
    // The burst delays the turn by two seconds, and the delivery by two more.
    await bench.until("the bot's is sent", () => {
      bench.clock.advance(100);
      return bench.sent.length > before + 1;
    });
    expect(shown(bench).slice(before)).toEqual(["Here I am.", "You asked: Hello"]);
  });
});
