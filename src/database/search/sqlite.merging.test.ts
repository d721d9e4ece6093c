import { sql } from "kysely";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Tx } from "#database/contract.ts";
import { createSqliteSearch } from "./sqlite.ts";
import type { OpenStore } from "#database/open.ts";
import { messageRow, seedConversations } from "#test/support/database/conversation-rows.ts";
import { newSqlite, openTestStore } from "#test/support/database/databases.ts";

// The segments of SQLite's search index. A write or a merge blocks the whole process.

const start = Date.UTC(2026, 0, 1);
const count = 300;
let store: OpenStore;
let close: () => Promise<void>;
let ids: string[];
/** Parts of the index after each write. */
const parts: number[] = [];
/** Rows that each write into the index has changed, those of FTS5's own tables included. */
const costs: number[] = [];

beforeAll(async () => {
  ({ store, close } = await openTestStore(newSqlite));
  const search = createSqliteSearch(store.read);
  const words = (from: number): string =>
    Array.from({ length: 60 }, (_, i) => `w${(from * 37 + i * 101) % 4_000}`).join(" ");
  ids = await seedConversations(
    store,
    Array.from({ length: count }, (_, at) => ({
      workspaceId: "wt_merging_0000000001",
      startedAt: start + at * 7,
      messages: [words(at)],
    })),
  );
  for (let round = 2; round <= 5; round += 1) {
    for (const [at, id] of ids.entries()) {
      const row = messageRow(id, round, words(at + round), start + round);
      const before = await store.write(changes);
      await store.write(async (tx) => {
        await tx.insertInto("messages").values(row).execute();
        await search.index(tx, [id]);
      });
      costs.push((await store.write(changes)) - before);
      parts.push(await partsNow());
    }
  }
}, 120_000);
afterAll(() => close());

async function changes(tx: Tx): Promise<number> {
  const { rows } = await sql<{ readonly count: number }>`select total_changes() as count`.execute(tx);
  return rows[0]?.count ?? 0;
}

async function partsNow(): Promise<number> {
  const { rows } = await sql<{ readonly parts: number }>`select count(distinct segid) as parts
    from conversation_fts_idx`.execute(store.read);
  return rows[0]?.parts ?? 0;
}

it("numbers rows so that removed rows spread over FTS5's hash tables", async () => {
  const { rows } = await sql<{ readonly places: number }>`select
    count(distinct position % 512) as places from conversation_text`.execute(store.read);
  expect(rows[0]?.places).toBeGreaterThan(100);
});

it("merges a few pages with each write, and never many at once", () => {
  expect(costs).toHaveLength(count * 4);
  expect(Math.max(...costs)).toBeLessThan(400);
});

it("keeps the index in few segments", () => {
  expect(Math.max(...parts)).toBeLessThan(14);
});
