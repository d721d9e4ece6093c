import { afterAll, beforeAll, expect, it } from "vitest";
import { newSqlite } from "#test/support/database/databases.ts";
import type { AdminChanges } from "#test/support/http/admin-changes.ts";
import { startAdminChanges } from "#test/support/http/admin-changes.ts";
import type { DashboardUser } from "#test/support/http/administrators.ts";
import { dashboardUser } from "#test/support/http/administrators.ts";
import type { TestApp } from "#test/support/http/app.ts";
import { startApp } from "#test/support/http/app.ts";
import { operationsOf } from "#test/support/http/openapi.ts";

/** Routes that take a body and change nothing, with what they do. */
const changeNothing: Readonly<Record<string, string>> = {
  "POST /admin/v1/channels/:id/check": "asks the platform for the account's name",
  "POST /admin/v1/channels/:id/install": "begins an installation, which changes the account at its end",
  "POST /admin/v1/channels/kinds/:channel/install": "begins an installation, which connects an account at its end",
  "POST /admin/v1/markdown": "shows a preview",
  "POST /admin/v1/me/second-factor": "makes a secret that is stored once its first code was right",
  "POST /admin/v1/questions/try": "shows an answer without a conversation",
  "POST /admin/v1/rules/dry-run": "shows what rules would have done",
  "POST /admin/v1/skills/test": "calls a server only where the skill changes nothing there",
};

let app: TestApp;
let admin: DashboardUser;
let changes: AdminChanges;

beforeAll(async () => {
  app = await startApp(newSqlite, { file: { workspaces: [], allowPrivate: ["127.0.0.1"] } });
  admin = await dashboardUser(app, "admin");
  changes = await startAdminChanges(app, admin);
});
afterAll(async () => {
  await app.close();
  await changes.close();
});

const entriesBy = async ({ email }: DashboardUser): Promise<number> => {
  const rows = app.store.read.selectFrom("audit").select("id").where("actor_id", "=", email);
  return (await rows.execute()).length;
};

async function changingRoutes(): Promise<readonly string[]> {
  const operations = await operationsOf(app.url);
  return operations
    .filter(({ method, path }) => method !== "GET" && path.startsWith("/admin/v1/"))
    .map(({ method, path }) => `${method} ${path.replaceAll(/\{(\w+)\}/g, ":$1")}`);
}

it("has a request for every changing route", async () => {
  expect((await changingRoutes()).toSorted()).toEqual(Object.keys(changes.of).toSorted());
});

const crossSite = { "sec-fetch-site": "cross-site" };

it("has entries for downloads, which other sites cannot start", async () => {
  for (const path of ["audit/export", "customers/export?email=nobody@customer.example"]) {
    const before = await entriesBy(admin);
    const { status, body } = await admin.call("GET", path, undefined, crossSite);
    expect([path, status, body]).toMatchObject([path, 403, { code: "cross_site" }]);
    expect([path, await entriesBy(admin)]).toEqual([path, before]);
    expect((await admin.call("GET", path)).status).toBe(200);
    expect([path, await entriesBy(admin)]).toEqual([path, before + 1]);
  }
});

/** A second request of these changes nothing. */
const repeats = /^(?:PATCH|PUT|DELETE) |\/(?:pause|resume|done|ignore|reopen|remove|order)$/;

it("has an entry for every change by an administrator", async () => {
  const silent: string[] = [];
  for (const route of await changingRoutes()) {
    const { by = admin, path, body } = (await changes.of[route]?.()) ?? { path: "" };
    const before = await entriesBy(by);
    const [method = ""] = route.split(" ");
    const { status, body: answer } = await by.call(method, path, body);
    expect([status < 300, route, answer]).toEqual([true, route, answer]);
    const after = await entriesBy(by);
    if (after === before) silent.push(route);
    if (!repeats.test(route)) continue;
    await by.call(method, path, body);
    expect([route, (await entriesBy(by)) - after]).toEqual([route, 0]);
  }
  expect(silent.toSorted()).toEqual(Object.keys(changeNothing).toSorted());
});
