import { afterAll, beforeAll, expect, it } from "vitest";
import { readConfigFile } from "#config/file.ts";
import { provisionWorkspaces } from "#admin/workspaces/workspaces.ts";
import { loadAdapter } from "#channels/load-adapter.ts";
import type { TestApp } from "#test/support/http/app.ts";
import { startApp } from "#test/support/http/app.ts";
import type { DashboardUser } from "#test/support/http/administrators.ts";
import { dashboardUser } from "#test/support/http/administrators.ts";
import { eachDatabase } from "#test/support/database/databases.ts";
import { createSecrets } from "#runtime/secrets.ts";

eachDatabase("settings of a workspace in the dashboard", (open) => {
  let app: TestApp;
  let admin: DashboardUser;
  beforeAll(async () => {
    app = await startApp(open);
    admin = await dashboardUser(app, "admin");
  });
  afterAll(() => app.close());

  type Listed = Readonly<Record<string, { value: unknown; default: unknown; managed_by_file: boolean }>>;
  const listed = async (user = admin): Promise<Listed> =>
    ((await user.call("GET", "settings")).body as { readonly settings: Listed }).settings;
  const change = (settings: object, reset: readonly string[] = [], user = admin) =>
    user.call("PATCH", "settings", { settings, reset });
  const nameOf = async (): Promise<string> =>
    (
      await app.store.read
        .selectFrom("workspaces")
        .select("name")
        .where("id", "=", app.workspace.id)
        .executeTakeFirstOrThrow()
    ).name;
  const startWith = async (...lines: readonly string[]): Promise<void> => {
    const text = `workspaces:\n  - name: ${JSON.stringify(await nameOf())}\n${lines.map((line) => `    ${line}\n`).join("")}`;
    const secrets = createSecrets("a secret for tests, of more than thirty-two characters");
    const { workspaces } = readConfigFile("file", text, {});
    await provisionWorkspaces({ store: app.store, clock: app.clock, secrets, load: loadAdapter }, workspaces);
  };

  it("are listed with their values, defaults and descriptions, and the plan's limits", async () => {
    const { status, body } = await admin.call("GET", "settings");
    expect([status, body]).toMatchObject([
      200,
      {
        plan: { name: "business", limit_minute: 1_000, retention_days: 365 },
        settings: {
          "widget.title": { value: "Ask us", default: "Ask us", managed_by_file: false },
          retention_days: { value: false, default: false },
          business_hours: { value: null },
        },
      },
    ]);
  });

  it("are changed together or not at all, with an entry of the audit log each", async () => {
    const both = await change({ "widget.title": "Help", auto_resolve_days: false });
    expect([both.status, both.body]).toMatchObject([
      200,
      { settings: { "widget.title": { value: "Help" }, auto_resolve_days: { value: false } } },
    ]);
    const refused = await change({ "widget.title": "Other", "widget.color": "red" });
    expect([refused.status, refused.body]).toMatchObject([422, { code: "invalid_parameter" }]);
    expect((await listed())["widget.title"]).toMatchObject({ value: "Help" });
    const entries = await app.store.read
      .selectFrom("audit")
      .select(["detail", "from_value", "to_value", "actor_id"])
      .where("action", "=", "settings_changed")
      .orderBy("detail")
      .execute();
    expect(entries).toEqual([
      { detail: "auto_resolve_days", from_value: "7", to_value: "false", actor_id: admin.email },
      { detail: "widget.title", from_value: "Ask us", to_value: "Help", actor_id: admin.email },
    ]);
    await change({}, ["widget.title", "auto_resolve_days"]);
    expect(await listed()).toMatchObject({ "widget.title": { value: "Ask us" }, auto_resolve_days: { value: 7 } });
  });

  it("are not overwritten where a colleague has changed them since they were read", async () => {
    const was = { "widget.title": (await listed())["widget.title"]?.value };
    expect((await change({ "widget.title": "First" })).status).toBe(200);
    const late = await admin.call("PATCH", "settings", { settings: { "widget.title": "Second" }, was });
    expect([late.status, late.body]).toMatchObject([409, { code: "edit_conflict" }]);
    expect((await listed())["widget.title"]).toMatchObject({ value: "First" });
    const fresh = { settings: { "widget.title": "Help" }, was: { "widget.title": "First", "widget.color": "gone" } };
    expect((await admin.call("PATCH", "settings", fresh)).status).toBe(200);
  });

  it("are read back as they were written, whatever their form", async () => {
    const values = {
      timezone: "Asia/Tokyo",
      business_hours: { timezone: "Europe/Berlin", monday: ["09:00-12:30", "13:30-24:00"], holidays: ["2031-12-25"] },
      sla: { urgent: 5, high: 10, normal: 20, low: 40 },
      audiences: { pro: { plan: ["pro", "enterprise"] } },
      "escalation.anger": false,
      "messages.translations": { de: { hello: "Moin!" } },
      "widget.files": false,
      "widget.origins": ["https://shop.example"],
      queries_per_month: "unlimited",
    };
    const { status, body } = await change(values);
    expect([status, (body as { detail?: string }).detail]).toEqual([200, undefined]);
    const now = await listed();
    expect(Object.fromEntries(Object.keys(values).map((key) => [key, now[key]?.value]))).toEqual(values);
    await change({}, Object.keys(values));
    expect((await listed())["business_hours"]?.value).toBeNull();
  });

  it("are refused where the file would be refused, with the setting's name", async () => {
    for (const [settings, message] of [
      [{ business_hours: { timezone: "Mars" } }, "time zone"],
      [{ timezone: "Mars/Olympus" }, 'timezone: "Mars/Olympus" is no time zone'],
      [{ auto_resolve_days: 0 }, "settings.auto_resolve_days must be an integer from 1 to 90 or false."],
      [{ bot_name: "${SECRET}" }, "${SECRET}"],
      [{ identity_public_keys: "-----BEGIN PRIVATE KEY-----" }, "private key"],
      [{ nothing: 1 }, "nothing"],
    ] as const) {
      const { status, body } = await change(settings);
      expect([status, body]).toMatchObject([422, { detail: expect.stringContaining(message) }]);
    }
  });

  it("need the plan that has them", async () => {
    for (const settings of [{ retention_days: 400 }, { limit_minute: 5 }]) {
      const { body } = await change(settings);
      expect(body).toMatchObject({ code: "feature_not_in_plan", detail: expect.stringContaining("page Settings") });
    }
    expect((await change({ retention_days: 30 })).status).toBe(200);
    await change({}, ["retention_days"]);
  });

  it("change the plan, but not while something in use needs it", async () => {
    const choose = async (plan: string, user = admin) => (await user.call("PUT", "settings/plan", { plan })).body;
    expect(await choose("enterprise")).toMatchObject({ plan: { name: "enterprise", limit_minute: 10_000 } });
    await change({ limit_minute: 5 });
    const refused = await choose("business");
    expect(refused).toMatchObject({ code: "plan_downgrade_blocked", detail: expect.stringContaining("limit_minute") });
    expect((refused as { readonly detail: string }).detail).not.toContain("--force");
    await change({}, ["limit_minute"]);
    expect(await choose("business")).toMatchObject({ plan: { name: "business" } });
    expect(await choose("free", await dashboardUser(app, "viewer"))).toMatchObject({ code: "insufficient_role" });
    const entries = app.store.read.selectFrom("audit").select(["from_value", "to_value"]).where("detail", "=", "plan");
    expect(await entries.orderBy("created_at").orderBy("id").execute()).toEqual([
      { from_value: "business", to_value: "enterprise" },
      { from_value: "enterprise", to_value: "business" },
    ]);
    await startWith("plan: business");
    expect(await choose("enterprise")).toMatchObject({ code: "managed_by_file" });
    await startWith();
  });

  it("cannot be changed by agents", async () => {
    const agent = await dashboardUser(app, "agent");
    expect((await change({ "widget.title": "x" }, [], agent)).body).toMatchObject({ code: "insufficient_role" });
  });

  it("are the file's while it declares them, and survive starts with a file that does not", async () => {
    await change({ "widget.title": "Dashboard's", "widget.greeting": "Hello from the dashboard" });
    await startWith("widget: {title: File's}");
    expect(await listed()).toMatchObject({
      "widget.title": { value: "File's", managed_by_file: true },
      "widget.greeting": { value: "Hello from the dashboard", managed_by_file: false },
    });
    const refused = await change({ "widget.greeting": "Hi", "widget.title": "Mine" });
    expect([refused.status, refused.body]).toMatchObject([409, { code: "managed_by_file" }]);
    expect((await listed())["widget.greeting"]).toMatchObject({ value: "Hello from the dashboard" });
    await startWith("bot_name: Ada");
    expect((await change({ "widget.title": "Mine again" })).status).toBe(200);
    await startWith("bot_name: Ada");
    expect(await listed()).toMatchObject({ "widget.title": { value: "Mine again", managed_by_file: false } });
  });
});
