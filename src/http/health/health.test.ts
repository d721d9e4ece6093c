import { sql } from "kysely";
import { expect, it } from "vitest";
import type { DependencyState } from "#http/dependencies.ts";
import { startApp } from "#test/support/http/app.ts";
import { eachDatabase, newSqlite } from "#test/support/database/databases.ts";
import { startHttp } from "#test/support/http/http-server.ts";

eachDatabase("health", (open) => {
  it("reports live and ready", async () => {
    const app = await startApp(open);
    expect((await app.get("/health/live", { key: null })).status).toBe(200);
    const ready = await app.get("/health/ready", { key: null });
    expect(ready).toMatchObject({ status: 200, body: { status: "ready" } });
    expect(ready.body).toMatchObject({
      dependencies: [
        { name: "database", state: "ready", cause: null },
        { name: "disk", state: "ready", cause: null },
      ],
    });
    await app.close();
  });
});

it("reports ready and metrics while the disk's free space cannot be read", async () => {
  let failing = false;
  const app = await startApp(newSqlite, {
    publicUrl: "http://127.0.0.1:8080",
    freeBytes: async () => {
      if (failing) throw new Error("EIO: i/o error, statfs");
      return 10_000_000_000;
    },
  });
  const metrics = async () => (await app.get("/metrics", { key: null })).text;
  expect(await metrics()).toContain("\nparley_disk_free_bytes 10000000000\n");
  failing = true;
  const ready = await app.get("/health/ready", { key: null });
  expect(ready).toMatchObject({ status: 200, body: { status: "ready" } });
  expect(JSON.stringify(ready.body)).toContain("free space is unknown: EIO: i/o error, statfs");
  expect(await metrics()).not.toContain("\nparley_disk_free_bytes ");
  expect(app.logged.join("\n")).toContain("metrics: reading free disk space failed");
  failing = false;
  expect(await metrics()).toContain("\nparley_disk_free_bytes 10000000000\n");
  await app.close();
});

it("reports not ready while regular writes fail, as on a full disk", async () => {
  const app = await startApp(newSqlite);
  const rename = (from: string, to: string) =>
    app.store.write((tx) => sql`alter table ${sql.table(from)} rename to ${sql.table(to)}`.execute(tx));
  const state = async () => (await app.get("/health/ready", { key: null })).status;
  await rename("processes", "away");
  app.clock.advance(5_000);
  await expect.poll(state).toBe(503);
  await rename("away", "processes");
  app.clock.advance(5_000);
  await expect.poll(state).toBe(200);
  await app.close();
});

it.each([
  ["degraded" as const, 200, "ready"],
  ["failed" as const, 503, "not_ready"],
])("reports a dependency that is %s, with the cause", async (state, status, word) => {
  const broken: DependencyState = { name: "telegram-eu", state, cause: "the token was revoked" };
  const http = await startHttp(newSqlite, { readiness: async () => [broken] });
  expect(await http.get("/health/ready")).toMatchObject({ status, body: { status: word, dependencies: [broken] } });
  await http.close();
});

it("reports not ready when a check of the dependencies fails or times out", async () => {
  const hanging = await startHttp(newSqlite, {
    readiness: () => new Promise(() => undefined),
    timeouts: { readinessMs: 20 },
  });
  expect((await hanging.get("/health/ready")).status).toBe(503);
  await hanging.close();
  const failing = await startHttp(newSqlite, {
    readiness: async () => {
      throw new Error("mysql://root:hunter2@db");
    },
  });
  const answered = await failing.get("/health/ready");
  expect(answered.status).toBe(503);
  expect(JSON.stringify(answered.body)).not.toContain("hunter2");
  await failing.close();
});

it("counts requests by route pattern, not by path", async () => {
  const http = await startHttp(newSqlite, { publicUrl: "http://127.0.0.1:8080" });
  await http.get("/v1/documents/doc_secret");
  const { text, headers } = await http.get("/metrics");
  expect(headers.get("content-type")).toContain("text/plain");
  expect(text).toContain(
    'parley_http_request_duration_seconds_count{method="GET",route="/v1/documents/:document_id",status="404"} 1',
  );
  expect(text).not.toContain("doc_secret");
  await http.close();
});
