import { afterEach, expect, it } from "vitest";
import { eachDatabase } from "#test/support/database/databases.ts";
import type { EngineBench, BenchOptions } from "#test/support/engine-bench.ts";
import { anna, openBench } from "#test/support/engine-bench.ts";

// The state "sending" is stored with the bot's reply if the platform can be asked for the outcome of a send.

eachDatabase("a reply whose sending begins with it", (open) => {
  const benches: EngineBench[] = [];
  afterEach(async () => {
    for (const bench of benches.splice(0).toReversed()) await bench.close();
  });

  async function newBench(options: BenchOptions): Promise<EngineBench> {
    const bench = await openBench(open, options);
    benches.push(bench);
    return bench;
  }

  const deliveries = (bench: EngineBench) =>
    bench.store.read.selectFrom("deliveries").select(["state", "attempts"]).execute();

  it("is sent without a question to the platform", async () => {
    let questions = 0;
    const bench = await newBench({
      script: {
        reconcile: async () => {
          questions += 1;
          return null;
        },
      },
    });
    await bench.begin("anna", "Hello");
    await bench.settle();
    expect(bench.sent.map(({ text }) => text)).toEqual(["You asked: Hello"]);
    expect(questions).toBe(0);
    expect(await deliveries(bench)).toEqual([{ state: "sent", attempts: 1 }]);
  });

  for (const [outcome, receipt, sent] of [
    ["sent if the platform does not have it", null, ["You asked: Hello"]],
    ["not sent again if the platform has it", { externalId: "there", state: "sent" as const }, []],
  ] as const) {
    it(`is asked for by the next claim if the first ended before the call, and ${outcome}`, async () => {
      let ended = false;
      let questions = 0;
      const bench = await newBench({
        script: {
          reconcile: async () => {
            questions += 1;
            return receipt;
          },
        },
        checkpoint(name) {
          if (name !== "answer.stored") return;
          ended = true;
          // The reply is stored and claimed, and nothing runs the claim.
          throw new Error("the process ends");
        },
      });
      await bench.begin("anna", "Hello");
      await bench.until("the reply is stored", () => ended);
      expect(await deliveries(bench)).toEqual([{ state: "sending", attempts: 1 }]);
      await bench.until("the lease has ended, and the part is settled", async () => {
        bench.clock.advance(1_000);
        return (await deliveries(bench))[0]?.state === "sent";
      });
      expect(bench.sent.map(({ text }) => text)).toEqual(sent);
      expect(questions).toBe(1);
    });
  }

  it("is not begun with it while the account is paused", async () => {
    const bench = await newBench({ script: { reconcile: async () => null } });
    const id = await bench.begin("anna", "Hello");
    await bench.settle();
    await bench.store.write((tx) =>
      tx
        .updateTable("accounts")
        .set((eb) => ({ paused: 1, revision: eb("revision", "+", 1) }))
        .where("id", "=", bench.accountId)
        .execute(),
    );
    const { workspaceId } = bench;
    const reply = { workspaceId, conversationId: id, content: "Hi", authorEmail: "anna@test.example", actor: anna };
    await bench.until("the pause is noticed, and replies wait", async () => {
      bench.clock.advance(500);
      await bench.engine.reply(reply);
      const held = bench.store.read.selectFrom("outbox").select("id").where("last_error", "like", "%is paused");
      return (await held.execute()).length > 0;
    });
    const before = (await deliveries(bench)).length;
    await bench.begin("ben", "And now?");
    await bench.until("the reply is stored", async () => (await deliveries(bench)).length > before);
    expect((await deliveries(bench)).filter(({ state }) => state !== "sent" && state !== "queued")).toEqual([]);
  });

  it("stays queued if the platform cannot be asked for the outcome", async () => {
    let ended = false;
    const bench = await newBench({
      checkpoint(name) {
        if (name !== "answer.stored") return;
        ended = true;
        throw new Error("the process ends");
      },
    });
    await bench.begin("anna", "Hello");
    await bench.until("the reply is stored", () => ended);
    expect(await deliveries(bench)).toEqual([{ state: "queued", attempts: 0 }]);
  });
});
