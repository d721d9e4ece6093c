import { pino } from "pino";
import { Type } from "typebox";
import { expect, it } from "vitest";
import { claimLanes, insertWork } from "#database/queries/outbox.ts";
import type { WorkDeclaration } from "#database/work.ts";
import { declareWork, workKind } from "#database/work.ts";
import { createHandMovedClock } from "#test/support/hand-moved-clock.ts";
import { newSqlite, openTestStore } from "#test/support/database/databases.ts";
import { createWorkTable } from "./work-table.ts";
import { createStoreFailure } from "./worker/failures.ts";
import { LeftWork } from "./worker/given-up.ts";
import { createOutages } from "./worker/outages.ts";

const payload = Type.Object({ until: Type.Number() });
const run = { attemptsMax: 1, run: async () => undefined };
const plain = declareWork(workKind("plain", payload), run);
const handled = declareWork(workKind("handled", payload), { ...run, onAbandon: async () => () => undefined });
const failing = declareWork(workKind("failing", payload), {
  ...run,
  onAbandon: () => Promise.reject(new Error("the conversation is locked")),
});
const expiring = declareWork(workKind("expiring", payload, { canRetry: ({ until }, now) => until > now }), run);
const elsewhere = workKind("elsewhere", payload);
const works = createWorkTable([plain, handled, failing, expiring], [elsewhere]);
const now = 1_000;

/** Gives work up by the failure of its last attempt, and says whether it can be tried again. */
async function givenUp(kind: string, error: Error, stored: unknown = { until: now }): Promise<boolean> {
  const { store, close } = await openTestStore(newSqlite);
  const clock = createHandMovedClock(now);
  const log = pino({ level: "silent" });
  await store.write((tx) => insertWork(tx, [{ lane: "lane", kind, payload: stored, dueAt: now }], now));
  const lease = { id: "ses_test", until: now + 1 };
  const [row] = await store.write((tx) => claimLanes(tx, ["lane"], lease, now));
  if (row === undefined) throw new Error("the work was not claimed");
  const outages = createOutages(clock, log);
  const storeFailure = createStoreFailure({ store, clock, log, works, outages, backoffMs: () => 1 });
  const isLeft = error instanceof LeftWork;
  const declaration: WorkDeclaration | undefined = isLeft ? undefined : works.get(kind);
  // Processes that could not do it have tried for two hours.
  const tried = isLeft ? { ...row, attempts: 749, last_error: error.message } : row;
  await storeFailure(declaration, [{ ...tried, payload: stored }], error);
  const dead = await store.read.selectFrom("outbox").selectAll().executeTakeFirstOrThrow();
  expect(dead.dead_at).toBe(now);
  await close();
  return works.canRetry(dead, now);
}

const refused = new Error("refused");
const left = new LeftWork("newer", "this program cannot read what is to be done");

it("lets work be tried again, unless its kind has stored the consequences", async () => {
  expect(await givenUp("plain", refused)).toBe(true);
  expect(await givenUp("elsewhere", new LeftWork("elsewhere", "this one does no work of kind elsewhere"))).toBe(true);
  expect(await givenUp("handled", refused)).toBe(false);
});

it("lets work be tried again whose consequences could not be stored, or that no process could read", async () => {
  expect(await givenUp("failing", refused)).toBe(true);
  expect(await givenUp("handled", left)).toBe(true);
});

it("refuses work that is of no use any more, or that only a newer version can read", async () => {
  expect(await givenUp("expiring", refused, { until: now + 1 })).toBe(true);
  expect(await givenUp("expiring", refused, { until: now })).toBe(false);
  expect(await givenUp("handled", left, { asNewerVersionsNameIt: 1 })).toBe(false);
  expect(await givenUp("unheard-of", left)).toBe(false);
});
