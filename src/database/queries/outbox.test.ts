import { expect, it } from "vitest";
import { eachDatabase, openTestStore } from "#test/support/database/databases.ts";
import { testStart } from "#test/support/http/app.ts";
import { createHandMovedClock } from "#test/support/hand-moved-clock.ts";
import { addDeadLetter } from "#test/support/queue/dead-letters.ts";
import { queueVectors, vectorLane } from "#knowledge/index/work.ts";
import { insertWorkOnce } from "./outbox.ts";

const clock = createHandMovedClock(testStart);
const now = testStart;

eachDatabase("work that is queued once", (open) => {
  it("is queued again after it was given up, and not while it waits", async () => {
    const { store, close } = await openTestStore(open);
    const erasure = { lane: "forget:ada", kind: "forget", payload: { workspaceId: "wt_ada" } };
    const vectors = { lane: vectorLane("wt_ada"), kind: "embed", payload: {} };
    for (const work of [erasure, vectors]) await addDeadLetter({ store, clock }, work);
    for (let times = 0; times < 2; times += 1) {
      await store.write((tx) => insertWorkOnce(tx, { ...erasure, dueAt: now }, now));
      await store.write((tx) => queueVectors(tx, "wt_ada", now));
    }
    const rows = await store.read.selectFrom("outbox").select(["lane", "dead_at"]).orderBy("id").execute();
    expect(rows).toEqual([
      { lane: erasure.lane, dead_at: now },
      { lane: vectors.lane, dead_at: now },
      { lane: erasure.lane, dead_at: null },
      { lane: vectors.lane, dead_at: null },
    ]);
    await close();
  });
});
