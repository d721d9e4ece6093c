import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { createConnection } from "mysql2/promise";
import { afterAll, beforeAll, expect, it } from "vitest";
import { isDatabaseFault } from "./faults.ts";
import type { OpenStore } from "./open.ts";
import { openStore } from "./open.ts";
import type { DatabaseProxy, Fault } from "#test/support/database/proxy.ts";
import { openDatabaseProxy } from "#test/support/database/proxy.ts";
import { onMysql, openTestStore } from "#test/support/database/databases.ts";

it("distinguishes an unusable SQLite file from a programming error", async () => {
  const folder = await mkdtemp(join(tmpdir(), "parley-faults-"));
  const path = join(folder, "file.sqlite");
  const first = new DatabaseSync(path);
  first.exec("create table a (b text primary key); insert into a values ('c')");
  const second = new DatabaseSync(path, { timeout: 0 });
  const readOnly = new DatabaseSync(path, { readOnly: true });
  const failure = (run: () => void): unknown => {
    try {
      run();
    } catch (error) {
      return error;
    }
    return undefined;
  };
  first.exec("begin immediate");
  const locked = failure(() => second.exec("begin immediate"));
  first.exec("rollback; pragma max_page_count = 1");
  const cases = [
    locked,
    failure(() =>
      first.exec(
        "with recursive n (i) as (select 1 union all select i + 1 from n limit 9999) insert into a select i from n",
      ),
    ),
    failure(() => readOnly.exec("insert into a values ('d')")),
    failure(() => first.exec("insert into a values ('c')")),
    failure(() => first.exec("insert into nothing values ('c')")),
  ];
  for (const each of [first, second, readOnly]) each.close();
  await writeFile(path, Buffer.alloc(8_192, 0x5a));
  cases.push(failure(() => new DatabaseSync(path).exec("select * from a")));
  await rm(folder, { recursive: true });
  expect(cases.map((each) => (each as { readonly errcode?: number }).errcode)).toEqual([5, 13, 8, 1555, 1, 26]);
  expect(cases.map((each) => isDatabaseFault(each))).toEqual([true, true, true, false, false, true]);
});

onMysql("a connection that fails", (open) => {
  let direct: OpenStore;
  let close: () => Promise<void>;
  let proxy: DatabaseProxy;
  let store: OpenStore;
  let url: string;
  beforeAll(async () => {
    const opened = await openTestStore(open);
    ({ store: direct, close, url } = opened);
    proxy = await openDatabaseProxy(opened.url);
    store = await openStore(proxy.url, { statementMs: 1_000 });
  });
  afterAll(async () => {
    await store.close();
    await proxy.close();
    await close();
  });

  const add = (name: string) =>
    store.write((tx) => tx.insertInto("counters").values({ name, window_start: 0, value: 1 }).execute());
  const stored = async (name: string) =>
    (await direct.read.selectFrom("counters").select("name").where("name", "=", name).execute()).length;

  const faults = ["before", "after", "left", "late"] satisfies Fault[];
  const statements = { BEGIN: /begin$/, "a statement": /insert into/, COMMIT: /commit$/ };
  for (const [name, statement] of Object.entries(statements)) {
    it.each(faults)(`at ${name} (%s) stores the work once, and says so`, async (fault) => {
      proxy.fail(statement, fault);
      await add(`${name} ${fault}`);
      expect(await stored(`${name} ${fault}`)).toBe(1);
    });
  }

  it("at the COMMIT of many works stores each once", async () => {
    proxy.fail(/commit$/, "after");
    const names = Array.from({ length: 50 }, (_, at) => `many ${at}`);
    await Promise.all(names.map((name) => add(name)));
    expect(await Promise.all(names.map((name) => stored(name)))).toEqual(names.map(() => 1));
  });

  it("by silence fails after the statement timeout, and the next work gets a new connection", async () => {
    proxy.fail(/insert into/, "silent");
    await expect(add("silent")).rejects.toSatisfy((error) => isDatabaseFault(error));
    expect(await stored("silent")).toBe(0);
    await add("silent");
    expect(await stored("silent")).toBe(1);
  });

  it("by silence at COMMIT stores the work once, and reports success", async () => {
    proxy.fail(/commit$/, "silent");
    await expect(add("silent commit")).rejects.toSatisfy((error) => isDatabaseFault(error));
    expect(await stored("silent commit")).toBe(0);
    proxy.fail(/commit$/, "mute");
    await add("silent commit");
    expect(await stored("silent commit")).toBe(1);
  });

  it("to a server that became read-only is dropped, and so are the other connections", async () => {
    const ids = async () => {
      const asked = Array.from({ length: 5 }, () =>
        store.read.selectNoFrom((eb) => eb.fn<number>("connection_id").as("id")),
      );
      return (await Promise.all(asked.map((each) => each.executeTakeFirstOrThrow()))).map(({ id }) => id);
    };
    const before = await ids();
    proxy.fail(/insert into/, { errno: 1290, state: "HY000", message: "running with the --read-only option" });
    await expect(add("read-only")).rejects.toSatisfy((error) => isDatabaseFault(error));
    expect((await ids()).filter((id) => before.includes(id))).toEqual([]);
    expect(await stored("read-only")).toBe(0);
  });

  it("fails all works once while no connection is available, and works again afterwards", async () => {
    proxy.cut();
    const outcomes = await Promise.allSettled(Array.from({ length: 100 }, (_, at) => add(`away ${at}`)));
    expect(outcomes.filter((each) => each.status === "rejected" && isDatabaseFault(each.reason))).toHaveLength(100);
    proxy.restore();
    await add("back");
    expect(await stored("back")).toBe(1);
  });

  it("is a database fault if the user has too many connections or lacks the rights", async () => {
    const admin = await createConnection(url);
    const user = `parley_few_${process.pid}`;
    await admin.query(`create user ${user} identified by 'few' with max_user_connections 1`);
    const few = new URL(url);
    few.username = user;
    few.password = "few";
    const failures: unknown[] = [];
    const ask = async (): Promise<void> => {
      const other = await openStore(few.href);
      const read = () => other.read.selectFrom("counters").selectAll().limit(1).execute();
      for (const each of await Promise.allSettled([read(), read(), read()])) {
        if (each.status === "rejected") failures.push(each.reason);
      }
      await other.close();
    };
    await ask();
    expect(failures).toHaveLength(3);
    await admin.query(`grant all on *.* to ${user}`);
    await ask();
    expect(failures.length).toBeGreaterThan(3);
    expect(failures.filter((error) => !isDatabaseFault(error))).toEqual([]);
    await admin.query(`drop user ${user}`);
    await admin.end();
  });

  it("defers a write until the database is back", async () => {
    proxy.cut();
    const failures: unknown[] = [];
    await store.writeWhenBack(
      async (tx) => {
        await tx.insertInto("counters").values({ name: "later", window_start: 0, value: 1 }).execute();
      },
      { ms: 20_000, failed: (error) => void failures.push(error) },
    );
    expect(await stored("later")).toBe(0);
    proxy.restore();
    await expect.poll(() => stored("later")).toBe(1);
    expect(failures).toEqual([]);
  });
});
