import { afterAll, beforeAll, expect, it } from "vitest";
import { createLoginToken } from "#admin/team/login-links.ts";
import type { TestApp } from "#test/support/http/app.ts";
import { startApp } from "#test/support/http/app.ts";
import type { DashboardUser } from "#test/support/http/administrators.ts";
import { callAdmin, dashboardUser } from "#test/support/http/administrators.ts";
import { eachDatabase } from "#test/support/database/databases.ts";
import { cookieOf } from "#test/support/http/inbox.ts";

interface Session {
  readonly id: string;
  readonly device: string | null;
  readonly network: string | null;
  readonly current: boolean;
  readonly last_seen_at: string | null;
}

eachDatabase("sessions of an agent", (open) => {
  let app: TestApp;
  let admin: DashboardUser;
  beforeAll(async () => {
    app = await startApp(open, { trustedProxies: ["127.0.0.1"] });
    admin = await dashboardUser(app, "admin");
  });
  afterAll(() => app.close());

  const firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0";
  const signIn = async (agentId: string, from: string): Promise<string> => {
    const token = await createLoginToken(app.store, app.clock, agentId);
    const answer = await fetch(`${app.url}/inbox/login/${token}`, {
      method: "POST",
      headers: { origin: app.url, "user-agent": firefox, "x-forwarded-for": from },
      redirect: "manual",
    });
    return cookieOf(answer);
  };
  const list = async (id: string) =>
    ((await admin.call("GET", `agents/${id}/sessions`)).body as { readonly sessions: readonly Session[] }).sessions;
  const isOpen = async (cookie: string) => (await callAdmin(app, "GET", "me", undefined, { cookie })).status === 200;

  it("show their device, their network and when they were last used", async () => {
    const { id } = await dashboardUser(app, "agent", { name: "dora" });
    app.clock.advance(60_000);
    const cookie = await signIn(id, "2001:db8:0:1:2::3");
    app.clock.advance(5 * 60_000);
    expect(await isOpen(cookie)).toBe(true);
    const [last] = await list(id);
    expect(last).toMatchObject({ device: "Firefox on Linux", network: "2001:db8:0:1", current: false });
    expect(last?.last_seen_at).toBe(new Date(app.clock.now()).toISOString());
    expect((await admin.call("GET", `agents/${id}`)).body).toMatchObject({ last_seen_at: last?.last_seen_at });
    expect((await list(admin.id)).filter(({ current }) => current)).toHaveLength(1);
  });

  it("end one at a time, or all at once with their live connections", async () => {
    const { id, cookie: first } = await dashboardUser(app, "agent", { name: "emil" });
    const second = await signIn(id, "192.0.2.7");
    const link = await createLoginToken(app.store, app.clock, id);
    const third = await signIn(id, "192.0.2.8");
    const ended = (await list(id)).find(({ network }) => network === "192.0.2.7");
    const path = `agents/${id}/sessions/${ended?.id ?? ""}`;
    expect((await admin.call("DELETE", path)).status).toBe(204);
    expect((await admin.call("DELETE", path)).status).toBe(404);
    expect([await isOpen(first), await isOpen(second), await isOpen(third)]).toEqual([true, false, true]);

    const live = await fetch(`${app.url}/inbox/api/events`, { headers: { cookie: first } });
    expect((await admin.call("DELETE", `agents/${id}/sessions`)).status).toBe(204);
    // Resolves when the server ends the stream; the clock does not move.
    await live.text();
    expect([await isOpen(first), await isOpen(third), await list(id)]).toEqual([false, false, []]);
    const spent = await fetch(`${app.url}/inbox/login/${link}`, { method: "POST", headers: { origin: app.url } });
    expect(spent.status).toBe(401);
    expect(await isOpen(admin.cookie)).toBe(true);
  });

  it("of another workspace are not found", async () => {
    const { id: workspaceId } = await app.createWorkspace();
    const stranger = await dashboardUser(app, "admin", { name: "stranger", workspaceId });
    expect((await stranger.call("GET", `agents/${admin.id}/sessions`)).status).toBe(404);
    expect((await stranger.call("DELETE", `agents/${admin.id}/sessions`)).status).toBe(404);
    expect(await isOpen(admin.cookie)).toBe(true);
  });
});
