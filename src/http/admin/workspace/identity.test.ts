import { createHmac } from "node:crypto";
import { afterAll, beforeAll, expect, it } from "vitest";
import { newSqlite } from "#test/support/database/databases.ts";
import type { DashboardUser } from "#test/support/http/administrators.ts";
import { dashboardUser } from "#test/support/http/administrators.ts";
import type { TestApp } from "#test/support/http/app.ts";
import { startApp } from "#test/support/http/app.ts";

let app: TestApp;
let admin: DashboardUser;
beforeAll(async () => {
  app = await startApp(newSqlite);
  admin = await dashboardUser(app, "admin");
});
afterAll(() => app.close());

const asks = async (secret: string): Promise<number> => {
  const user = { user_id: "u-1", hash: createHmac("sha256", secret).update("u-1").digest("hex") };
  return (await app.post("/v1/query", { workspace_id: app.workspace.id, query: "Hello", user })).status;
};

it("proves customers by a new identity secret, and by no earlier one", async () => {
  const { identitySecret: before } = app.workspace;
  expect(await asks(before)).toBe(200);
  const { status, body } = await admin.call("POST", "identity-secret");
  expect(status).toBe(201);
  const { identity_secret: secret } = body as { readonly identity_secret: string };
  // A workspace that was read is used for a second at most.
  app.clock.advance(1_500);
  expect([await asks(secret), await asks(before)]).toEqual([200, 403]);
  const entries = app.store.read.selectFrom("audit").select(["action", "detail"]).where("actor_id", "=", admin.email);
  expect(await entries.execute()).toEqual([{ action: "secret_rotated", detail: "the identity secret" }]);
});

it("is for administrators of the workspace", async () => {
  for (const role of ["agent", "viewer"] as const) {
    const user = await dashboardUser(app, role);
    expect([role, (await user.call("POST", "identity-secret")).status]).toEqual([role, 403]);
  }
});
