import { writeFile } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import type { RawBuilder } from "kysely";
import { CompiledQuery, Kysely, MysqlDialect, sql } from "kysely";
import { createPool } from "mysql2";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { OpenStore } from "./open.ts";
import { openStore } from "./open.ts";
import { SharedServerDialect } from "./dialects/mysql-dialect.ts";
import { openDatabase } from "./dialects/sqlite.ts";
import { isDuplicate } from "./duplicate-key.ts";
import { afterCommit } from "./transaction-context.ts";
import { eachDatabase, emptyDatabase, newSqlite, onMysql, openTestStore } from "#test/support/database/databases.ts";

it("names a database file that cannot be used", async () => {
  const { url, remove } = await emptyDatabase("sqlite");
  await writeFile(
    url.slice("sqlite:".length),
    "This is no database, but a text that is long enough to be looked at.".repeat(9),
  );
  await expect(openStore(url)).rejects.toThrow(/parley\.sqlite is damaged \(file is not a database\)/);
  await remove();
});

it("maps values to the right names after another process has changed the columns", async () => {
  const { url, remove } = await emptyDatabase("sqlite");
  const store = await openStore(url);
  const other = openDatabase(url.slice("sqlite:".length), { readOnly: false });
  const change = (text: string) => other.exec(text);
  change("create table things (id text, gone text, secret text, name text)");
  change("insert into things values ('i', 'g', 's', 'n')");
  const all = async () => (await sql`select * from things`.execute(store.read)).rows;
  const allInWrite = async () => (await store.write((tx) => sql`select * from things`.execute(tx))).rows;
  const changes: readonly (readonly [string, object])[] = [
    ["select 1", { id: "i", gone: "g", secret: "s", name: "n" }],
    ["alter table things drop column gone", { id: "i", secret: "s", name: "n" }],
    ["alter table things rename column secret to name2", { id: "i", name2: "s", name: "n" }],
    // The same number of migrations, one of them in another place.
    [
      "create table other (name text, id text, name2 text); insert into other select name, id, name2 from things; drop table things; alter table other rename to things",
      { name: "n", id: "i", name2: "s" },
    ],
    ["alter table things add column more text default 'm'", { name: "n", id: "i", name2: "s", more: "m" }],
  ];
  for (const [text, row] of changes) {
    change(text);
    expect(await all()).toEqual([row]);
    expect(await allInWrite()).toEqual([row]);
    expect(await all()).toEqual([row]);
  }
  other.close();
  await store.close();
  await remove();
});

it("maps all columns of a table after another process has added one and moved the others", async () => {
  const { url, remove } = await emptyDatabase("sqlite");
  const store = await openStore(url);
  await store.migrate();
  const insert = { account_id: "a1", holder: "p1", lease_until: 5 };
  await store.write((tx) => tx.insertInto("connection_leases").values(insert).execute());
  const all = () => store.read.selectFrom("connection_leases").selectAll().execute();
  const allInWrite = () =>
    store.write((tx) => tx.selectFrom("connection_leases").selectAll("connection_leases").execute());
  expect(await all()).toEqual([insert]);
  expect(await allInWrite()).toEqual([insert]);
  const other = openDatabase(url.slice("sqlite:".length), { readOnly: false });
  other.exec(`create table moved (more text, lease_until integer, holder text, account_id text primary key);
    insert into moved select 'm', lease_until, holder, account_id from connection_leases;
    drop table connection_leases; alter table moved rename to connection_leases`);
  expect(await all()).toEqual([insert]);
  expect(await allInWrite()).toEqual([insert]);
  other.close();
  await store.close();
  await remove();
});

/** SQLite's value for commits that wait for the disk; 1: they do not. */
const full = 2;

it("flushes SQLite's commits, except those whose works all allow not to", async () => {
  const { store, close } = await openTestStore(newSqlite);
  const order: string[] = [];
  const write = (name: string, flush?: boolean): Promise<readonly [string, number]> =>
    store.write(
      async (tx) => {
        order.push(name);
        const { rows } = await sql<{ readonly synchronous: number }>`pragma synchronous`.execute(tx);
        return [name, rows[0]?.synchronous ?? 0];
      },
      flush === undefined ? {} : { flush },
    );
  expect(await write("by itself")).toEqual(["by itself", full]);
  expect(await write("need not", false)).toEqual(["need not", 1]);
  expect(await Promise.all([write("need not", false), write("with it")])).toEqual([
    ["need not", full],
    ["with it", full],
  ]);
  // Work that arrives during a transaction gets the next one.
  order.length = 0;
  let begun: (value: unknown) => void = () => undefined;
  let goOn: (value: unknown) => void = () => undefined;
  const isBegun = new Promise((resolve) => (begun = resolve));
  const mayGoOn = new Promise((resolve) => (goOn = resolve));
  const first = store.write(
    async () => {
      order.push("first");
      begun(undefined);
      await mayGoOn;
    },
    { flush: false },
  );
  await isBegun;
  const late = [write("must"), write("need not", false)];
  goOn(undefined);
  await first;
  expect(order).toEqual(["first"]);
  expect(await Promise.all(late)).toEqual([
    ["must", full],
    ["need not", full],
  ]);
  expect(order).toEqual(["first", "must", "need not"]);
  await close();
});

it("limits the wait for a silent MySQL server, and frees the connections", async () => {
  const silent = createServer();
  await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
  const { port } = silent.address() as AddressInfo;
  const store = await openStore(`mysql://root@127.0.0.1:${port}/parley`, { connectMs: 200 });
  const ask = () => store.read.selectFrom("workspaces").select("id").execute();
  // More than the pool has connections for.
  const outcomes = await Promise.allSettled([
    ...Array.from({ length: 30 }, ask),
    store.write((tx) => sql`select 1`.execute(tx)),
  ]);
  for (const outcome of outcomes) {
    expect(outcome).toMatchObject({ status: "rejected", reason: { code: "ETIMEDOUT" } });
  }
  await store.close();
  silent.close();
});

eachDatabase("the store", (open) => {
  let store: OpenStore;
  let close: () => Promise<void>;
  beforeAll(async () => {
    ({ store, close } = await openTestStore(open));
  });
  afterAll(() => close());

  const add = (name: string) =>
    store.write((tx) => tx.insertInto("counters").values({ name, window_start: 0, value: 1 }).execute());
  const names = async (prefix: string) =>
    (
      await store.read
        .selectFrom("counters")
        .select("name")
        .where("name", "like", `${prefix}%`)
        .orderBy("name")
        .execute()
    ).map(({ name }) => name);

  it("undoes only the failing work of a shared transaction", async () => {
    const outcomes = await Promise.allSettled([add("a1"), add("a2"), add("a1"), add("a3")]);
    expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "rejected", "fulfilled"]);
    expect(await names("a")).toEqual(["a1", "a2", "a3"]);
  });

  it("fails all pending writes at once while the database is away", async () => {
    const away = await openTestStore(open);
    await away.store.close();
    const write = () => away.store.write((tx) => tx.selectFrom("counters").selectAll().execute());
    const outcomes = await Promise.allSettled([write(), write(), write()]);
    expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
  });

  it("keeps its connections after the connect timeout has passed", async () => {
    const { url, close: remove } = await openTestStore(open);
    const short = await openStore(url, { connectMs: 2_000 });
    const connection = short.dialect === "mysql" ? sql`connection_id()` : sql`1`;
    const ask = async () => (await sql`select ${connection} as id`.execute(short.read)).rows;
    const before = await ask();
    // The limit is one of sockets, which use the system's clock.
    await new Promise((resolve) => setTimeout(resolve, 2_200));
    expect(await ask()).toEqual(before);
    await short.close();
    await remove();
  });

  it("distinguishes a duplicate from other failures", async () => {
    await add("d1");
    await expect(add("d1")).rejects.toSatisfy(isDuplicate);
    await expect(store.write(async () => Promise.reject(new Error("other")))).rejects.not.toSatisfy(isDuplicate);
  });

  it("distinguishes keys by case and accents", async () => {
    await add("k-a");
    await add("k-A");
    await add("k-á");
    expect((await names("k-")).toSorted()).toEqual(["k-A", "k-a", "k-á"].toSorted());
  });

  it("shows a write to the reader once its promise has resolved", async () => {
    await Promise.all(
      Array.from({ length: 50 }, async (_, i) => {
        await add(`r${i}`);
        expect(await names(`r${i}`)).toContain(`r${i}`);
      }),
    );
  });

  it("is calm while no write runs or waits", async () => {
    let release: (value: unknown) => void = () => undefined;
    const held = new Promise((resolve) => (release = resolve));
    expect(store.isCalm()).toBe(true);
    const writing = store.write(() => held);
    expect(store.isCalm()).toBe(false);
    release(undefined);
    await writing;
    await expect.poll(() => store.isCalm()).toBe(true);
  });

  it("refuses to write through the reader", async () => {
    await expect(store.read.deleteFrom("counters").execute()).rejects.toThrow("use store.write");
  });

  it("refuses the reader and a nested write inside a write, instead of hanging", async () => {
    await expect(store.write(() => store.read.selectFrom("counters").selectAll().execute())).rejects.toThrow(
      "use the transaction",
    );
    await expect(store.write(() => add("nested"))).rejects.toThrow("use the transaction");
    await add("after");
    expect(await names("after")).toEqual(["after"]);
  });

  it("applies each migration once", async () => {
    expect(await store.pendingMigrations()).toEqual([]);
    expect(await store.migrate()).toEqual([]);
  });

  it("creates the schema after an interrupted first start", async () => {
    const database = await emptyDatabase(store.dialect);
    const begun = await openStore(database.url);
    try {
      if (begun.dialect === "sqlite") {
        // One of the last tables, so that the migration stops in the middle.
        await begun.write((tx) => sql`create table processes (x int)`.execute(tx));
        await expect(begun.migrate()).rejects.toThrow("could not be brought up to date");
        await begun.write((tx) => sql`drop table processes`.execute(tx));
      } else {
        await begun.migrate();
        for (const statement of [sql`drop table processes`, sql`delete from kysely_migration`])
          await statement.execute(begun.read);
      }
      expect((await begun.migrate())[0]).toBe("0001-initial");
      expect(await begun.read.selectFrom("workspaces").select("id").execute()).toEqual([]);
      expect(await begun.read.selectFrom("processes").select("id").execute()).toEqual([]);
    } finally {
      await begun.close();
      await database.remove();
    }
  });

  it("refuses a database with another program's table of the same name, and does not change the table", async () => {
    const database = await emptyDatabase(store.dialect);
    const other = await openStore(database.url);
    try {
      const run = async (statement: RawBuilder<unknown>) =>
        other.dialect === "sqlite" ? other.write((tx) => statement.execute(tx)) : statement.execute(other.read);
      await run(sql`create table contacts (theirs int)`);
      await expect(other.migrate()).rejects.toThrow("could not be brought up to date");
      expect((await sql`select theirs from contacts`.execute(other.read)).rows).toEqual([]);
      await expect(other.read.selectFrom("workspaces").select("id").execute()).rejects.toThrow("workspaces");
    } finally {
      await other.close();
      await database.remove();
    }
  });

  it("serialises conflicting read-then-write works, so that no increment is lost", async () => {
    await add("counter");
    await Promise.all(
      Array.from({ length: 100 }, () =>
        store.write((tx) =>
          tx
            .updateTable("counters")
            .set((eb) => ({ value: eb("value", "+", 1) }))
            .where("name", "=", "counter")
            .execute(),
        ),
      ),
    );
    const row = await store.read
      .selectFrom("counters")
      .select("value")
      .where("name", "=", "counter")
      .executeTakeFirstOrThrow();
    expect(row.value).toBe(101);
  });
});

eachDatabase("code started in a transaction", (open) => {
  it("runs outside of the transaction after its end", async () => {
    const { store, close } = await openTestStore(open);
    const count = () => store.read.selectFrom("counters").select("name").execute();
    const { promise: later, resolve, reject } = Promise.withResolvers<unknown>();
    let ended = (): void => undefined;
    await store.write(async (tx) => {
      await tx.insertInto("counters").values({ name: "later", window_start: 0, value: 1 }).execute();
      const end = new Promise<void>((done) => (ended = done));
      void end.then(count).then(resolve, reject);
    });
    ended();
    expect(await later).toEqual([{ name: "later" }]);
    await close();
  });

  it("runs after the commit if registered with afterCommit, and never after a rollback", async () => {
    const { store, close } = await openTestStore(open);
    const seen: Promise<unknown>[] = [];
    const fail = (error: unknown): never => {
      throw error;
    };
    const insert = (name: string, failing: boolean) =>
      store.write(async (tx) => {
        await tx.insertInto("counters").values({ name, window_start: 0, value: 1 }).execute();
        afterCommit(() => void seen.push(store.read.selectFrom("counters").select("name").execute()), fail);
        if (failing) throw new Error("undone");
      });
    await expect(insert("undone", true)).rejects.toThrow("undone");
    expect(seen).toEqual([]);
    await insert("kept", false);
    expect(await Promise.all(seen)).toEqual([[{ name: "kept" }]]);
    expect(() => afterCommit(() => undefined, fail)).toThrow("outside of store.write");
    await close();
  });

  it("continues with the other callbacks if one fails after the commit", async () => {
    const { store, close } = await openTestStore(open);
    const seen: unknown[] = [];
    const written = await store.write(async () => {
      afterCommit(
        () => {
          throw new Error("callback");
        },
        (error) => seen.push(error),
      );
      afterCommit(
        () => seen.push("second"),
        (error) => seen.push(error),
      );
      return "written";
    });
    expect(written).toBe("written");
    expect(seen).toEqual([new Error("callback"), "second"]);
    await close();
  });
});

onMysql("the tables of a database", (open) => {
  it("are listed without opening tables of the server's other databases", async () => {
    const { url, close } = await openTestStore(open);
    const pool = createPool({ uri: url, connectionLimit: 1 });
    const asked: CompiledQuery[] = [];
    const db = new Kysely<unknown>({
      dialect: new SharedServerDialect({ pool }),
      log: ({ query }) => void asked.push(query),
    });
    try {
      for (const withInternalKyselyTables of [true, false]) {
        const tables = await db.introspection.getTables({ withInternalKyselyTables });
        const kysely = new MysqlDialect({ pool }).createIntrospector(db);
        const queries = asked.splice(0);
        expect(tables).toEqual(await kysely.getTables({ withInternalKyselyTables }));
        expect(tables.some(({ name }) => name === "kysely_migration")).toBe(withInternalKyselyTables);
        asked.splice(0);
        const plans = [];
        for (const query of queries) {
          const plan = await db.executeQuery(CompiledQuery.raw(`explain ${query.sql}`, [...query.parameters]));
          plans.push(...plan.rows.map((row) => JSON.stringify(row)));
        }
        expect(plans.length).toBeGreaterThan(0);
        expect(plans.filter((plan) => plan.includes("Scanned all databases"))).toEqual([]);
        asked.splice(0);
      }
    } finally {
      await db.destroy();
      await close();
    }
  });
});
