import { sql } from "kysely";
import { expect, it } from "vitest";
import type { Script } from "#test/support/engine-bench.ts";
import { openBench } from "#test/support/engine-bench.ts";
import { newSqlite } from "#test/support/database/databases.ts";
import type { Store, Tx } from "./contract.ts";

// A commit without a flush can be lost in a power failure. It must hold nothing that a customer or a platform relies
// on.

/** Counts the rows that must survive: messages, platform events, started calls, and queued work. */
async function heldIn(tx: Tx): Promise<readonly number[]> {
  const { rows } = await sql<Readonly<Record<string, number>>>`select
    (select count(*) from messages) as messages,
    (select count(*) from inbound_events) as events,
    (select count(*) from deliveries) as parts,
    (select count(*) from deliveries where state <> 'queued') as begun,
    (select count(*) from audit) as audit,
    (select coalesce(max(id), 0) from outbox) as works`.execute(tx);
  return Object.values(rows[0] ?? {});
}

/** Whether each write added such rows, and whether it flushed. */
async function writesOf(script: Partial<Script>) {
  const bench = await openBench(newSqlite, { script });
  const writes: { readonly flush: boolean; readonly adds: boolean; readonly marks: boolean }[] = [];
  const { write } = bench.store;
  const observed: Store["write"] = (work, options) =>
    write(async (tx) => {
      const settled = () => tx.selectFrom("deliveries").select("id").where("state", "=", "sent").execute();
      const [before, marked] = [await heldIn(tx), await settled()];
      const result = await work(tx);
      const after = await heldIn(tx);
      writes.push({
        flush: options?.flush ?? true,
        adds: after.some((count, at) => count > (before[at] ?? 0)),
        marks: (await settled()).length > marked.length,
      });
      return result;
    }, options);
  Object.assign(bench.store, { write: observed });
  await bench.say("anna", "hello");
  await bench.settle();
  await bench.advance(2_000);
  expect(bench.sent).toHaveLength(1);
  await bench.close();
  return writes;
}

it("flushes what it acknowledges and what it starts; only what can be looked up may be lost", async () => {
  const writes = await writesOf({ reconcile: async () => null });
  // The event, and the reply with the start of its call.
  const added = { flush: true, adds: true, marks: false };
  expect(writes.filter(({ adds }) => adds)).toEqual([added, added]);
  // Only the platform's receipts, if the platform can be asked for them, and the search index, which can be rebuilt.
  expect(writes.filter(({ marks }) => marks)).toEqual([{ flush: false, adds: false, marks: true }]);
  expect(writes.filter(({ flush }) => !flush).length).toBeGreaterThanOrEqual(2);
});

it.each([
  ["is sent again without a check", { idempotentSend: true, reconcile: async () => null }],
  ["cannot be checked afterwards", {}],
])("flushes the receipt of a part that %s", async (_, script) => {
  const writes = await writesOf(script);
  expect(writes.filter(({ marks }) => marks)).toMatchObject([{ flush: true }]);
});
