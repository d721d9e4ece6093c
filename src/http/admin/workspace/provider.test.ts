import { afterAll, beforeAll, expect, it } from "vitest";
import { createAgent } from "#admin/team/agents.ts";
import { applyConfig } from "#admin/export/config/apply-config.ts";
import { exportConfig } from "#admin/export/config/export-config.ts";
import { provisionWorkspaces } from "#admin/workspaces/workspaces.ts";
import { loadAdapter } from "#channels/load-adapter.ts";
import { readConfigFile } from "#config/file.ts";
import type { TestApp } from "#test/support/http/app.ts";
import { startApp } from "#test/support/http/app.ts";
import type { DashboardUser } from "#test/support/http/administrators.ts";
import { dashboardUser } from "#test/support/http/administrators.ts";
import { eachDatabase } from "#test/support/database/databases.ts";
import { cookieOf, password } from "#test/support/http/inbox.ts";

eachDatabase("single sign-on in the configuration file", (open) => {
  let app: TestApp;
  let admin: DashboardUser;
  beforeAll(async () => {
    app = await startApp(open);
    admin = await dashboardUser(app, "admin");
  });
  afterAll(() => app.close());

  const provider = (more = "") => `
    single_sign_on:
      issuer: https://login.shop.example
      client_id: parley
      client_secret: \${OIDC_SECRET}
      groups: [{ group: support, role: agent, team: Billing }]${more}`;
  const fileOf = (part: string): string => `workspaces:\n  - name: Test${part}\n`;
  const env = { OIDC_SECRET: "a secret of the client" };
  const startWith = async (part: string): Promise<void> => {
    const { workspaces } = readConfigFile("file", fileOf(part), env);
    const { store, clock } = app;
    const { secrets } = app.app.services;
    await provisionWorkspaces({ store, clock, secrets, load: loadAdapter }, workspaces);
  };
  const stored = async () =>
    (
      await app.store.read
        .selectFrom("workspaces")
        .select("settings")
        .where("id", "=", app.workspace.id)
        .executeTakeFirstOrThrow()
    ).settings;
  const signIn = (email: string) =>
    fetch(`${app.url}/inbox/login`, {
      method: "POST",
      headers: { origin: app.url },
      body: new URLSearchParams({ email, password }),
      redirect: "manual",
    });

  it("is shown without its secret, and locked, until the file no longer declares it", async () => {
    await startWith(provider());
    const { body } = await admin.call("GET", "sign-in/provider");
    expect(body).toMatchObject({
      provider: {
        issuer: "https://login.shop.example",
        groups: [{ group: "support", role: "agent", team: "Billing" }],
      },
      managed_by_file: true,
    });
    expect(JSON.stringify([body, await stored()])).not.toContain(env.OIDC_SECRET);
    // A start without changes writes nothing.
    const before = await stored();
    await startWith(provider());
    expect(await stored()).toBe(before);
    const given = { issuer: "https://evil.example", client_id: "x", client_secret: "y" };
    for (const refused of [
      await admin.call("PUT", "sign-in/provider", given),
      await admin.call("DELETE", "sign-in/provider"),
    ]) {
      expect([refused.status, refused.body]).toEqual([409, expect.objectContaining({ code: "managed_by_file" })]);
    }
    await startWith("");
    expect((await admin.call("GET", "sign-in/provider")).body).toMatchObject({
      provider: null,
      managed_by_file: false,
    });
  });

  it("ends passwords and their sessions at the start that requires it", async () => {
    const email = "ada@shop.example";
    const agent = { workspaceId: app.workspace.id, email, name: "Ada", role: "agent", password } as const;
    await createAgent(app.store, app.clock, agent);
    const cookie = cookieOf(await signIn(email));
    const me = async () => (await fetch(`${app.url}/inbox/api/me`, { headers: { cookie } })).status;
    expect(await me()).toBe(200);
    await startWith(provider("\n      required: true"));
    expect([await me(), (await signIn(email)).status]).toEqual([401, 403]);
    await startWith("");
    expect((await signIn(email)).status).toBe(303);
  });

  it("is exported without its secret, and applied", async () => {
    const { store, clock } = app;
    const { secrets } = app.app.services;
    const { documents } = app.app.services;
    const dependencies = { store, clock, secrets, documents, mail: null, allowPrivate: false } as const;
    const apply = (content: string, prune = false) => applyConfig(dependencies, "state.yaml", content, { env, prune });
    await apply(fileOf(provider()));
    const { yaml, variables } = await exportConfig({ read: store.read, secrets }, [app.workspace.id]);
    expect(yaml).not.toContain(env.OIDC_SECRET);
    expect([...variables]).toEqual([["TEST_SINGLE_SIGN_ON_CLIENT_SECRET", env.OIDC_SECRET]]);
    const before = await stored();
    await apply(yaml);
    expect(await stored()).toBe(before);
    expect((await admin.call("GET", "sign-in/provider")).body).toMatchObject({ managed_by_file: false });
    const audit = store.read.selectFrom("audit").select(["action", "detail"]).where("actor_id", "=", "config apply");
    expect(await audit.execute()).toContainEqual({ action: "sign_in_changed", detail: "provider" });
    await apply(fileOf(""), true);
    expect((await admin.call("GET", "sign-in/provider")).body).toMatchObject({ provider: null });
  });

  it("names the line of a setting that would admit strangers", () => {
    const read = (more: string) => () => readConfigFile("file", fileOf(provider(more)), env);
    expect(read("\n      owns_domains: true")).toThrow("file, line 8: owns_domains: name the domains");
    expect(read("\n      create_agents: true\n      without_group: agent")).toThrow("create_agents: name the domains");
    expect(read("\n      without_group: admin")).toThrow("without_group");
  });
});
