import { sql } from "kysely";
import { expect, it } from "vitest";
import type { Script } from "#test/support/engine-bench.ts";
import { openBench } from "#test/support/engine-bench.ts";
import { newSqlite } from "#test/support/database/databases.ts";
import type { Store, Tx } from "./contract.ts";

// A commit that does not wait for the disk may be taken by a loss of power. What a customer or a platform relies on is
// in none of them.

/** What must not be lost: every message, every event of a platform, every call that has begun, and what is to be done. */
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

/** What each write has added to that, and whether it waited for the disk. */
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

it("has on the disk what it acknowledges and what it begins, and may lose only what is looked into", async () => {
  const writes = await writesOf({ reconcile: async () => null });
  expect(writes.filter(({ adds }) => adds).length).toBeGreaterThanOrEqual(3);
  expect(writes.filter(({ adds, flush }) => adds && !flush)).toEqual([]);
  // That the platform has it, where that can be asked; and the index, which can be made again.
  expect(writes.filter(({ marks }) => marks)).toEqual([{ flush: false, adds: false, marks: true }]);
  expect(writes.filter(({ flush }) => !flush).length).toBeGreaterThanOrEqual(2);
});

it.each([
  ["would be sent again without asking", { idempotentSend: true, reconcile: async () => null }],
  ["nobody could tell afterwards", {}],
])("has on the disk that a platform has what %s", async (_, script) => {
  const writes = await writesOf(script);
  expect(writes.filter(({ marks }) => marks)).toMatchObject([{ flush: true }]);
});
