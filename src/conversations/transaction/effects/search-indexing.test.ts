import { describe, expect, it, onTestFinished } from "vitest";
import { indexKind, indexTexts, indexWork, indexWorks } from "./search-indexing.ts";
import type { ConversationSearch } from "#database/search/contract.ts";
import { insertWork } from "#database/queries/outbox.ts";
import { newSqlite, openTestStore } from "#test/support/database/databases.ts";
import { createHandMovedClock } from "#test/support/hand-moved-clock.ts";

const goesOn = new AbortController().signal;
const lease = { id: "here", until: 2_000_000_000_000 };
const dueAt = 1_900_000_000_000;

interface Given {
  /** Milliseconds. */
  readonly oneTakes: number;
  readonly conversations: number;
  /** Conversations per row of work. */
  readonly aRow?: number;
  readonly lateMs?: number;
  /** A conversation whose text cannot be stored. */
  readonly bad?: string;
}

/** The number of conversations in each write, and the time that each write yields first. */
async function stepsOf({ oneTakes, conversations, aRow = 1, lateMs = 0, bad }: Given) {
  const { store, close } = await openTestStore(newSqlite);
  onTestFinished(close);
  const ids = Array.from({ length: conversations }, (_, at) => `conv_${at}`);
  const groups = Array.from({ length: Math.ceil(conversations / aRow) }, (_, at) =>
    ids.slice(at * aRow, (at + 1) * aRow),
  );
  await store.write((tx) =>
    insertWork(
      tx,
      groups.map((named) => ({ ...indexWork(named, dueAt), lease })),
      0,
    ),
  );
  const rows = await store.read.selectFrom("outbox").selectAll().orderBy("id").execute();
  let now = 0;
  const steps: number[] = [];
  const waits: number[] = [];
  const indexed = new Set<string>();
  const search: Pick<ConversationSearch, "index"> = {
    async index(_tx, named) {
      now += oneTakes * named.length;
      if (bad !== undefined && named.includes(bad)) throw new Error("this text cannot be stored");
      steps.push(named.length);
      for (const id of named) indexed.add(id);
    },
  };
  const waitUntilIdle = async (maxMs: number): Promise<void> => {
    waits.push(maxMs);
  };
  const clock = createHandMovedClock(dueAt + lateMs);
  await indexTexts(
    { store, search: search as ConversationSearch, clock, waitUntilIdle },
    rows.map(indexKind.read),
    goesOn,
    () => now,
  );
  const left = await store.read.selectFrom("outbox").select(["payload", "lease_id"]).execute();
  return { steps, waits, left, missing: ids.filter((id) => !indexed.has(id)) };
}

const whole = { left: [], missing: [] };

describe("indexing of conversations", () => {
  it("writes few slow conversations at once, so that other writes wait briefly", async () => {
    expect(await stepsOf({ oneTakes: 3, conversations: 12 })).toMatchObject({ steps: [6, 2, 2, 2], ...whole });
  });

  it("writes as many conversations at once as fit the time limit", async () => {
    expect(await stepsOf({ oneTakes: 0.1, conversations: 30 })).toMatchObject({ steps: [6, 10, 10, 4], ...whole });
  });

  it("writes many fast conversations at once, up to a limit", async () => {
    expect(await stepsOf({ oneTakes: 0, conversations: 120 })).toMatchObject({ steps: [6, 50, 50, 14], ...whole });
  });

  it("splits rows with many conversations into the same small writes", async () => {
    expect(await stepsOf({ oneTakes: 3, conversations: 30, aRow: 25 })).toMatchObject({
      steps: [6, ...Array.from({ length: 12 }, () => 2)],
      ...whole,
    });
  });

  it("yields to other writes, and less when it is late", async () => {
    const usual = await stepsOf({ oneTakes: 1, conversations: 12 });
    expect(usual).toMatchObject({ steps: [6, 2, 2, 2], waits: [6, 6, 6, 6] });
    const late = await stepsOf({ oneTakes: 1, conversations: 12, lateMs: 2_000 });
    expect(late).toMatchObject({ steps: [6, 4, 2], waits: [2, 2, 2], ...whole });
  });

  it("indexes all conversations but one that cannot be stored, which keeps a row of its own", async () => {
    for (const bad of ["conv_2", "conv_9", "conv_24", "conv_29"]) {
      const { missing, left } = await stepsOf({ oneTakes: 1, conversations: 30, aRow: 25, bad });
      const at = Number(bad.slice("conv_".length));
      const itsRow = Array.from({ length: at < 25 ? 25 : 5 }, (_, i) => `conv_${i + (at < 25 ? 0 : 25)}`);
      // Its row is split: each of its conversations has a row of its own, to be retried with the next run.
      expect(left.map(({ payload }) => JSON.parse(payload))).toEqual(itsRow.map((id) => ({ conversationIds: [id] })));
      expect(itsRow).toEqual(expect.arrayContaining(missing));
    }
  });

  it("stops with the program, and leaves the rest to the next start", async () => {
    const { store, close } = await openTestStore(newSqlite);
    onTestFinished(close);
    const works = Array.from({ length: 30 }, (_, at) => ({ ...indexWork([`conv_${at}`], dueAt), lease }));
    await store.write((tx) => insertWork(tx, works, 0));
    const rows = await store.read.selectFrom("outbox").selectAll().orderBy("id").execute();
    const ending = new AbortController();
    const search: Pick<ConversationSearch, "index"> = {
      index: async () => ending.abort(new Error("the program stops")),
    };
    const clock = createHandMovedClock(dueAt);
    const indexing = indexTexts(
      { store, search: search as ConversationSearch, clock, waitUntilIdle: async () => undefined },
      rows.map(indexKind.read),
      ending.signal,
    );
    await expect(indexing).rejects.toThrow("the program stops");
    expect(await store.read.selectFrom("outbox").select("id").execute()).toHaveLength(24);
  });
});

describe("the time until a message is searchable", () => {
  /** Indexing times of a conversation of this many messages that receives a message a second for a minute. */
  const timesOf = (messages: number): readonly number[] => {
    const began = 1_900_000_000_123;
    const due = Array.from({ length: 60 }, (_, second) => {
      const now = began + second * 1_000;
      const works = indexWorks([{ id: "conv_1", last_seq: messages + second }], now);
      expect(works).toHaveLength(1);
      const at = works[0]?.dueAt ?? Number.NaN;
      expect(at).toBeGreaterThan(now);
      return { at, afterMs: at - now };
    });
    expect(Math.max(...due.map(({ afterMs }) => afterMs))).toBeLessThanOrEqual(20_000);
    return [...new Set(due.map(({ at }) => at))];
  };

  it("is at most half a second in a short conversation", () => {
    const works = indexWorks([{ id: "conv_1", last_seq: 25 }], 1_900_000_000_123);
    expect(works).toMatchObject([{ kind: "index", dueAt: 1_900_000_000_500 }]);
  });

  it("grows with the length of the conversation, since indexing reads all of it", () => {
    expect(timesOf(1).length).toBeGreaterThanOrEqual(50);
    expect(timesOf(400).length).toBeLessThanOrEqual(10);
    expect(timesOf(1_000).length).toBeLessThanOrEqual(4);
    expect(timesOf(100_000).length).toBeLessThanOrEqual(4);
  });

  it("is as short in a short conversation that is written together with a long one", () => {
    const conversations = Array.from({ length: 60 }, (_, at) => ({ id: `conv_${at}`, last_seq: at === 7 ? 5_000 : 2 }));
    const works = indexWorks(conversations, 1_900_000_000_123);
    const named = (at: number): readonly string[] =>
      works
        .filter((work) => work.dueAt === at)
        .flatMap(({ payload }) => (payload as { conversationIds: string[] }).conversationIds);
    expect(named(1_900_000_000_500)).toEqual(conversations.map(({ id }) => id).filter((id) => id !== "conv_7"));
    expect(named(1_900_000_020_000)).toEqual(["conv_7"]);
    for (const { payload } of works) {
      expect((payload as { conversationIds: string[] }).conversationIds.length).toBeLessThanOrEqual(25);
    }
  });
});
