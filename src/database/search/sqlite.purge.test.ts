import { sql } from "kysely";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { ConversationSearch } from "./contract.ts";
import { createSqliteSearch } from "./sqlite.ts";
import type { OpenStore } from "#database/open.ts";
import { seedConversations } from "#test/support/database/conversation-rows.ts";
import { newSqlite, openTestStore } from "#test/support/database/databases.ts";

// Removed text in SQLite's search index. The purge merges in steps, with other writes between them.

const start = Date.UTC(2026, 0, 1);
let store: OpenStore;
let close: () => Promise<void>;
let search: ConversationSearch;
beforeEach(async () => {
  ({ store, close } = await openTestStore(newSqlite));
  search = createSqliteSearch(store.read);
});
afterEach(() => close());

/** A word of its own for each number, in all places of the alphabet. */
const word = (number: number): string => ((number * 2_654_435_761) % 2 ** 32).toString(36).padStart(7, "a");
const long = (from: number): string => Array.from({ length: 20_000 }, (_, i) => word(from * 20_000 + i)).join(" ");
// The first and the last of the alphabet: where a merge begins and ends.
const secrets = ["0alphasecret", "mmiddlesecret", "zomegasecret"];

async function indexed(messages: readonly string[]): Promise<string[]> {
  const ids = await seedConversations(
    store,
    messages.map((message) => ({ workspaceId: "wt_purged_0000000001", startedAt: start, messages: [message] })),
  );
  for (const id of ids) await store.write((tx) => search.index(tx, [id]));
  return ids;
}

async function held(): Promise<string[]> {
  const found: string[] = [];
  for (const secret of secrets) {
    // A term can share its prefix with the previous one.
    const { rows } = await sql<{ readonly count: number }>`select count(*) as count from conversation_fts_data
      where instr(block, cast(${secret.slice(2)} as blob)) > 0`.execute(store.read);
    if ((rows[0]?.count ?? 0) > 0) found.push(secret);
  }
  return found;
}

const remove = (id: string): Promise<void> => store.write((tx) => search.remove(tx, [id]));

async function purge(between: (step: number) => Promise<unknown> = async () => undefined): Promise<number> {
  for (let step = 0; ; step += 1) {
    if (!(await store.write(async (tx) => search.purge?.(tx, step === 0)))) return step;
    await between(step);
  }
}

it("purges text that was removed during a merge", async () => {
  const [id = ""] = await indexed([`${secrets.join(" ")} ${long(1)}`, long(2), long(3)]);
  // With the fourth part a merge begins, and a short text goes a short way with it.
  await indexed(["short"]);
  await remove(id);
  expect(await held()).toEqual(secrets);
  await purge();
  expect(await held()).toEqual([]);
});

it.each([1, 2, 3, 4, 7])("purges removed text when %i writes run between two steps", async (writes) => {
  const [id = ""] = await indexed([secrets.join(" "), ...Array.from({ length: 8 }, (_, at) => long(at))]);
  // In one part, as another customer's erasure has left it.
  await purge();
  await remove(id);
  expect(await held()).toEqual(secrets);
  const steps = await purge(async (step) => {
    if (step === 0) await indexed(Array.from({ length: writes }, () => "short"));
  });
  expect(await held()).toEqual([]);
  expect(steps).toBeGreaterThan(1);
});

it("ends while other writes run", async () => {
  const [id = ""] = await indexed([secrets.join(" "), ...Array.from({ length: 8 }, (_, at) => long(at))]);
  await remove(id);
  const steps = await purge(async (step) => {
    expect(step).toBeLessThan(20);
    await indexed(["short", "short"]);
  });
  expect(await held()).toEqual([]);
  expect(steps).toBeGreaterThan(1);
});

it("ends at once if nothing was removed", async () => {
  await purge();
  await indexed([secrets.join(" ")]);
  expect(await purge()).toBe(1);
  expect(await held()).toEqual(secrets);
});

it("drops removed text through deletions alone, without further writes", async () => {
  const ids = await indexed([secrets.join(" "), ...Array.from({ length: 99 }, (_, at) => `${word(at)} short`)]);
  for (const id of ids.slice(0, 70)) await remove(id);
  expect(await held()).toEqual([]);
});
