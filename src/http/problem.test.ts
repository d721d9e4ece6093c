import { sql } from "kysely";
import { expect, it } from "vitest";
import { startApp } from "#test/support/http/app.ts";
import { eachDatabase, newSqlite } from "#test/support/database/databases.ts";

eachDatabase("problems", (open) => {
  it("answers 503 with Retry-After while the database is down", async () => {
    const database = await open();
    if (database.url.startsWith("sqlite:")) return;
    const other = await startApp(async () => database);
    await other.store.write(async () => undefined);
    await (database.drop ?? database.remove)();
    const answered = await other.get("/v1/documents");
    expect([answered.status, answered.headers.get("retry-after")]).toEqual([503, "5"]);
    expect(answered.body.detail).not.toContain("parley_");
    await other.close().catch(() => undefined);
  });
});

it("reports a full disk as a temporary error, and works again afterwards", async () => {
  const app = await startApp(newSqlite);
  const pages = (max: number) => app.store.write((tx) => sql`pragma max_page_count = ${sql.lit(max)}`.execute(tx));
  const ask = () => app.post("/v1/query", { workspace_id: app.workspace.id, query: "x".repeat(1_000) });
  // The limit is at least the present size, so the file cannot grow.
  await pages(1);
  let refused = await ask();
  for (let i = 0; i < 200 && refused.status === 200; i += 1) refused = await ask();
  expect(refused).toMatchObject({ status: 503, body: { code: "upstream_timeout" } });
  expect(refused.headers.get("retry-after")).toMatch(/^[1-9]/);
  await pages(1_000_000);
  expect((await ask()).status).toBe(200);
  await app.close();
});
