import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newId } from "#domain/ids.ts";
import type { ConversationList } from "./conversation-list.ts";
import { listConversations } from "./conversation-list.ts";
import { createConversationSearch } from "#database/search/open.ts";
import type { OpenStore } from "#database/open.ts";
import type { ConversationSeed } from "#test/support/database/conversation-rows.ts";
import { seedConversations } from "#test/support/database/conversation-rows.ts";
import { eachDatabase, openTestStore } from "#test/support/database/databases.ts";
import { costsOf, recordingStore } from "#test/support/database/query-plans.ts";

const workspaceId = "wt_list00_0123456789";
const otherWorkspaceId = "wt_list00_9876543210";
const start = Date.UTC(2026, 0, 1);

/** A seeded generator, so that failures are reproducible. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

type Seeded = ConversationSeed & { readonly id: string };

function seeds(count: number, workspace: string, random: (below: number) => number): Seeded[] {
  return Array.from({ length: count }, () => {
    // Few different times, so that many conversations start in the same millisecond.
    const startedAt = start + random(count / 3) * 1_000;
    return {
      id: newId("conv", startedAt + random(1_000)),
      workspaceId: workspace,
      startedAt,
      channel: (["widget", "widget", "widget", "email", "email", "slack", "sms"] as const)[random(7)] ?? "widget",
      status:
        (["resolved", "resolved", "resolved", "open", "open", "claimed", "escalated"] as const)[random(7)] ?? "open",
      slaState:
        (["in_compliance", "in_compliance", "in_compliance", "at_risk", "breached"] as const)[random(5)] ??
        "in_compliance",
      tags: [...new Set(["billing", random(2) === 0 ? "even" : "odd", ...(random(40) === 0 ? ["vip"] : [])])],
      ...(random(3) === 0 ? { email: `Customer${random(20)}@example.com` } : {}),
    };
  });
}

function expected(all: readonly Seeded[], list: Omit<ConversationList, "limit">): string[] {
  return all
    .filter(
      (each) =>
        each.workspaceId === list.workspaceId &&
        (list.channel === undefined || each.channel === list.channel) &&
        (list.status === undefined || each.status === list.status) &&
        (list.slaState === undefined || each.slaState === list.slaState) &&
        (list.tags ?? []).every((tag) => (each.tags ?? []).includes(tag)) &&
        (list.since === undefined || each.startedAt > list.since) &&
        (list.until === undefined || each.startedAt < list.until) &&
        (list.email === undefined || each.email?.toLowerCase() === list.email.toLowerCase()) &&
        (list.before === undefined ||
          each.startedAt < list.before.startedAt ||
          (each.startedAt === list.before.startedAt && each.id < list.before.id)),
    )
    .toSorted((a, b) => b.startedAt - a.startedAt || (b.id < a.id ? -1 : 1))
    .map(({ id }) => id);
}

/** Every combination of the filters, each present or absent. */
function combinations(middle: Seeded): { readonly name: string; readonly list: ConversationList }[] {
  const parts: readonly (readonly Partial<ConversationList>[])[] = [
    [{}, { channel: "email" }],
    [{}, { status: "open" }],
    [{}, { slaState: "at_risk" }],
    [{}, { tags: ["billing"] }, { tags: ["billing", "vip"] }, { tags: ["even", "odd"] }],
    [{}, { since: start + 100_000, until: start + 700_000 }],
    [{}, { email: "customer7@EXAMPLE.com" }],
    [{}, { before: { startedAt: middle.startedAt, id: middle.id } }],
  ];
  let lists: ConversationList[] = [{ workspaceId, limit: 20 }];
  for (const choices of parts) lists = lists.flatMap((list) => choices.map((choice) => ({ ...list, ...choice })));
  return lists.map((list) => ({ list, name: JSON.stringify(list) }));
}

eachDatabase("the list of conversations", (open) => {
  const random = numbers(7);
  const all = [...seeds(3_000, workspaceId, random), ...seeds(600, otherWorkspaceId, random)];
  const middle = all[1_500];
  if (middle === undefined) throw new Error("there are seeds");
  let store: OpenStore;
  let close: () => Promise<void>;

  beforeAll(async () => {
    ({ store, close } = await openTestStore(open));
    await seedConversations(store, all);
    const search = createConversationSearch(store);
    for (let at = 0; at < all.length; at += 200) {
      await store.write((tx) =>
        search.index(
          tx,
          all.slice(at, at + 200).map(({ id }) => id),
        ),
      );
    }
    if (store.dialect === "mysql") await sql`analyze table conversations, conversation_tags`.execute(store.read);
  });
  afterAll(() => close());

  const idsOf = async (list: ConversationList) => (await listConversations(store, list)).rows.map(({ id }) => id);

  const walk = async (
    list: ConversationList,
    between: (page: number) => Promise<void> = async () => undefined,
  ): Promise<string[]> => {
    const seen: string[] = [];
    let before = list.before;
    for (let number = 0; ; number += 1) {
      const { rows, hasMore } = await listConversations(store, {
        ...list,
        ...(before === undefined ? {} : { before }),
      });
      seen.push(...rows.map(({ id }) => id));
      const last = rows.at(-1);
      if (!hasMore || last === undefined) return seen;
      before = { startedAt: last.started_at, id: last.id };
      await between(number);
    }
  };

  it("returns the conversations of every combination of filters, newest first, and whether there are more", async () => {
    for (const { name, list } of combinations(middle)) {
      const want = expected(all, list);
      const page = await listConversations(store, list);
      expect(
        page.rows.map(({ id }) => id),
        name,
      ).toEqual(want.slice(0, list.limit));
      expect(page.hasMore, name).toBe(want.length > list.limit);
    }
  });

  it("reads an index in the list's order for every combination, without sorting or scanning more than a page", async () => {
    const { store: recorded, taken } = recordingStore(store);
    let queries = 0;
    for (const { name, list } of combinations(middle)) {
      await listConversations(recorded, list);
      for (const query of taken()) {
        queries += 1;
        expect(await costsOf(store, query), name).toEqual([]);
        // With more rows the optimiser would choose another index.
        if (query.sql.includes(" as r ")) expect(query.sql, name).toMatch(/ as r (?:force index \(|indexed by )/);
      }
    }
    expect(queries).toBeGreaterThan(combinations(middle).length);
  });

  it("returns every conversation once with pages of every size, also those that start at the same time", async () => {
    for (const limit of [1, 7, 100]) {
      const list = { workspaceId, status: "claimed", limit } as const;
      expect(await walk(list), `limit ${limit}`).toEqual(expected(all, list));
    }
    const tags = { workspaceId, tags: ["billing", "even"], limit: 100 };
    expect(await walk(tags)).toEqual(expected(all, tags));
    const cube = { workspaceId, status: "open", slaState: "at_risk", limit: 9 } as const;
    expect(await walk(cube)).toEqual(expected(all, cube));
  });

  it("returns an empty page after the last one", async () => {
    const oldest = expected(all, { workspaceId }).at(-1);
    const seed = all.find(({ id }) => id === oldest);
    if (seed === undefined) throw new Error("there is an oldest");
    const page = await listConversations(store, {
      workspaceId,
      limit: 20,
      before: { startedAt: seed.startedAt, id: seed.id },
    });
    expect(page).toEqual({ rows: [], hasMore: false });
  });

  it("returns nothing for more tags than a conversation can have, and counts a repeated tag once", async () => {
    expect(await idsOf({ workspaceId, limit: 20, tags: Array.from({ length: 5_000 }, (_, i) => `t${i}`) })).toEqual([]);
    const once = { workspaceId, limit: 20, tags: ["vip"] };
    expect(await idsOf({ ...once, tags: Array.from({ length: 5_000 }, () => "vip") })).toEqual(
      expected(all, once).slice(0, 20),
    );
    const many = ["billing", ...Array.from({ length: 49 }, (_, i) => `many${i}`)];
    const [id] = await seedConversations(store, [
      { workspaceId: "wt_tags00_0123456789", startedAt: start, tags: many },
    ]);
    expect(await idsOf({ workspaceId: "wt_tags00_0123456789", limit: 20, tags: many })).toEqual([id]);
  });

  it("returns nothing for unknown values, whatever their characters", async () => {
    const hostile = ["' or 1=1 --", "\0", "😡", "%", "a".repeat(5_000), '"', "billing AND even"];
    for (const value of hostile) {
      expect(await idsOf({ workspaceId, limit: 20, tags: [value] })).toEqual([]);
      expect(await idsOf({ workspaceId, limit: 20, tags: [value, "billing"] })).toEqual([]);
      expect(await idsOf({ workspaceId, limit: 20, email: value })).toEqual([]);
    }
  });

  describe("while conversations arrive and change", () => {
    const changing = "wt_chng00_0123456789";
    it("a walk through the pages neither repeats nor skips one", async () => {
      const before = seeds(200, changing, numbers(3)).map((seed) => ({ ...seed, status: "open" as const }));
      await seedConversations(store, before);
      const arrived: Seeded[] = [];
      const seen = await walk({ workspaceId: changing, limit: 10 }, async (page) => {
        const seed = {
          id: newId("conv", start + 10_000_000 + page),
          workspaceId: changing,
          startedAt: start + 10_000_000 + page,
        };
        arrived.push(seed);
        await seedConversations(store, [seed]);
        await store.write((tx) =>
          tx
            .updateTable("conversations")
            .set({ status: "resolved", last_message_at: start + 20_000_000 })
            .where("id", "=", before[page * 7]?.id ?? "")
            .execute(),
        );
      });
      expect(arrived.length).toBeGreaterThan(10);
      expect(seen).toEqual(expected(before, { workspaceId: changing }));
    });
  });
});

eachDatabase("a list filtered by two frequent tags that no conversation shares", (open) => {
  it("is returned in time, and includes a new conversation with both", async () => {
    const { store, close } = await openTestStore(open);
    try {
      const search = createConversationSearch(store);
      const ids = await seedConversations(
        store,
        Array.from({ length: 2_600 }, (_, i) => ({
          workspaceId,
          startedAt: start + i,
          tags: i === 1_300 ? ["even", "odd"] : [i % 2 === 0 ? "even" : "odd"],
        })),
      );
      for (let at = 0; at < ids.length; at += 200) await store.write((tx) => search.index(tx, ids.slice(at, at + 200)));
      const { store: recorded, taken } = recordingStore(store);
      const page = await listConversations(recorded, { workspaceId, tags: ["even", "odd"], limit: 20 });
      expect(page.rows.map(({ id }) => id)).toEqual([ids[1_300]]);
      for (const query of taken()) expect(await costsOf(store, query)).toEqual([]);
      // A removed tag is gone from the list with the same commit.
      await store.write(async (tx) => {
        await tx
          .deleteFrom("conversation_tags")
          .where("conversation_id", "=", ids[1_300] ?? "")
          .where("tag", "=", "odd")
          .execute();
        await tx
          .insertInto("conversation_tags")
          .values({
            workspace_id: workspaceId,
            tag: "odd",
            conversation_id: ids[2] ?? "",
            started_at: start + 2,
            channel: "widget",
            status: "open",
            sla_state: "in_compliance",
          })
          .execute();
        await search.refilter(tx, [ids[1_300] ?? "", ids[2] ?? ""]);
      });
      const after = await listConversations(store, { workspaceId, tags: ["even", "odd"], limit: 20 });
      expect(after.rows.map(({ id }) => id)).toEqual([ids[2]]);
    } finally {
      await close();
    }
  });
});
