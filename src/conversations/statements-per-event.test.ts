import { expect, it } from "vitest";
import { openStore } from "#database/open.ts";
import { eachDatabase } from "#test/support/database/databases.ts";
import { openBench } from "#test/support/engine-bench.ts";

// Statements and transactions decide how many messages one machine answers, and each statement is a round trip to MySQL.

/** From the event to the stored receipt, in a conversation that exists, with one event at a time. */
const statementsMax = 41;
const transactionsMax = 3;

eachDatabase("an answered event", (open) => {
  it("takes no more statements than are known", async () => {
    const bench = await openBench(open, { script: { reconcile: async () => null } });
    // Its statements are not counted.
    const observer = await openStore(bench.url);
    const sent = async (count: number): Promise<void> => {
      await bench.until(`${count} replies are sent, and nothing is written`, async () => {
        const rows = await observer.read.selectFrom("deliveries").select("id").where("state", "=", "sent").execute();
        return rows.length === count && bench.store.isCalm();
      });
    };
    await bench.begin("anna", "Hello");
    await sent(1);
    await bench.settle();
    const before = bench.store.load();
    await bench.say("anna", "And now?");
    await sent(2);
    const after = bench.store.load();
    expect(after.transactionsRun - before.transactionsRun).toBeLessThanOrEqual(transactionsMax);
    expect(after.statementsRun - before.statementsRun).toBeLessThanOrEqual(statementsMax);
    await observer.close();
    await bench.close();
  });
});
