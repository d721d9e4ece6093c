import { afterAll, beforeAll, expect, it } from "vitest";
import type { ListRequest } from "./list.ts";
import { listPage } from "./list.ts";
import { newId } from "#domain/ids.ts";
import { defaultSettings } from "#domain/workspace/settings.ts";
import type { Priority, SlaState } from "#domain/conversation/sla.ts";
import { priorities } from "#domain/conversation/sla.ts";
import type { OpenStore } from "#database/open.ts";
import { seedConversations } from "#test/support/database/conversation-rows.ts";
import { eachDatabase, openTestStore } from "#test/support/database/databases.ts";
import { costsOf, recordingStore } from "#test/support/database/query-plans.ts";

const workspaceId = "wt_wait00_0123456789";
const now = Date.UTC(2026, 0, 1);
const minuteMs = 60_000;

interface WaitingConversation {
  readonly id: string;
  readonly status: "open" | "escalated";
  readonly slaState: SlaState;
  readonly priority: Priority;
  readonly since: number;
}

eachDatabase("the order of waiting conversations", (open) => {
  let store: OpenStore;
  let close: () => Promise<void>;
  let all: readonly WaitingConversation[];

  beforeAll(async () => {
    ({ store, close } = await openTestStore(open));
    all = Array.from({ length: 600 }, (_, index) => {
      // Several have waited since the same millisecond, and the order of starts differs from that of waiting.
      const since = now - ((index * 7) % 200) * minuteMs;
      return {
        id: newId("conv", now + index),
        status: index % 3 === 0 ? "escalated" : "open",
        slaState: (["in_compliance", "breached", "at_risk", "in_compliance"] as const)[index % 4] ?? "breached",
        priority: priorities[(index >> 2) % 4] ?? "normal",
        since,
      };
    });
    const other = { workspaceId: "wt_wait00_9876543210", startedAt: now, slaState: "breached" } as const;
    await seedConversations(store, [
      ...all.map(({ id, status, slaState }) => ({ id, workspaceId, startedAt: now, status, slaState })),
      ...Array.from({ length: 600 }, () => ({ ...other, status: "escalated" as const })),
      ...Array.from({ length: 600 }, () => ({ workspaceId, startedAt: now, status: "resolved" as const })),
    ]);
    await store.write(async (tx) => {
      for (const { id, since, priority } of all) {
        // A part of the waiting time is before a pause.
        await tx
          .updateTable("conversations")
          .set({ priority, sla_running_since: since + 5 * minuteMs, sla_elapsed_ms: 5 * minuteMs })
          .where("id", "=", id)
          .execute();
      }
    });
  });
  afterAll(() => close());

  const listConversations = () => Promise.reject(new Error("nothing is searched for"));
  const request = (view: ListRequest["view"], cursor?: string): ListRequest => ({
    workspaceId,
    me: "anna@shop.example",
    view,
    text: undefined,
    cursor,
    order: "urgency",
  });

  it.each(["unassigned", "escalated"] as const)(
    "is breached, at risk, in compliance, then by when the target is due in %s, over all pages, by an index",
    async (view) => {
      const { store: recorded, taken } = recordingStore(store);
      const found: string[] = [];
      let cursor: string | undefined;
      do {
        const page = await listPage(
          { store: { ...store, read: recorded.read }, listConversations },
          defaultSettings,
          request(view, cursor),
          now,
        );
        found.push(...page.items.map(({ id }) => id));
        cursor = page.nextCursor ?? undefined;
      } while (cursor !== undefined);
      const dueAt = ({ since, priority }: WaitingConversation) =>
        since + defaultSettings.slaTargets[priority] * minuteMs;
      const rank = ["breached", "at_risk", "in_compliance"];
      const expected = all
        .filter(({ status }) => view === "unassigned" || status === "escalated")
        .toSorted(
          (a, b) =>
            rank.indexOf(a.slaState) - rank.indexOf(b.slaState) || dueAt(a) - dueAt(b) || (a.id < b.id ? -1 : 1),
        )
        .map(({ id }) => id);
      expect(found).toEqual(expected);
      const queries = taken().filter(({ sql }) => sql.includes("waiting_since"));
      expect(queries.length).toBeGreaterThan(3);
      for (const query of queries) expect([query.sql, await costsOf(store, query)]).toEqual([query.sql, []]);
    },
  );

  it("refuses a cursor of another list", async () => {
    for (const cursor of ["1.x", `3.1.${all[0]?.id}`, `${now}.${all[0]?.id}`]) {
      await expect(
        listPage({ store, listConversations }, defaultSettings, request("escalated", cursor), now),
      ).rejects.toMatchObject({ code: "invalid_cursor" });
    }
  });
});
