import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newId } from "#domain/ids.ts";
import { Problem } from "#domain/problem.ts";
import type { ConversationSearch } from "./contract.ts";
import type { ConversationList } from "#database/queries/conversation-list.ts";
import { listConversations } from "#database/queries/conversation-list.ts";
import { createMysqlSearch } from "./mysql.ts";
import { phrasesOf } from "./words.ts";
import { isOverTime, withinTime } from "#database/dialects/mysql-time-limit.ts";
import type { OpenStore } from "#database/open.ts";
import type { ConversationSeed } from "#test/support/database/conversation-rows.ts";
import { messageRow, seedConversations } from "#test/support/database/conversation-rows.ts";
import { eachSearch } from "#test/support/database/conversation-searches.ts";
import { openTestStore } from "#test/support/database/databases.ts";
import { costsOf, recordingStore } from "#test/support/database/query-plans.ts";

const start = Date.UTC(2026, 0, 1);
let workspaces = 0;

eachSearch("the search of conversations", (open, tested) => {
  let store: OpenStore;
  let search: ConversationSearch;
  let close: () => Promise<void>;
  beforeAll(async () => {
    ({ store, close } = await openTestStore(open));
    search = await tested.on(store);
  });
  afterAll(() => close());

  const newWorkspace = (): string => `wt_find00_${String((workspaces += 1)).padStart(10, "0")}`;

  /** Conversations of a workspace of their own, a minute apart, in the order of the list: the newest first. */
  async function given(seeds: readonly Partial<ConversationSeed>[]): Promise<{ workspaceId: string; ids: string[] }> {
    const workspaceId = newWorkspace();
    const ids = await seedConversations(
      store,
      seeds.map((seed, place) => ({ workspaceId, startedAt: start - place * 60_000, ...seed })),
    );
    for (let at = 0; at < ids.length; at += 200) await store.write((tx) => search.index(tx, ids.slice(at, at + 200)));
    await tested.settle(store);
    return { workspaceId, ids };
  }

  async function find(workspaceId: string, text: string, more: Partial<ConversationList> = {}): Promise<string[]> {
    const { rows } = await listConversations(store, { workspaceId, text, limit: 100, ...more }, search);
    return rows.map(({ id }) => id);
  }

  /** The places, in the list, of the messages that a search finds. */
  async function places(messages: readonly string[], text: string): Promise<number[]> {
    const { workspaceId, ids } = await given(messages.map((message) => ({ messages: [message] })));
    return (await find(workspaceId, text)).map((id) => ids.indexOf(id));
  }

  it("returns conversations that have every word, in any order, newest first", async () => {
    expect(
      await places(["my refund is late", "late delivery", "the refund came late today", "refund"], "late refund"),
    ).toEqual([0, 2]);
  });

  it("ignores case, accents and endings", async () => {
    const messages = ["Café in STRASSE", "cafe in Straße", "nothing", "refunded twice", "two refunds"];
    expect(await places(messages, "CAFÉ strasse")).toEqual([0, 1]);
    expect(await places(messages, "refund")).toEqual([3, 4]);
  });

  it("finds the shortest and most common words, alone and with others", async () => {
    const messages = ["is it a pc", "the tv", "it is what it is", "x"];
    expect(await places(messages, "it is")).toEqual([0, 2]);
    expect(await places(messages, "a")).toEqual([0]);
    expect(await places(messages, "the tv")).toEqual([1]);
    expect(await places(messages, "x")).toEqual([3]);
  });

  it("searches quoted words, and words joined by punctuation, as a phrase", async () => {
    const messages = ["track order-1234 please", "order 99 costs 1234", "1234 order", "to be or not to be"];
    expect(await places(messages, '"order 1234"')).toEqual([0]);
    expect(await places(messages, "order-1234")).toEqual([0]);
    expect(await places(messages, "order 1234")).toEqual([0, 1, 2]);
    expect(await places(messages, '"not to be" or')).toEqual([3]);
    expect(await places(messages, '"to be not"')).toEqual([]);
    expect(await places(messages, "“order 1234”")).toEqual([0]);
  });

  it("matches words across the messages of a conversation, and a phrase within one message only", async () => {
    const { workspaceId, ids } = await given([{ messages: ["please cancel my", "subscription today"] }]);
    expect(await find(workspaceId, "cancel subscription")).toEqual(ids);
    expect(await find(workspaceId, '"my subscription"')).toEqual([]);
    expect(await find(workspaceId, '"subscription today"')).toEqual(ids);
  });

  it("finds words of scripts without spaces inside longer text, and words of every other script", async () => {
    const messages = [
      "我要退款谢谢",
      "款退",
      "返金してください",
      "ขอคืนเงินด้วย",
      "Где мой заказ?",
      "환불 해주세요",
      "धनवापसी चाहिए",
      "great 😡 service 👍🏽",
    ];
    expect(await places(messages, "退款")).toEqual([0]);
    expect(await places(messages, "返金")).toEqual([2]);
    expect(await places(messages, "คืนเงิน")).toEqual([3]);
    expect(await places(messages, "ЗАКАЗ где")).toEqual([4]);
    expect(await places(messages, "환불")).toEqual([5]);
    expect(await places(messages, "धनवापसी")).toEqual([6]);
    expect(await places(messages, "😡 great")).toEqual([7]);
    expect(await places(messages, "👍")).toEqual([7]);
  });

  it("returns nothing for text without a word", async () => {
    const { workspaceId } = await given([{ messages: ['!!! """ *** _ - \\ %'] }, { messages: ["words"] }]);
    for (const text of ["", " ", '"', '""', "***", "!?.,;", "\0", "_", "%", "- - -", "'", "()", "\u200b", "\u0301"]) {
      expect(await find(workspaceId, text), JSON.stringify(text)).toEqual([]);
    }
  });

  it("reads any text as plain words, never as operators or an error", async () => {
    const { workspaceId, ids } = await given([{ messages: ["refund and not near body"] }]);
    const same = [
      "refund AND NOT",
      "refund* (body",
      "+refund -body",
      "NEAR( refund body)",
      "body: refund",
      '"refund',
      'body "refund"',
      "^refund",
      "~refund >body <near",
      "refund\0 body",
      "@refund",
      "refund\\",
    ];
    for (const text of same) expect(await find(workspaceId, text), text).toEqual(ids);
    const hostile = [
      "refund' or 1=1 --",
      "\ud800",
      "\ud83d refund zzz",
      '"'.repeat(10_000),
      "(".repeat(10_000),
      "a ".repeat(5_000),
      Array.from({ length: 2_000 }, (_, i) => `w${i}`).join(" "),
      `"${Array.from({ length: 2_000 }, (_, i) => `w${i}`).join(" ")}"`,
      "x".repeat(10_000),
      "退".repeat(3_333),
      "😡".repeat(2_500),
      "e\u0301".repeat(5_000),
      "\u202e\u2066refund zzz",
    ];
    for (const text of hostile) {
      expect(await find(workspaceId, text), text.slice(0, 20)).toEqual([]);
      // Each word is one more list for the database to intersect.
      expect(phrasesOf(workspaceId, text).flat().length, text.slice(0, 20)).toBeLessThanOrEqual(64);
    }
  });

  it("returns only the workspace's own conversations, even if workspace ids share a prefix", async () => {
    const one = await given([{ messages: ["secret plan"] }]);
    const two = await given([{ messages: ["secret plan"] }]);
    expect(await find(one.workspaceId, "secret plan")).toEqual(one.ids);
    expect(await find(two.workspaceId, "secret plan")).toEqual(two.ids);
  });

  it("applies every other filter", async () => {
    const { workspaceId, ids } = await given([
      { messages: ["refund"], channel: "email" },
      { messages: ["refund"], status: "resolved" },
      { messages: ["refund"], slaState: "breached" },
      { messages: ["refund"], tags: ["vip", "größe xl"] },
      { messages: ["refund"], email: "Ann@Example.com" },
      {
        messages: ["other"],
        channel: "email",
        status: "resolved",
        slaState: "breached",
        tags: ["vip"],
        email: "ann@example.com",
      },
    ]);
    expect(await find(workspaceId, "refund", { channel: "email" })).toEqual([ids[0]]);
    expect(await find(workspaceId, "refund", { status: "resolved" })).toEqual([ids[1]]);
    expect(await find(workspaceId, "refund", { slaState: "breached" })).toEqual([ids[2]]);
    expect(await find(workspaceId, "refund", { tags: ["größe xl", "vip"] })).toEqual([ids[3]]);
    expect(await find(workspaceId, "refund", { tags: ["vip", "none"] })).toEqual([]);
    expect(await find(workspaceId, "refund", { email: "ANN@example.com" })).toEqual([ids[4]]);
    expect(await find(workspaceId, "refund", { since: start - 120_000 })).toEqual([ids[0], ids[1]]);
    expect(await find(workspaceId, "refund", { until: start - 120_000 })).toEqual([ids[3], ids[4]]);
    expect(await find(workspaceId, "refund", { until: start, since: start - 60_001 })).toEqual([ids[1]]);
    expect(await find(workspaceId, "refund", { since: -8.64e15, until: 8.64e15 })).toHaveLength(5);
  });

  it("applies a changed filter value as soon as the change is committed", async () => {
    const { workspaceId, ids } = await given([{ messages: ["refund"] }]);
    const [id = ""] = ids;
    await store.write(async (tx) => {
      await tx
        .updateTable("conversations")
        .set({ status: "escalated", customer_email_key: "new@example.com" })
        .where("id", "=", id)
        .execute();
      await search.refilter(tx, [id]);
    });
    // At once, and still when all work is done.
    for (const wait of [async () => undefined, () => tested.settle(store)]) {
      await wait();
      expect(await find(workspaceId, "refund", { status: "escalated", email: "new@example.com" })).toEqual(ids);
      expect(await find(workspaceId, "refund", { status: "open" })).toEqual([]);
    }
  });

  it("never returns a conversation that no longer matches the filter, even before it is re-indexed", async () => {
    const { workspaceId, ids } = await given([{ messages: ["refund"] }]);
    await store.write((tx) =>
      tx
        .updateTable("conversations")
        .set({ status: "resolved" })
        .where("id", "=", ids[0] ?? "")
        .execute(),
    );
    expect(await find(workspaceId, "refund", { status: "open" })).toEqual([]);
  });

  it("reflects new, edited and deleted messages, and deleted conversations", async () => {
    const { workspaceId, ids } = await given([{ messages: ["first words"] }, { messages: ["untouched"] }]);
    const [id = ""] = ids;
    const change = async (work: Parameters<OpenStore["write"]>[0]) => {
      await store.write(async (tx) => {
        await work(tx);
        await search.index(tx, [id]);
      });
      await tested.settle(store);
    };
    await change((tx) =>
      tx
        .insertInto("messages")
        .values(messageRow(id, 2, "second wish", start))
        .execute(),
    );
    expect(await find(workspaceId, "first wish")).toEqual([id]);
    await change((tx) =>
      tx
        .updateTable("messages")
        .set({ content: "edited" })
        .where("conversation_id", "=", id)
        .where("seq", "=", 2)
        .execute(),
    );
    expect(await find(workspaceId, "wish")).toEqual([]);
    expect(await find(workspaceId, "edited")).toEqual([id]);
    await change((tx) =>
      tx
        .updateTable("messages")
        .set({ deleted_at: start })
        .where("conversation_id", "=", id)
        .where("seq", "=", 1)
        .execute(),
    );
    expect(await find(workspaceId, "words")).toEqual([]);
    await store.write(async (tx) => {
      await search.remove(tx, [id]);
      await tx.deleteFrom("messages").where("conversation_id", "=", id).execute();
      await tx.deleteFrom("conversations").where("id", "=", id).execute();
    });
    expect(await find(workspaceId, "edited")).toEqual([]);
    await tested.settle(store);
    expect(await find(workspaceId, "edited")).toEqual([]);
    // A worker that comes late finds nothing to index.
    await store.write((tx) => search.index(tx, [id, id]));
    const left = await store.read
      .selectFrom("conversation_text")
      .select("conversation_id")
      .where("conversation_id", "=", id)
      .execute();
    expect(left).toEqual([]);
    expect(await find(workspaceId, "untouched")).toEqual([ids[1]]);
  });

  it("keeps the newest messages of a very long thread", async () => {
    const long = Array.from({ length: 300 }, (_, i) => `number${i} ${"filler ".repeat(140)}`);
    const { workspaceId, ids } = await given([{ messages: long }]);
    expect(await find(workspaceId, "number299 number200")).toEqual(ids);
    expect(await find(workspaceId, "number0")).toEqual([]);
  });

  it("indexes a conversation from concurrent works", async () => {
    const { workspaceId, ids } = await given([{ messages: ["parallel"] }, { messages: ["parallel"] }]);
    await Promise.all(
      Array.from({ length: 20 }, (_, i) => store.write((tx) => search.index(tx, i % 2 === 0 ? ids : ids.toReversed()))),
    );
    expect(await find(workspaceId, "parallel")).toEqual(ids);
  });

  describe("in a large workspace", () => {
    const count = 3_000;
    let workspaceId = "";
    let seeds: (ConversationSeed & { readonly id: string })[] = [];
    const text = (i: number): string =>
      [
        "hello order",
        ...(i % 3 === 0 ? ["refund"] : []),
        ...(i % 50 === 0 ? ["voucher"] : []),
        ...(i % 1_000 === 999 ? ["zebra crossing"] : []),
      ].join(" ");

    beforeAll(async () => {
      workspaceId = newWorkspace();
      seeds = Array.from({ length: count }, (_, i) => {
        // Imported threads often start in the same millisecond.
        const startedAt = start - (i < 400 ? 0 : Math.floor(i / 4) * 1_000);
        return {
          id: newId("conv", startedAt),
          workspaceId,
          startedAt,
          messages: [text(i)],
          channel: i % 2 === 0 ? ("widget" as const) : ("email" as const),
          status: i % 40 === 0 ? ("claimed" as const) : ("open" as const),
          tags: i % 5 === 0 ? ["fifth"] : ["rest"],
        };
      });
      await seedConversations(store, seeds);
      const ids = seeds.map(({ id }) => id);
      // Not in the order of the list, as a worker's batches are not.
      for (let at = 0; at < ids.length; at += 200)
        await store.write((tx) => search.index(tx, ids.toReversed().slice(at, at + 200)));
    });

    const lists = (): Partial<ConversationList>[] => [
      { text: "hello" },
      { text: "refund" },
      { text: "voucher" },
      { text: "zebra" },
      { text: '"zebra crossing" hello' },
      { text: "refund voucher" },
      { text: "hello", status: "claimed" },
      { text: "refund", channel: "email", tags: ["fifth"] },
      { text: "hello", tags: ["fifth", "rest"] },
      { text: "hello", since: start - 300_000, until: start },
    ];

    const expected = (list: Partial<ConversationList>): string[] =>
      seeds
        .filter(
          (seed, i) =>
            (list.text ?? "")
              .replaceAll('"', "")
              .split(" ")
              .every((word) => text(i).includes(word)) &&
            (list.status === undefined || seed.status === list.status) &&
            (list.channel === undefined || seed.channel === list.channel) &&
            (list.tags ?? []).every((tag) => seed.tags?.includes(tag) === true) &&
            (list.since === undefined || seed.startedAt > list.since) &&
            (list.until === undefined || seed.startedAt < list.until),
        )
        .toSorted((a, b) => b.startedAt - a.startedAt || (b.id < a.id ? -1 : 1))
        .map(({ id }) => id);

    it("returns each conversation once over all pages, in the list's order", async () => {
      for (const list of lists()) {
        const seen: string[] = [];
        let before: ConversationList["before"];
        for (;;) {
          const page = { workspaceId, limit: 90, ...list, ...(before === undefined ? {} : { before }) };
          const { rows, hasMore } = await listConversations(store, page, search);
          seen.push(...rows.map(({ id }) => id));
          const last = rows.at(-1);
          if (last !== undefined) before = { startedAt: last.started_at, id: last.id };
          if (!hasMore) break;
        }
        expect(seen, JSON.stringify(list)).toEqual(expected(list));
      }
    });

    it("aborts a search that takes the server too long, and runs the next one", async () => {
      // SQLite answers in this process, in the time that the index takes.
      if (store.dialect === "sqlite" || tested.engine === "typesense") return;
      const endless = withinTime(sql`select benchmark(1000000000, sha2('a', 256)) as n`, 50).execute(store.read);
      await expect(endless).rejects.toSatisfy(isOverTime);
      // A search of this little text may be done before the server looks at its clock: then it is tried again.
      const hurried = createMysqlSearch(store.read, 0.001);
      const outcomes: unknown[] = [];
      while (outcomes.length < 200 && !(outcomes.at(-1) instanceof Problem)) {
        outcomes.push(
          await hurried.find({ workspaceId }, "hello zebra", undefined, 20).catch((error: unknown) => error),
        );
      }
      expect(outcomes.at(-1)).toMatchObject({ code: "search_unavailable", status: 503 });
      expect(await find(workspaceId, "zebra hello")).toEqual(expected({ text: "zebra hello" }));
    });

    it("neither reads the whole workspace nor sorts it", async () => {
      const { store: recorded, taken } = recordingStore(store);
      const recordedSearch = await tested.on(store, recorded.read);
      for (const list of lists()) {
        await listConversations(recorded, { workspaceId, limit: 20, ...list }, recordedSearch);
        const queries = taken();
        expect(queries.length).toBeGreaterThan(0);
        for (const query of queries) expect(await costsOf(store, query), JSON.stringify(list)).toEqual([]);
      }
    });
  });
});
