import { afterAll, beforeAll, expect, it } from "vitest";
import type { TestApp } from "#test/support/http/app.ts";
import { startApp } from "#test/support/http/app.ts";
import type { DashboardUser } from "#test/support/http/administrators.ts";
import { dashboardUser } from "#test/support/http/administrators.ts";
import { eachDatabase } from "#test/support/database/databases.ts";

eachDatabase("teams", (open) => {
  let app: TestApp;
  let admin: DashboardUser;
  beforeAll(async () => {
    app = await startApp(open);
    admin = await dashboardUser(app, "admin");
  });
  afterAll(() => app.close());

  it("are named sets of agents of the workspace", async () => {
    const anna = await dashboardUser(app, "agent", { name: "anna" });
    const made = await admin.call("POST", "teams", { name: "Sales", agent_ids: [anna.id] });
    expect([made.status, made.body]).toMatchObject([201, { name: "Sales", agent_ids: [anna.id] }]);
    const { id } = made.body as { readonly id: string };
    const changed = await admin.call("PATCH", `teams/${id}`, { name: "Orders", agent_ids: [anna.id, admin.id] });
    expect(changed.body).toMatchObject({ id, name: "Orders", agent_ids: [anna.id, admin.id].toSorted() });
    expect((await admin.call("GET", "teams")).body).toMatchObject({ teams: [{ id, name: "Orders" }] });

    const removal = await admin.call("DELETE", `agents/${anna.id}`);
    expect(removal.status).toBe(204);
    expect((await admin.call("GET", "teams")).body).toMatchObject({ teams: [{ agent_ids: [admin.id] }] });
    expect((await admin.call("DELETE", `teams/${id}`)).status).toBe(204);
    expect((await admin.call("GET", `agents/${admin.id}`)).body).toMatchObject({ teams: [] });
  });

  it("have names that differ, and no members of other workspaces", async () => {
    const { id: workspaceId } = await app.createWorkspace();
    const stranger = await dashboardUser(app, "admin", { name: "stranger", workspaceId });
    expect((await admin.call("POST", "teams", { name: "Returns" })).status).toBe(201);
    const twice = await admin.call("POST", "teams", { name: "Returns" });
    expect([twice.status, twice.body]).toMatchObject([409, { code: "already_exists" }]);
    const foreign = await admin.call("POST", "teams", { name: "Both", agent_ids: [stranger.id] });
    expect([foreign.status, foreign.body]).toMatchObject([422, { code: "invalid_parameter" }]);
    expect((await admin.call("GET", "teams")).body).toMatchObject({ teams: [{ name: "Returns" }] });

    const own = await stranger.call("POST", "teams", { name: "Returns" });
    expect(own.status).toBe(201);
    const { id } = own.body as { readonly id: string };
    expect((await admin.call("PATCH", `teams/${id}`, { name: "Mine" })).status).toBe(404);
    expect((await admin.call("DELETE", `teams/${id}`)).status).toBe(404);
  });
});
