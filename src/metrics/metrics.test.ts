import { readFile } from "node:fs/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, it } from "vitest";
import { systemClock } from "#runtime/clock.ts";
import type { TestApp } from "#test/support/http/app.ts";
import { startApp } from "#test/support/http/app.ts";
import { createMetrics } from "./metrics.ts";
import { eachDatabase, newSqlite } from "#test/support/database/databases.ts";

const local = { publicUrl: "http://127.0.0.1:8080" };

async function scrape(app: TestApp): Promise<string> {
  const { status, text } = await app.get("/metrics", { key: null });
  expect(status).toBe(200);
  return text;
}

eachDatabase("the metrics", (open) => {
  it("show waiting work, abandoned work, and answers", async () => {
    const app = await startApp(open, local);
    const now = app.clock.now();
    const row = {
      lane: "later:1",
      payload: "{}",
      attempts: 0,
      lease_id: null,
      lease_until: null,
      dead_at: null,
      last_error: null,
      created_at: now,
    };
    const leased = { lease_id: "ses_other", lease_until: now + 3_600_000 };
    await app.store.write((tx) =>
      tx
        .insertInto("outbox")
        .values([
          { ...row, ...leased, kind: "send", due_at: now - 90_000 },
          { ...row, ...leased, kind: "send", due_at: now - 1_000 },
          { ...row, kind: "send", due_at: now + 60_000 },
          { ...row, lane: "dead:1", kind: "think", due_at: now - 500, dead_at: now },
        ])
        .execute(),
    );
    await app.post("/v1/query", { workspace_id: app.workspace.id, query: "What is the airspeed of a swallow?" });
    const text = await scrape(app);
    expect(text).toContain('parley_work_waiting{kind="send"} 2\n');
    expect(text).toContain('parley_work_oldest_due_age_seconds{kind="send"} 90\n');
    expect(text).toContain('parley_work_dead{kind="think"} 1\n');
    expect(text).toContain('parley_work_dead{kind="send"} 0\n');
    expect(text).toMatch(/parley_answer_duration_seconds_count\{confidence="low"\} 1\n/);
    expect(text).toMatch(
      /parley_http_request_duration_seconds_count\{method="POST",route="\/v1\/query",status="200"\} 1\n/,
    );
    expect(text).toMatch(/parley_database_writes_waiting \d+\n/);
    expect(text).toMatch(/parley_database_statements_total [1-9]\d*\n/);
    expect(text).toMatch(/parley_database_transactions_total [1-9]\d*\n/);
    expect(text).not.toContain(app.workspace.id);
    await app.close();
  });
});

it("read the database once for several scrapes, and again after a while", async () => {
  const app = await startApp(newSqlite, local);
  await Promise.all(Array.from({ length: 20 }, () => scrape(app)));
  const now = app.clock.now();
  await app.store.write((tx) =>
    tx
      .insertInto("outbox")
      .values({
        lane: "dead:1",
        kind: "send",
        payload: "{}",
        due_at: now,
        attempts: 12,
        lease_id: null,
        lease_until: null,
        dead_at: now,
        last_error: "refused",
        created_at: now,
      })
      .execute(),
  );
  expect(await scrape(app)).toContain('parley_work_dead{kind="send"} 0\n');
  app.clock.advance(5_000);
  expect(await scrape(app)).toContain('parley_work_dead{kind="send"} 1\n');
  await app.close();
});

it("are shown to every client with the token, and to no other", async () => {
  const metricsToken = "a-token-of-sufficient-length";
  const app = await startApp(newSqlite, { ...local, metricsToken });
  const ask = async (headers: Readonly<Record<string, string>>) =>
    (await app.get("/metrics", { key: null, headers })).status;
  expect(await ask({ authorization: `Bearer ${metricsToken}`, "x-forwarded-for": "203.0.113.9" })).toBe(200);
  expect(await ask({})).toBe(401);
  expect(await ask({ authorization: `Bearer ${metricsToken}x` })).toBe(401);
  expect(await ask({ authorization: metricsToken })).toBe(401);
  await app.close();
});

it("are not shown through a proxy or on a published installation without a token", async () => {
  const near = await startApp(newSqlite, local);
  expect((await near.get("/metrics", { key: null })).status).toBe(200);
  for (const name of ["X-Forwarded-For", "Forwarded", "X-Real-IP", "Via"]) {
    const answered = await near.get("/metrics", { key: null, headers: { [name]: "for=127.0.0.1" } });
    expect(answered).toMatchObject({ status: 404, body: { code: "not_found" } });
    expect(answered.body.detail).toContain("METRICS_TOKEN");
  }
  await near.close();
  const published = await startApp(newSqlite, { publicUrl: "https://support.example" });
  expect((await published.get("/metrics", { key: null })).status).toBe(404);
  await published.close();
});

it("name only kinds of work that the manual explains", async () => {
  const app = await startApp(newSqlite, local);
  const served = [...(await scrape(app)).matchAll(/^parley_work_waiting\{kind="([^"]+)"/gm)].map(
    ([, kind]) => kind ?? "",
  );
  const manual = await readFile(new URL("../../docs/operating.md", import.meta.url), "utf8");
  const [explained = ""] = /^The kinds of work are .*$/m.exec(manual) ?? [];
  expect(served.length).toBeGreaterThan(20);
  expect(served.filter((kind) => !explained.includes(`\`${kind}\``))).toEqual([]);
  await app.close();
});

it("are all listed in the manual, and no others", async () => {
  const app = await startApp(newSqlite, local);
  const served = [...(await scrape(app)).matchAll(/^# TYPE (\S+) /gm)].map(([, name]) => name ?? "");
  const manual = await readFile(new URL("../../docs/operating.md", import.meta.url), "utf8");
  const named = [...manual.matchAll(/\b(?:parley|nodejs|process)_[a-z0-9_]+(?<!_)\b/g)].map(([name]) =>
    name.replace(/_(?:count|sum|bucket)$/, ""),
  );
  expect([...new Set(named)].toSorted()).toEqual(served.toSorted());
  await app.close();
});

it("of a part that ended are released", async () => {
  setFlagsFromString("--expose-gc");
  const collectGarbage = runInNewContext("gc") as () => void;
  const made = new WeakRef(createMetrics("1.0.0", systemClock).registry);
  await expect
    .poll(() => {
      collectGarbage();
      return made.deref() === undefined;
    })
    .toBe(true);
});
