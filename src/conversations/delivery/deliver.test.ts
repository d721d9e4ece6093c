import { afterEach, expect, it } from "vitest";
import type { Attempt } from "#channels/contract.ts";
import { DeliveryError } from "#channels/errors.ts";
import { defaultSettings } from "#domain/workspace/settings.ts";
import type { DeliveriesTable } from "#database/schema/tables.ts";
import { eachDatabase } from "#test/support/database/databases.ts";
import type { BenchOptions, EngineBench } from "#test/support/engine-bench.ts";
import { anna, answerOf, dayMs, minuteMs, openBench } from "#test/support/engine-bench.ts";
import { createHandMovedClock } from "#test/support/hand-moved-clock.ts";
import { createEndlessRush } from "#test/support/endless-burst.ts";

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

  it("sends the parts of a message in order, a call each, and keeps what the platform named them", async () => {
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

  it("does not send an agent's reply before the answer that was given before it, however slow that is", async () => {
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

  it("marks what the platform refuses as failed with the rest of its message, tells the agents, and goes on with the next", async () => {
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

  it("tries again what has not arrived, not before the platform allows it, and in order", async () => {
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

  it("gives up what never arrives: failed, a note, a dead letter, and people take over", async () => {
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
      "This message could not be delivered, and is not tried any more: no route to host",
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
    it(`never sends again what may have arrived where the platform cannot tell (${broken.message}), and says so to the agents`, async () => {
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

  it("asks the platform about what may have arrived, and takes its word that it has", async () => {
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

  it("asks the platform about what may have arrived, and sends it when it has not", async () => {
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

  it("sends again under the same key where that shows nothing twice", async () => {
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

  it("does not send again after a restart what was being sent when the process died", async () => {
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
    // A process of the same number: the work of the one before it is given back to it at once.
    const next = await newBench({ beside: bench, clock: bench.clock });
    await next.until("the next process has dealt with it", async () => {
      next.clock.advance(1_000);
      return (await stateOf(next))[0] === "unknown";
    });
    end();
    expect(next.sent).toEqual([]);
    expect((await next.notes(id)).join()).toContain("may not have arrived");
  });

  it("takes the furthest of the platform's reports, in whatever order and however often they come", async () => {
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

  it("tells the agents when the platform reports later that a message has failed", async () => {
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

  it("lets a report stand that came before the platform had answered the send", async () => {
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

  it("does not lay a report on a part at the door of another one", async () => {
    const bench = await newBench();
    await bench.begin("mixed up", "Hello");
    await bench.settle();
    const [row] = await deliveries(bench);
    const report = { kind: "delivery", state: "read", sentAt: 1 } as const;
    await bench.accept({ ...report, externalId: "r1", partExternalId: "another", partKey: row?.id ?? "" });
    await bench.accept({ ...report, externalId: "r2", partExternalId: row?.external_id ?? "", partKey: "another" });
    expect(await stateOf(bench)).toEqual(["sent"]);
  });

  it("shows the platform what it is asked about: the part, since when, and which others are known", async () => {
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

  it("fails a message at once when the channel account is gone, and tells the agents", async () => {
    const bench = await newBench();
    bench.script.send = () => Promise.reject(new DeliveryError("not_sent", "no route to host"));
    const id = await bench.begin("removed", "Hello");
    await bench.settle();
    await bench.store.write((tx) =>
      tx.updateTable("accounts").set({ enabled: 0 }).where("id", "=", bench.accountId).execute(),
    );
    // The process that had loaded the account stands still; the other finds it disabled.
    const other = await newBench({ beside: bench, clock: createHandMovedClock(bench.clock.now()) });
    await other.until("the other has given it up", async () => {
      other.clock.advance(500);
      return (await stateOf(other))[0] === "failed";
    });
    expect((await other.notes(id)).join()).toContain("removed or is disabled");
  });

  it("sends an agent's reply while events rush in, and the bot's afterwards", async () => {
    const rush = createEndlessRush();
    const bench = await newBench({ rush });
    const id = await bench.begin("quiet", "Hello");
    await bench.settle();
    const before = bench.sent.length;
    rush.begin();
    await bench.say("busy", "Hello");
    const words = { kind: "reply", content: "Here I am.", files: [], clientId: "req_reply", anyway: true } as const;
    await bench.engine.postAgentMessage(bench.workspaceId, id, words, { email: "anna@test.example", name: "Anna" });
    await bench.until("it is sent", () => bench.sent.length > before);
    expect(shown(bench).slice(before)).toEqual(["Here I am."]);
    // A rush holds up the turn for two seconds, and the delivery for two more.
    await bench.until("the bot's is sent", () => {
      bench.clock.advance(100);
      return bench.sent.length > before + 1;
    });
    expect(shown(bench).slice(before)).toEqual(["Here I am.", "You asked: Hello"]);
  });
});
