import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { eachDatabase } from "#test/support/database/databases.ts";
import type { DashboardUser } from "#test/support/http/administrators.ts";
import { callAdmin, dashboardUser } from "#test/support/http/administrators.ts";
import type { TestApp } from "#test/support/http/app.ts";
import { startApp } from "#test/support/http/app.ts";
import { envelopeOf, messageEvent } from "../../adapters/slack/test/support/events.ts";
import type { FakeSlack } from "../../adapters/slack/test/support/fake-slack.ts";
import { startFakeSlack } from "../../adapters/slack/test/support/fake-slack.ts";

interface Listed {
  readonly id: string;
  readonly channel: string;
  readonly name: string;
  readonly state: string;
  readonly error: string | null;
  readonly can_install: boolean;
  readonly secrets_set: readonly string[];
}

const publicUrl = "http://parley.test";
const redirectUrl = `${publicUrl}/dashboard/channels/slack/installed`;

eachDatabase("an installation of a Slack app from the dashboard", (open) => {
  let app: TestApp;
  let admin: DashboardUser;
  let slack: FakeSlack;
  beforeAll(async () => {
    app = await startApp(open, { file: { workspaces: [], allowPrivate: ["127.0.0.1"] } });
    admin = await dashboardUser(app, "admin");
  });
  afterAll(() => app.close());
  beforeEach(async () => {
    slack = await startFakeSlack();
    slack.oauth.redirectUrls.push(redirectUrl);
  });
  afterEach(async () => {
    for (const { id } of await accounts()) await admin.call("DELETE", `channels/${id}`);
    await slack.close();
  });

  const settings = (more: object = {}) => ({
    client_id: slack.oauth.clientId,
    client_secret: slack.oauth.clientSecret,
    signing_secret: slack.signingSecret,
    base_url: slack.url,
    ...more,
  });
  const accounts = async (user = admin): Promise<readonly Listed[]> => {
    const { body } = await user.call("GET", "channels");
    return (body as { readonly channels: readonly Listed[] }).channels.filter(({ channel }) => channel === "slack");
  };
  const only = async (): Promise<Listed> => {
    const [account, ...others] = await accounts();
    expect(others).toEqual([]);
    if (account === undefined) throw new Error("there is no account");
    return account;
  };
  const begin = (given: object = settings(), user = admin) =>
    user.call("POST", "channels/kinds/slack/install", { settings: given });
  const urlOf = ({ body }: { readonly body: unknown }): string => {
    const { url } = body as { readonly url?: string };
    if (url === undefined) throw new Error(JSON.stringify(body));
    return url;
  };

  /** The addresses that Slack's page leads back to. */
  async function consent(url: string): Promise<{ readonly allow: string; readonly cancel: string }> {
    const html = await (await fetch(url)).text();
    const [allow = "", cancel = ""] = [...html.matchAll(/href="([^"]+)"/g)].map(([, href = ""]) =>
      href.replaceAll("&amp;", "&"),
    );
    if (allow === "") throw new Error(html);
    return { allow, cancel };
  }
  async function visit(url: string, cookie: string = admin.cookie) {
    const answer = await fetch(url.replace(publicUrl, app.url), { headers: { cookie }, redirect: "manual" });
    return { status: answer.status, location: answer.headers.get("location"), text: await answer.text() };
  }
  /** From the form to the account. */
  async function install(given: object = settings(), user = admin) {
    const { allow } = await consent(urlOf(await begin(given, user)));
    return visit(allow, user.cookie);
  }
  const refused = async (answer: Promise<{ readonly status: number; readonly text: string }>, fix: RegExp) => {
    const { text } = await answer;
    expect(text.replaceAll("&#39;", "'")).toMatch(fix);
    expect(await accounts()).toEqual([]);
    return answer;
  };
  const audited = async (): Promise<readonly unknown[]> => {
    const { body } = await admin.call("GET", "audit?limit=20");
    return (body as { readonly entries: readonly unknown[] }).entries;
  };
  const settled = async (state: string): Promise<Listed> => {
    const end = performance.now() + 30_000;
    for (;;) {
      const account = await only();
      if (account.state === state) return account;
      if (performance.now() > end) throw new Error(`still ${account.state}`);
      app.clock.advance(100);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  };

  it("connects the account, which answers at once, and keeps its credentials encrypted", async () => {
    const answer = await install();
    const account = await only();
    expect(answer).toMatchObject({ status: 303, location: `/dashboard/channels/${account.id}` });
    expect(account).toMatchObject({ name: "Shop", state: "waiting", error: null, can_install: true });
    expect(account.secrets_set.toSorted()).toEqual(["bot_token", "client_secret", "signing_secret"]);
    const rows = JSON.stringify([
      await app.store.read.selectFrom("accounts").selectAll().execute(),
      await app.store.read.selectFrom("account_state").selectAll().execute(),
      await app.store.read.selectFrom("channel_installs").selectAll().execute(),
      await app.store.read.selectFrom("audit").selectAll().execute(),
    ]);
    for (const secret of [slack.oauth.token, slack.oauth.clientSecret, slack.signingSecret]) {
      expect(rows).not.toContain(secret);
    }
    expect(rows).toContain("T0TEAM001");
    const body = JSON.stringify({ type: "url_verification", challenge: "it is us" });
    const verified = await fetch(`${app.url}/channels/slack/${account.id}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...slack.sign(body, app.clock.now()) },
      body,
    });
    expect([verified.status, await verified.text()]).toEqual([200, '{"challenge":"it is us"}']);
    const { body: checked } = await admin.call("POST", `channels/${account.id}/check`);
    expect(JSON.stringify(checked)).toContain("@parley in Shop");
  });

  it("asks for the scopes of the manifest, and for those of the desk only when told", async () => {
    await consent(urlOf(await begin()));
    expect(slack.oauth.requested).toContain("users:read.email");
    expect(slack.oauth.requested).not.toContain("commands");
    await consent(urlOf(await begin(settings({ desk_scopes: true }))));
    expect(slack.oauth.requested.toSorted()).toEqual(slack.scopes.toSorted());
  });

  it("goes without the optional scopes for an app of an older manifest, and stays so", async () => {
    slack.oauth.impossible.add("assistant:write");
    const fix = /\(invalid_scope\).*set &#34;Ask for optional scopes&#34; to No, and install again/;
    await expect(install()).rejects.toThrow("Invalid permissions requested");
    slack.oauth.impossible.clear();
    const { cancel } = await consent(urlOf(await begin()));
    await refused(visit(cancel.replace("access_denied", "invalid_scope")), fix);
    slack.oauth.impossible.add("assistant:write");
    expect(await install(settings({ optional_scopes: false }))).toMatchObject({ status: 303 });
    const { id } = await only();
    const { allow } = await consent(urlOf(await admin.call("POST", `channels/${id}/install`)));
    expect(await visit(allow)).toMatchObject({ status: 303 });
    expect(slack.oauth.requested).not.toContain("users:read.email");
    // An installation of an earlier version has no such setting.
    expect(await admin.call("PATCH", `channels/${id}`, { settings: settings() })).toMatchObject({ status: 200 });
    await consent(urlOf(await admin.call("POST", `channels/${id}/install`)));
    expect(slack.oauth.requested).not.toContain("assistant:write");
    const { body } = await admin.call("POST", `channels/${id}/check`);
    expect(JSON.stringify(body)).toContain("@parley in Shop");
  });

  it("starts Socket Mode live where there is an app-level token", async () => {
    await install(settings({ app_token: slack.appToken }));
    await settled("connected");
    expect(slack.sockets()).toBe(1);
  });

  it("gives a workspace of Slack that is connected the new token, in one transaction with its audit entry", async () => {
    await install(settings());
    const { id } = await only();
    await admin.call("PATCH", `channels/${id}`, { name: "Helpers" });
    slack.oauth.uninstall();
    const { allow } = await consent(urlOf(await admin.call("POST", `channels/${id}/install`)));
    expect(await visit(allow)).toMatchObject({ status: 303, location: `/dashboard/channels/${id}` });
    await install();
    expect(await only()).toMatchObject({ id, name: "Helpers" });
    const { body } = await admin.call("POST", `channels/${id}/check`);
    expect(JSON.stringify(body)).toContain("@parley in Shop");
    const { revision } = await app.store.read
      .selectFrom("accounts")
      .select("revision")
      .where("id", "=", id)
      .executeTakeFirstOrThrow();
    expect(revision).toBe(4);
  });

  it("takes over an account whose token was entered by hand", async () => {
    await install();
    const { id } = await only();
    await app.store.write((tx) => tx.deleteFrom("account_state").where("account_id", "=", id).execute());
    await install();
    expect(await only()).toMatchObject({ id });
  });

  describe("in several workspaces of Slack", () => {
    const teams = [
      { id: "T0TEAM001", name: "Shop" },
      { id: "T0TEAM002", name: "Bakery" },
    ] as const;
    /** Installs the app in both, and returns the accounts in the same order. */
    async function installBoth(more: object = {}, user = admin): Promise<readonly [Listed, Listed]> {
      for (const [at, team] of teams.entries()) {
        slack.oauth.team = team;
        expect(await install(settings(more), at === 0 ? admin : user)).toMatchObject({ status: 303 });
      }
      const all = [...(await accounts()), ...(user === admin ? [] : await accounts(user))];
      const [first, second] = teams.map(({ name }) => all.find((account) => account.name === name));
      if (first === undefined || second === undefined) throw new Error(JSON.stringify(all));
      return [first, second];
    }
    let written = 0;
    const eventOf = (teamId: string, more: object = {}) => {
      written += 1;
      const said = { channel: "D0ADA", user: "U0ADA", ts: `17000000${written}.000100`, text: "Where is my parcel?" };
      const workspace = { ...slack, teamId };
      return envelopeOf(workspace, messageEvent(workspace, said), { ...more });
    };
    const post = (to: Listed, delivery: unknown, secret?: string) => {
      const body = JSON.stringify(delivery);
      const headers = { "content-type": "application/json", ...slack.sign(body, app.clock.now(), secret) };
      return fetch(`${app.url}/channels/slack/${to.id}`, { method: "POST", headers, body });
    };
    const conversationsOf = async ({ id }: Listed): Promise<number> => {
      const rows = app.store.read.selectFrom("conversations").select("id").where("account_id", "=", id);
      return (await rows.execute()).length;
    };

    it("takes each team's messages by its own account, at whichever address the app delivers to", async () => {
      const [first, second] = await installBoth();
      expect((await post(first, eventOf("T0TEAM002"))).status).toBe(200);
      expect([await conversationsOf(first), await conversationsOf(second)]).toEqual([0, 1]);
      expect((await post(second, eventOf("T0TEAM001"))).status).toBe(200);
      expect((await post(first, eventOf("T0TEAM001"))).status).toBe(200);
      expect([await conversationsOf(first), await conversationsOf(second)]).toEqual([1, 1]);
      const command = { command: "/parley", api_app_id: slack.appId, team_id: "T0TEAM002", user_id: "U0ADA" };
      expect(await (await post(first, command)).json()).toMatchObject({ response_type: "ephemeral" });
    });

    it("does so for accounts of other workspaces of this installation", async () => {
      const { id: workspaceId } = await app.createWorkspace();
      const neighbour = await dashboardUser(app, "admin", { workspaceId });
      const [first, second] = await installBoth({}, neighbour);
      expect((await post(first, eventOf("T0TEAM002"))).status).toBe(200);
      expect([await conversationsOf(first), await conversationsOf(second)]).toEqual([0, 1]);
      await neighbour.call("DELETE", `channels/${second.id}`);
    });

    it("lets the other account verify the delivery by its own secret", async () => {
      const [first, second] = await installBoth();
      const secret = "0123456789abcdef0123456789abcdef";
      await admin.call("PATCH", `channels/${second.id}`, { settings: { ...settings(), signing_secret: secret } });
      expect((await post(first, eventOf("T0TEAM002"))).status).toBe(401);
      expect((await post(first, eventOf("T0TEAM002"), secret)).status).toBe(401);
      expect((await post(second, eventOf("T0TEAM002"), secret)).status).toBe(200);
      expect([await conversationsOf(first), await conversationsOf(second)]).toEqual([0, 1]);
    });

    it("delivers past a paused account, and keeps the deliveries of one for later", async () => {
      const [first, second] = await installBoth();
      await admin.call("POST", `channels/${first.id}/pause`);
      expect((await post(first, eventOf("T0TEAM001"))).status).toBe(503);
      expect((await post(first, eventOf("T0TEAM002"), "of-another-app-00")).status).toBe(401);
      expect((await post(first, eventOf("T0TEAM002"))).status).toBe(200);
      await admin.call("POST", `channels/${first.id}/resume`);
      await admin.call("POST", `channels/${second.id}/pause`);
      expect((await post(first, eventOf("T0TEAM002"))).status).toBe(503);
      expect([await conversationsOf(first), await conversationsOf(second)]).toEqual([0, 1]);
    });

    it("skips messages of a team whose account is gone, but no presses in channels that companies share", async () => {
      const [first, second] = await installBoth();
      await admin.call("DELETE", `channels/${second.id}`);
      expect((await post(first, eventOf("T0TEAM002"))).status).toBe(200);
      expect(await conversationsOf(first)).toBe(0);
      const shared = eventOf("T0TEAM002", {
        is_ext_shared_channel: true,
        authorizations: [{ enterprise_id: null, team_id: "T0TEAM001", user_id: slack.botUserId, is_bot: true }],
      });
      expect((await post(first, shared)).status).toBe(200);
      expect(await conversationsOf(first)).toBe(1);
    });

    it("takes them on any socket of the app", async () => {
      const [first, second] = await installBoth({ app_token: slack.appToken });
      await expect.poll(() => (app.clock.advance(100), slack.sockets())).toBe(2);
      // The imitation alternates between the sockets, as Slack distributes deliveries over them.
      for (const team of ["T0TEAM002", "T0TEAM002", "T0TEAM001", "T0TEAM001"])
        expect(await slack.push("events_api", eventOf(team))).toMatchObject({ acknowledged: true });
      expect([await conversationsOf(first), await conversationsOf(second)]).toEqual([1, 1]);
      await admin.call("POST", `channels/${second.id}/pause`);
      await expect.poll(() => (app.clock.advance(100), slack.sockets())).toBe(1);
      expect(await slack.push("events_api", eventOf("T0TEAM002"))).toMatchObject({ acknowledged: false });
      const press = {
        type: "block_actions",
        api_app_id: slack.appId,
        team: { id: "T0TEAM001" },
        user: { id: "U0ADA" },
      };
      expect(await slack.push("interactive", press)).toMatchObject({ acknowledged: true });
    });
  });

  it("keeps the app's secrets for another try of the same administrator, for the same app only", async () => {
    const { cancel } = await consent(urlOf(await begin()));
    await refused(visit(cancel), /\(access_denied\).*press Allow on Slack's page/);
    const { client_secret: _, signing_secret: __, ...rest } = settings();
    const { body } = await admin.call("GET", "channels/kinds/slack");
    expect(body).toMatchObject({
      install: {
        redirect_url: redirectUrl,
        settings: rest,
        secrets_set: ["client_secret", "signing_secret"],
      },
    });
    expect(JSON.stringify(body)).not.toContain(slack.oauth.clientSecret);
    const colleague = await dashboardUser(app, "admin", { name: "colleague" });
    expect((await begin(rest, colleague)).status).toBe(422);
    expect((await begin({ ...rest, client_id: "1.2" })).status).toBe(422);
    expect((await begin({ ...rest, base_url: `${slack.url}x` })).status).toBe(422);
    await begin();
    expect(await install(rest)).toMatchObject({ status: 303 });
  });

  it("refuses a state that is unknown, used, expired, or of another browser or administrator", async () => {
    const { allow } = await consent(urlOf(await begin()));
    const forged = new URL(allow);
    forged.searchParams.set("state", "x".repeat(43));
    await refused(visit(forged.href), /did not begin in your account/);
    forged.searchParams.delete("state");
    await refused(visit(forged.href), /did not begin in your account/);
    const colleague = await dashboardUser(app, "admin", { name: "foreign" });
    await refused(visit(allow, colleague.cookie), /did not begin in your account/);
    const { id: workspaceId } = await app.createWorkspace();
    const stranger = await dashboardUser(app, "admin", { workspaceId });
    await refused(visit(allow, stranger.cookie), /did not begin in your account/);
    const code = new URL(allow).searchParams.get("code");
    expect(slack.calls("oauth.v2.access")).toEqual([]);
    expect(await visit(allow)).toMatchObject({ status: 303 });
    expect((await visit(allow)).text).toContain("was finished or begun anew");
    expect(slack.calls("oauth.v2.access").map((call) => call["code"])).toEqual([code]);
  });

  it("refuses an expired state, an ended session and a role that was taken away", async () => {
    const late = await consent(urlOf(await begin()));
    app.clock.advance(10 * 60_000);
    await refused(visit(late.allow), /took longer than ten minutes/);
    const leaver = await dashboardUser(app, "admin", { name: `leaver${app.clock.now()}` });
    const { allow } = await consent(urlOf(await begin(settings(), leaver)));
    await app.store.write((tx) =>
      tx.updateTable("agents").set({ role: "agent" }).where("id", "=", leaver.id).execute(),
    );
    expect((await refused(visit(allow, leaver.cookie), /Only administrators/)).status).toBe(403);
    await app.store.write((tx) => tx.deleteFrom("agent_tokens").where("agent_id", "=", leaver.id).execute());
    expect((await refused(visit(allow, leaver.cookie), /You are signed out/)).status).toBe(401);
    expect(slack.calls("oauth.v2.access")).toEqual([]);
  });

  it("refuses a program, which has no browser", async () => {
    const { body } = await admin.call("POST", "access-tokens", {
      name: "p",
      scope: "write",
      expires_at: new Date(app.clock.now() + 86_400_000).toISOString(),
    });
    const { token } = body as { readonly token: string };
    const answer = await callAdmin(
      app,
      "POST",
      "channels/kinds/slack/install",
      { settings: settings() },
      {
        authorization: `Bearer ${token}`,
      },
    );
    expect(answer).toMatchObject({ status: 403, body: { code: "insufficient_scope" } });
  });

  describe("shows the fix, and stores nothing,", () => {
    const changed = (answer: FakeSlack["oauth"]["answer"]) => (): void => {
      slack.oauth.answer = answer;
    };
    const cases: readonly (readonly [string, RegExp, () => void])[] = [
      [
        "a missing scope",
        /lacks files:write \(to send files\): add it/,
        () => void slack.oauth.withheld.add("files:write"),
      ],
      ["token rotation", /has token rotation/, changed({ refresh_token: "xoxe-1-x", expires_in: 43_200 })],
      [
        "an installation in an organisation",
        /choose one workspace/,
        changed({ is_enterprise_install: true, team: null }),
      ],
      ["a person's token", /Add a bot under App Home/, changed({ token_type: "user", access_token: "xoxp-1-2-3" })],
      ["Slack's failure", /in a few minutes/, () => slack.fail("oauth.v2.access", { kind: "status", status: 500 })],
      ["a lost connection", /connection to Slack broke/, () => slack.fail("oauth.v2.access", { kind: "hang_up" })],
    ];
    it.each(cases)("of %s", async (_what, fix, prepare) => {
      const { allow } = await consent(urlOf(await begin()));
      prepare();
      await refused(visit(allow), fix);
    });

    it("of a wrong secret, and of a code that is not Slack's", async () => {
      await refused(install(settings({ client_secret: "0".repeat(32) })), /Copy Client Secret again/);
      const { allow } = await consent(urlOf(await begin()));
      const url = new URL(allow);
      url.searchParams.set("code", "1.2.3");
      await refused(visit(url.href), /\(invalid_code\).*Install again/);
      const { cancel } = await consent(urlOf(await begin()));
      const page = await refused(visit(cancel.replace("access_denied", "%3Cb%3E")), /\(unknown\)/);
      expect(page.text).not.toContain("<b>");
    });

    it("of another workspace of Slack than the channel's", async () => {
      await install();
      const { id } = await only();
      const { allow } = await consent(urlOf(await admin.call("POST", `channels/${id}/install`)));
      slack.oauth.team = { id: "T0OTHER", name: "Other" };
      const { text } = await visit(allow);
      expect(text).toContain("You chose Other, but the channel Shop is connected elsewhere");
      expect(await only()).toMatchObject({ id, name: "Shop" });
    });

    it("of an app that another workspace of this installation has connected", async () => {
      const { id: workspaceId } = await app.createWorkspace();
      const rival = await dashboardUser(app, "admin", { workspaceId });
      await install(settings(), rival);
      const [theirs] = await accounts(rival);
      await refused(install(), /already connected in Shop, by another workspace/);
      expect(await accounts(rival)).toEqual([theirs]);
      await rival.call("DELETE", `channels/${theirs?.id ?? ""}`);
    });
  });

  it("refuses a server on a private address that the operator does not allow", async () => {
    const answer = await begin(settings({ base_url: "http://127.0.0.2:9/api" }));
    expect(answer).toMatchObject({ status: 422 });
    expect(JSON.stringify(answer.body)).toContain("settings.base_url: 127.0.0.2 is not a public address");
  });

  describe.each(["app_uninstalled", "tokens_revoked"])("%s", (type) => {
    const event = () =>
      envelopeOf(slack, { type, ...(type === "tokens_revoked" ? { tokens: { bot: [slack.botUserId] } } : {}) });
    async function deliver(id: string) {
      const body = JSON.stringify(event());
      return fetch(`${app.url}/channels/slack/${id}`, {
        method: "POST",
        headers: { "content-type": "application/json", ...slack.sign(body, app.clock.now()) },
        body,
      });
    }

    it("shows the channel as down until it is installed again", async () => {
      await install();
      const { id } = await only();
      expect((await deliver(id)).status).toBe(200);
      expect(await only()).toMatchObject({ state: "waiting", error: null });
      slack.oauth.uninstall();
      slack.fail("auth.test", { kind: "status", status: 500 });
      expect((await deliver(id)).status).toBe(503);
      expect((await deliver(id)).status).toBe(200);
      expect(await only()).toMatchObject({
        state: "broken",
        error: expect.stringMatching(/revoked\. Press Install again\.$/),
      });
      const { allow } = await consent(urlOf(await admin.call("POST", `channels/${id}/install`)));
      await visit(allow);
      expect(await only()).toMatchObject({ id, state: "waiting" });
    });

    it("shows a channel of Socket Mode as down, also after its connection begins again", async () => {
      await install(settings({ app_token: slack.appToken }));
      await settled("connected");
      slack.oauth.uninstall();
      expect(await slack.push("events_api", event())).toMatchObject({ acknowledged: true });
      expect(await only()).toMatchObject({ state: "broken" });
      slack.dropSockets();
      await settled("broken");
      for (let i = 0; i < 20; i += 1) app.clock.advance(5_000);
      expect(await settled("broken")).toMatchObject({ error: expect.stringContaining("Press Install again.") });
      await install(settings({ app_token: slack.appToken }));
      await settled("connected");
    });
  });

  it("audits a connection and a renewal, without a secret", async () => {
    await install();
    await install();
    const entries = JSON.stringify((await audited()).slice(0, 2));
    expect(entries).toContain("channel_added");
    expect(entries).toContain("installation, bot_token");
    expect(entries).not.toContain("xoxb");
  });
});
