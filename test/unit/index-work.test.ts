import { describe, expect, it, onTestFinished } from "vitest";
import { indexTexts, indexWork } from "#engine/index-work.ts";
import type { ConversationSearch } from "#engine/ports.ts";
import { insertWork } from "#store/outbox.ts";
import { newSqlite, openTestStore } from "../support/databases.ts";

const goesOn = new AbortController().signal;
const lease = { id: "here", until: 2_000_000_000_000 };

/** How many conversations each write indexes, where one takes so long. */
async function stepsWhereOneTakes(ms: number, conversations: number): Promise<readonly number[]> {
  const { store, close } = await openTestStore(newSqlite);
  onTestFinished(close);
  const ids = Array.from({ length: conversations }, (_, at) => `conv_${at}`);
  await store.write((tx) =>
    insertWork(
      tx,
      ids.map((id) => ({ ...indexWork([id], 0), lease })),
      0,
    ),
  );
  const rows = await store.read.selectFrom("outbox").selectAll().orderBy("id").execute();
  let now = 0;
  const steps: number[] = [];
  const indexed: string[] = [];
  const search: Pick<ConversationSearch, "index"> = {
    async index(_tx, named) {
      now += ms * named.length;
      steps.push(named.length);
      indexed.push(...named);
    },
  };
  await indexTexts({ store, search: search as ConversationSearch }, rows, goesOn, () => now);
  expect(indexed).toEqual(ids);
  expect(await store.read.selectFrom("outbox").selectAll().execute()).toEqual([]);
  return steps;
}

describe("the texts of conversations are indexed", () => {
  it("few in a write where each takes long, so that nobody waits long for it", async () => {
    expect(await stepsWhereOneTakes(3, 12)).toEqual([6, 2, 2, 2]);
  });

  it("as many in a write as it has time for", async () => {
    expect(await stepsWhereOneTakes(0.1, 30)).toEqual([6, 10, 10, 4]);
  });

  it("many in a write where they take no time, and not without an end", async () => {
    expect(await stepsWhereOneTakes(0, 120)).toEqual([6, 50, 50, 14]);
  });

  it("no longer than the program lives, and what is left is still there for the next start", async () => {
    const { store, close } = await openTestStore(newSqlite);
    onTestFinished(close);
    const works = Array.from({ length: 30 }, (_, at) => ({ ...indexWork([`conv_${at}`], 0), lease }));
    await store.write((tx) => insertWork(tx, works, 0));
    const rows = await store.read.selectFrom("outbox").selectAll().orderBy("id").execute();
    const ending = new AbortController();
    const search: Pick<ConversationSearch, "index"> = {
      index: async () => ending.abort(new Error("the program stops")),
    };
    const indexing = indexTexts({ store, search: search as ConversationSearch }, rows, ending.signal);
    await expect(indexing).rejects.toThrow("the program stops");
    expect(await store.read.selectFrom("outbox").selectAll().execute()).toHaveLength(24);
  });
});
