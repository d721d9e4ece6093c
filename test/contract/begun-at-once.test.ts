import type { DatabaseSync } from "node:sqlite";
import { expect, it } from "vitest";
import { loadAdapter } from "#src/channels.ts";
import { openDatabase } from "#store/sqlite.ts";
import { eachDatabase, newSqlite } from "../support/databases.ts";
import type { BenchOptions, EngineBench, Script } from "../support/engine-bench.ts";
import { openBench } from "../support/engine-bench.ts";

// That an answer's call begins is stored together with the answer where the platform can tell afterwards what it has.

const leaseMs = 15_000;

/** As a platform does that keeps what was posted, and can be asked for it. */
const tells = { reconcile: async () => null } satisfies Partial<Script>;

const notesOf = async (bench: EngineBench): Promise<readonly string[]> => {
  const { id } = await bench.store.read.selectFrom("conversations").select("id").executeTakeFirstOrThrow();
  return bench.notes(id);
};

eachDatabase("a process that ends between an answer and its call", (open) => {
  async function answerAndEnd(script: Partial<Script>): Promise<EngineBench> {
    let ends = true;
    const bench = await openBench(open, {
      script,
      checkpoint(point) {
        if (point !== "answer.stored" || !ends) return;
        ends = false;
        throw new Error("the process ends");
      },
    });
    await bench.say("anna", "hello");
    await bench.until("the answer is stored", () => !ends);
    bench.clock.advance(leaseMs - 1);
    expect(bench.sent).toEqual([]);
    bench.clock.advance(2_000);
    await bench.until("it is sent", () => bench.sent.length > 0);
    await bench.advance(60_000);
    return bench;
  }

  it("asks the platform, and sends what that has not got", async () => {
    const asked: string[] = [];
    const bench = await answerAndEnd({
      async reconcile(key) {
        asked.push(key);
        return null;
      },
    });
    expect(bench.sent.map(({ text }) => text)).toEqual(["You asked: hello"]);
    expect(asked).toEqual(bench.sent.map(({ key }) => key));
    await bench.close();
  });

  it("sends it where the platform cannot be asked, and tells nobody that it may not have arrived", async () => {
    const bench = await answerAndEnd({});
    expect(bench.sent.map(({ text }) => text)).toEqual(["You asked: hello"]);
    expect(await notesOf(bench)).toEqual([]);
    await bench.close();
  });
});

eachDatabase("what is stored as begun", (open) => {
  it("is sent by a program that is told to stop just then", async () => {
    const asked: string[] = [];
    let closing: Promise<void> | undefined;
    const bench = await openBench(open, {
      script: {
        async reconcile(key) {
          asked.push(key);
          return null;
        },
      },
      checkpoint(point) {
        if (point === "answer.stored") closing = bench.app.close();
      },
    });
    const other = await openBench(open, { beside: bench, script: tells, clock: bench.clock });
    await bench.say("anna", "hello");
    await bench.until("it stops", () => closing !== undefined);
    await closing;
    expect(bench.sent.map(({ text }) => text)).toEqual(["You asked: hello"]);
    expect(asked).toEqual([]);
    expect(await other.store.read.selectFrom("deliveries").select(["state", "attempts"]).execute()).toEqual([
      { state: "sent", attempts: 1 },
    ]);
    await other.close();
    await bench.close();
  });

  it("is not sent before the platform was asked by who was held up for longer than it had taken it for", async () => {
    const done: string[] = [];
    let isFirst = true;
    const bench = await openBench(open, {
      script: {
        async send(_part, { key }) {
          done.push("sent");
          return { externalId: key, state: "sent" };
        },
        async reconcile() {
          done.push("asked");
          return null;
        },
      },
      checkpoint(point) {
        if (point !== "answer.stored" || !isFirst) return;
        isFirst = false;
        // Another may have taken it meanwhile, and have made the call.
        bench.clock.leap(leaseMs + 1_000);
      },
    });
    await bench.say("anna", "hello");
    await bench.until("it is sent", () => bench.sent.length > 0);
    expect(done).toEqual(["asked", "sent"]);
    await bench.close();
  });
});

/** What the database holds the moment the answer is durable, before anything else is done. */
async function atTheAnswer<T>(script: Partial<Script>, look: (database: DatabaseSync) => T) {
  const seen: T[] = [];
  const bench = await openBench(newSqlite, {
    script,
    checkpoint(point) {
      if (point !== "answer.stored") return;
      const other = openDatabase(bench.url.slice("sqlite:".length), { readOnly: false });
      seen.push(look(other));
      other.close();
    },
  });
  await bench.say("anna", "hello");
  await bench.settle();
  return { bench, seen };
}

const deliveriesIn = (database: DatabaseSync): readonly unknown[] =>
  database.prepare("select state, attempts from deliveries").all();

it("stores that the call begins with the answer itself", async () => {
  const { bench, seen } = await atTheAnswer(tells, deliveriesIn);
  expect(seen).toEqual([[{ state: "sending", attempts: 1 }]]);
  expect(bench.sent).toHaveLength(1);
  expect(await bench.store.read.selectFrom("deliveries").select(["state", "attempts"]).execute()).toEqual([
    { state: "sent", attempts: 1 },
  ]);
  await bench.close();
});

it("stores it by itself where nobody could tell afterwards", async () => {
  const { bench, seen } = await atTheAnswer({}, deliveriesIn);
  expect(seen).toEqual([[{ state: "queued", attempts: 0 }]]);
  expect(bench.sent).toHaveLength(1);
  await bench.close();
});

it("makes no call of what another has taken over meanwhile", async () => {
  let isFirst = true;
  const bench = await openBench(newSqlite, {
    script: tells,
    checkpoint(point) {
      if (point !== "answer.stored" || !isFirst) return;
      isFirst = false;
      const other = openDatabase(bench.url.slice("sqlite:".length), { readOnly: false });
      other.exec("update outbox set lease_id = 'ses_other' where kind = 'send'");
      other.close();
    },
  });
  await bench.say("anna", "hello");
  await bench.until("the answer is stored", () => !isFirst);
  await bench.say("ben", "hello");
  await bench.until("the next one is sent", () => bench.sent.length > 0);
  expect(bench.sent.map(({ thread }) => thread)).toEqual(["ben"]);
  await bench.close();
});

it("asks the platform before it makes a call again of which it does not know what became", async () => {
  let calls = 0;
  const asked: string[] = [];
  const { bench } = await atTheAnswer(
    {
      async send(_part, { key }) {
        calls += 1;
        if (calls === 1) throw new Error("the connection broke");
        return { externalId: key, state: "sent" };
      },
      async reconcile(key) {
        asked.push(key);
        return null;
      },
    },
    deliveriesIn,
  );
  expect([calls, asked.length]).toEqual([1, 0]);
  await bench.advance(60_000);
  expect([calls, asked.length]).toEqual([2, 1]);
  await bench.close();
});

/** Whether the mark that a part was sent is on the disk before anything else is done. */
async function flushesWhenSent(given: BenchOptions): Promise<boolean> {
  const bench = await openBench(newSqlite, given);
  const { write } = bench.store;
  let flushed: boolean | undefined;
  const noting: typeof write = (work, options) =>
    write(async (tx) => {
      const result = await work(tx);
      const part = await tx.selectFrom("deliveries").select("state").executeTakeFirst();
      if (part?.state === "sent") flushed ??= options?.flush !== false;
      return result;
    }, options);
  Object.assign(bench.store, { write: noting });
  await bench.say("anna", "hello");
  await bench.until("it is sent", () => flushed !== undefined);
  await bench.close();
  return flushed === true;
}

it("waits for the disk with what was sent where nothing else says so, and it would be sent again", async () => {
  expect(await flushesWhenSent({ script: { idempotentSend: true } })).toBe(true);
});

it("waits for no disk with what was sent where the platform is asked, or customers fetch it from here", async () => {
  expect(await flushesWhenSent({ script: tells })).toBe(false);
  expect(await flushesWhenSent({ account: { channel: "widget", load: loadAdapter, config: {} } })).toBe(false);
});
