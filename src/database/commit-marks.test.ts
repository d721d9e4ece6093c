import { CompiledQuery, sql } from "kysely";
import { afterEach, expect, it } from "vitest";
import type { CommitMark } from "./commit-marks.ts";
import { createCommitMarks } from "./commit-marks.ts";
import { OutcomeUnknown } from "./faults.ts";
import type { OpenStore } from "./open.ts";
import { openStore } from "./open.ts";
import type { Fault } from "#test/support/database/proxy.ts";
import { openDatabaseProxy } from "#test/support/database/proxy.ts";
import { onMysql, openTestStore } from "#test/support/database/databases.ts";

const hourMs = 3_600_000;
const lost = new OutcomeUnknown(new Error("the connection ended"));

onMysql("marks of commits", (open) => {
  const ends: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const end of ends.splice(0).toReversed()) await end();
  });
  async function openTwo() {
    const { store: one, url, close } = await openTestStore(open);
    const two = await openStore(url);
    ends.push(close, () => two.close());
    return { one, two, url };
  }
  const marksOf = (store: OpenStore) =>
    createCommitMarks(
      async (text, values) => (await store.read.executeQuery(CompiledQuery.raw(text, [...values]))).rows,
    );
  const marksIn = async (store: OpenStore) =>
    (await store.read.selectFrom("commit_marks").select("id").orderBy("id").execute()).map(({ id }) => id);
  /** A mark whose transaction ended more than a day ago, in a store whose own marks are new. */
  async function oldMark(store: OpenStore, other: OpenStore) {
    for (const each of [store, other]) await each.write(async () => undefined);
    const own = await marksIn(store);
    const marks = marksOf(store);
    const mark = marks.take();
    await (await setIn(store, mark)).commit();
    const written_at = Date.now() - 25 * hourMs;
    await store.write((tx) => tx.updateTable("commit_marks").set({ written_at }).where("id", "not in", own).execute());
    return { marks, mark };
  }
  /** Sets the mark, and returns functions that commit or roll back. */
  async function setIn(store: OpenStore, mark: CommitMark) {
    const set = Promise.withResolvers<void>();
    const end = Promise.withResolvers<void>();
    const committed = store.write(async (tx) => {
      await mark.set(tx);
      set.resolve();
      await end.promise;
    });
    committed.catch(set.reject);
    await set.promise;
    return {
      commit: async () => {
        end.resolve();
        await committed;
      },
      rollBack: async () => {
        end.reject(new Error("rolled back"));
        await committed.catch(() => undefined);
      },
    };
  }
  async function untilRunning(store: OpenStore, statement: string): Promise<void> {
    const isRunning = async () => {
      const { rows } = await sql<{ readonly info: string | null }>`select info from information_schema.processlist
        where db = database()`.execute(store.read);
      return rows.some(({ info }) => info?.startsWith(statement));
    };
    await expect.poll(isRunning).toBe(true);
  }

  /** An old mark that is reused by a transaction which has not ended, while another process deletes old marks. */
  async function reusedDuringDeletion() {
    const { one, two } = await openTwo();
    const { marks, mark } = await oldMark(one, two);
    mark.release();
    const reused = marks.take();
    const transaction = await setIn(one, reused);
    const deletion = setIn(two, marksOf(two).take());
    await untilRunning(one, "delete from `commit_marks`");
    return { reused, transaction, deletion };
  }

  it("survive a deletion of old marks that waited for the transaction which reused one", async () => {
    const { reused, transaction, deletion } = await reusedDuringDeletion();
    await transaction.commit();
    await (await deletion).commit();
    expect(await reused.isCommitted(lost)).toBe(true);
  });

  it("show no commit when they were deleted after a rollback", async () => {
    const { reused, transaction, deletion } = await reusedDuringDeletion();
    await transaction.rollBack();
    await (await deletion).commit();
    expect(await reused.isCommitted(lost)).toBe(false);
  });

  it("are looked up after a deletion that locks them", async () => {
    const { one, two } = await openTwo();
    const { mark } = await oldMark(one, two);
    const deletion = await setIn(two, marksOf(two).take());
    let found: boolean | undefined;
    const looked = mark.isCommitted(lost).then((isCommitted) => (found = isCommitted));
    await marksIn(one);
    expect(found).toBeUndefined();
    await deletion.rollBack();
    expect(await looked).toBe(true);
  });

  it("are set again by a transaction that waited for their deletion", async () => {
    const { one, two } = await openTwo();
    const { marks, mark } = await oldMark(one, two);
    mark.release();
    const deletion = await setIn(two, marksOf(two).take());
    const reused = marks.take();
    const setting = setIn(one, reused);
    await untilRunning(one, "update commit_marks");
    await deletion.commit();
    await (await setting).commit();
    expect(await reused.isCommitted(lost)).toBe(true);
  });

  it.each<[string, RegExp, Fault, boolean]>([
    ["are reused after a COMMIT without an answer that took effect", /commit$/, "after", true],
    ["are reused after a COMMIT without an answer that took none", /commit$/, "before", true],
    [
      "are reused after a deadlock",
      /insert into `counters`/,
      { errno: 1213, state: "40001", message: "Deadlock" },
      true,
    ],
    ["are not reused while their session may hold them", /insert into `counters`/, "left", false],
    ["are not reused after a lost connection", /insert into `counters`/, "before", false],
  ])("%s", async (_what, statement, fault, isReused) => {
    const { one, url } = await openTwo();
    const proxy = await openDatabaseProxy(url);
    ends.push(() => proxy.close());
    const store = await openStore(proxy.url);
    ends.push(() => store.close());
    const add = (name: string) =>
      store.write((tx) => tx.insertInto("counters").values({ name, window_start: 0, value: 1 }).execute());
    await add("first");
    const { id } = await one.read.selectFrom("commit_marks").select("id").executeTakeFirstOrThrow();
    const valueOf = async () =>
      (await one.read.selectFrom("commit_marks").select("value").where("id", "=", id).executeTakeFirstOrThrow()).value;
    proxy.fail(statement, fault);
    await add("second");
    const before = await valueOf();
    await add("third");
    expect((await valueOf()) > before).toBe(isReused);
  });
});

const networkError = Object.assign(new Error("the connection ended"), { code: "ECONNRESET" });
const mistake = Object.assign(new Error("no such column"), { errno: 1054, sqlState: "42S22" });

it("looks a mark up again while the database fails, and then reuses it", async () => {
  const asked: unknown[] = [];
  const marks = createCommitMarks(async (_text, [id]) => {
    asked.push(id);
    if (asked.length < 3) throw networkError;
    return [{ value: 1 }];
  });
  expect(await marks.take().isCommitted(lost)).toBe(true);
  expect(await marks.take().isCommitted(lost)).toBe(false);
  expect(asked).toHaveLength(4);
  expect(new Set(asked).size).toBe(1);
});

it("does not know the outcome of a mark that cannot be looked up, and does not reuse it", async () => {
  const asked: unknown[] = [];
  const marks = createCommitMarks(async (_text, [id]) => {
    asked.push(id);
    if (asked.length === 1) throw mistake;
    return [];
  });
  const failure = await marks
    .take()
    .isCommitted(lost)
    .catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(OutcomeUnknown);
  expect((failure as { readonly cause: AggregateError }).cause.errors).toEqual([lost.cause, mistake]);
  expect(await marks.take().isCommitted(lost)).toBe(false);
  expect(new Set(asked).size).toBe(2);
});
