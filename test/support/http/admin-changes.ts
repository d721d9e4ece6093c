import { createHmac, randomBytes } from "node:crypto";
import { startFakeTwilio } from "../../../adapters/twilio/shared/test/fake-twilio.ts";
import { newId } from "#domain/ids.ts";
import { totpCode } from "#admin/sign-in/totp.ts";
import { createLoginToken } from "#admin/team/login-links.ts";
import { png } from "../channels/file-channel.ts";
import { addDeadLetter, indexingOf } from "../queue/dead-letters.ts";
import { startOpenIdProvider } from "../servers/openid-provider.ts";
import { sendJson, startShopServer } from "../servers/shop-server.ts";
import type { DashboardUser } from "./administrators.ts";
import { dashboardUser } from "./administrators.ts";
import type { TestApp } from "./app.ts";
import { password } from "./inbox.ts";

/** A request that succeeds when `by` sends it. */
export interface AdminChange {
  /** Behind `/admin/v1/`. */
  readonly path: string;
  readonly body?: unknown;
  /** Absent: the administrator. */
  readonly by?: DashboardUser;
}

export interface AdminChanges {
  /** Makes what the request of a route needs, by `POST /admin/v1/teams`. Each time it is something of its own. */
  readonly of: Readonly<Record<string, () => AdminChange | Promise<AdminChange>>>;
  close(): Promise<void>;
}

/**
 * A request for every route below `/admin/v1` that changes something. Needs an app whose file allows the private address
 * 127.0.0.1, and puts the workspace of `admin` on the plan Enterprise.
 */
export async function startAdminChanges(app: TestApp, admin: DashboardUser): Promise<AdminChanges> {
  const [twilio, shop, provider] = [
    await startFakeTwilio(),
    await startShopServer(),
    await startOpenIdProvider({ callbacks: [] }),
  ];
  shop.answer = (_request, response) => sendJson(response, { state: "sent" });
  const made = createThings(app, admin);
  expectOk(await admin.call("PUT", "settings/plan", { plan: "enterprise" }));
  return {
    of: {
      ...accountChanges(app, made),
      ...teamChanges(app, made),
      ...signInChanges(made, provider.issuer),
      ...programChanges(app, made, shop.url),
      ...channelChanges(made, twilio.settings),
      ...documentChanges(app, made, shop.url),
      ...automationChanges(made, shop.url),
      ...questionChanges(app),
      ...workspaceChanges(app, made),
      ...deadLetterChanges(app),
    },
    async close() {
      await twilio.close();
      await shop.close();
      await provider.close();
    },
  };
}

type Changes = AdminChanges["of"];
type Made = ReturnType<typeof createThings>;

const expectOk = <T extends { readonly status: number; readonly body: unknown }>(answer: T): T => {
  if (answer.status >= 300) throw new Error(`admin changes: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer;
};

const newToken = (): string => randomBytes(16).toString("hex");

function createThings(app: TestApp, admin: DashboardUser) {
  let count = 0;
  const name = (): string => `thing${(count += 1)}`;
  const post = async (path: string, body: object, by = admin) =>
    expectOk(await by.call("POST", path, body)).body as { readonly id: string };
  const user = (role: "admin" | "agent" = "admin") => dashboardUser(app, role, { name: name() });
  return {
    name,
    user,
    post,
    id: async (path: string, body: object, by = admin): Promise<string> => (await post(path, body, by)).id,
    /** An administrator of a workspace of their own. */
    elsewhere: async () => dashboardUser(app, "admin", { name: name(), workspaceId: (await app.createWorkspace()).id }),
    withPicture: async (by: DashboardUser) => {
      expectOk(await by.call("POST", "me/avatar", picture()));
      return by;
    },
    withPassword: async () => {
      const by = await user();
      expectOk(await by.call("PUT", "me/password", { password }));
      return by;
    },
    withSecondFactor: async function () {
      const by = await this.withPassword();
      expectOk(await by.call("POST", "me/second-factor/confirm", await firstCode(app, by)));
      return by;
    },
    token: (by: DashboardUser) => post("access-tokens", tokenRequest(app), by),
  };
}

function picture(): FormData {
  const form = new FormData();
  form.set("file", new Blob([new Uint8Array(png)], { type: "image/png" }), "me.png");
  return form;
}

const tokenRequest = (app: TestApp) => ({
  name: "Terraform",
  scope: "write",
  expires_at: new Date(app.clock.now() + 86_400_000).toISOString(),
});

async function firstCode(app: TestApp, by: DashboardUser) {
  const { body } = expectOk(await by.call("POST", "me/second-factor", { password }));
  const { secret, setup } = body as { readonly secret: string; readonly setup: string };
  return { setup, code: totpCode(secret, app.clock.now()) };
}

const accountChanges = (app: TestApp, made: Made): Changes => ({
  "PATCH /admin/v1/me": async () => ({ by: await made.user(), path: "me", body: { name: "Another" } }),
  "PUT /admin/v1/me/password": async () => ({ by: await made.user(), path: "me/password", body: { password } }),
  "POST /admin/v1/me/avatar": async () => ({ by: await made.user(), path: "me/avatar", body: picture() }),
  "DELETE /admin/v1/me/avatar": async () => ({ by: await made.withPicture(await made.user()), path: "me/avatar" }),
  "DELETE /admin/v1/me/sessions": async () => {
    const by = await made.user();
    await createLoginToken(app.store, app.clock, by.id);
    return { by, path: "me/sessions" };
  },
  "DELETE /admin/v1/me/sessions/:id": async () => {
    const by = await made.user();
    return { by, path: `me/sessions/${await sessionOf(by, "me")}` };
  },
  "POST /admin/v1/me/second-factor": async () => ({
    by: await made.withPassword(),
    path: "me/second-factor",
    body: { password },
  }),
  "POST /admin/v1/me/second-factor/confirm": async () => {
    const by = await made.withPassword();
    return { by, path: "me/second-factor/confirm", body: await firstCode(app, by) };
  },
  "POST /admin/v1/me/second-factor/recovery-codes": async () => ({
    by: await made.withSecondFactor(),
    path: "me/second-factor/recovery-codes",
    body: { password },
  }),
  "POST /admin/v1/me/second-factor/remove": async () => ({
    by: await made.withSecondFactor(),
    path: "me/second-factor/remove",
    body: { password },
  }),
  "POST /admin/v1/access-tokens": async () => ({
    by: await made.user(),
    path: "access-tokens",
    body: tokenRequest(app),
  }),
  "DELETE /admin/v1/access-tokens/:id": async () => {
    const by = await made.user();
    return { by, path: `access-tokens/${(await made.token(by)).id}` };
  },
});

async function sessionOf(by: DashboardUser, owner: string): Promise<string> {
  const { body } = expectOk(await by.call("GET", `${owner}/sessions`));
  return (body as { readonly sessions: readonly [{ readonly id: string }] }).sessions[0].id;
}

function teamChanges(app: TestApp, made: Made): Changes {
  const invitee = () => ({ email: `${made.name()}@shop.example`, name: "Invited" });
  const invited = async (): Promise<string> => {
    const { agent } = (await made.post("agents", invitee())) as unknown as { readonly agent: { readonly id: string } };
    return agent.id;
  };
  const team = async (): Promise<string> => made.id("teams", { name: made.name() });
  return {
    "POST /admin/v1/agents": () => ({ path: "agents", body: invitee() }),
    "PATCH /admin/v1/agents/:id": async () => ({ path: `agents/${(await made.user()).id}`, body: { role: "agent" } }),
    "DELETE /admin/v1/agents/:id": async () => ({ path: `agents/${(await made.user()).id}` }),
    "POST /admin/v1/agents/:id/invitation": async () => ({ path: `agents/${await invited()}/invitation` }),
    "DELETE /admin/v1/agents/:id/invitation": async () => ({ path: `agents/${await invited()}/invitation` }),
    "POST /admin/v1/agents/:id/password-link": async () => ({ path: `agents/${(await made.user()).id}/password-link` }),
    "DELETE /admin/v1/agents/:id/sessions": async () => ({ path: `agents/${(await made.user()).id}/sessions` }),
    "DELETE /admin/v1/agents/:id/sessions/:session_id": async () => {
      const by = await made.user();
      return { path: `agents/${by.id}/sessions/${await sessionOf(by, "me")}` };
    },
    "DELETE /admin/v1/agents/:id/access-tokens/:token_id": async () => {
      const by = await made.user();
      return { path: `agents/${by.id}/access-tokens/${(await made.token(by)).id}` };
    },
    "DELETE /admin/v1/agents/:id/second-factor": async () => ({
      path: `agents/${(await made.withSecondFactor()).id}/second-factor`,
    }),
    "DELETE /admin/v1/agents/:id/avatar": async () => ({
      path: `agents/${(await made.withPicture(await made.user())).id}/avatar`,
    }),
    "DELETE /admin/v1/agents/:id/identity": async () => {
      const { id } = await made.user();
      await app.store.write((tx) =>
        tx
          .insertInto("agent_identities")
          .values({
            agent_id: id,
            workspace_id: app.workspace.id,
            issuer: "https://login.example",
            subject_hash: id,
            refused_at: null,
            created_at: app.clock.now(),
          })
          .execute(),
      );
      return { path: `agents/${id}/identity` };
    },
    "POST /admin/v1/teams": () => ({ path: "teams", body: { name: made.name() } }),
    "PATCH /admin/v1/teams/:id": async () => ({ path: `teams/${await team()}`, body: { name: made.name() } }),
    "DELETE /admin/v1/teams/:id": async () => ({ path: `teams/${await team()}` }),
  };
}

function signInChanges(made: Made, issuer: string): Changes {
  const provider = { issuer, client_id: "parley", client_secret: "the client's secret" };
  return {
    // Not in the administrator's workspace: they have no second factor.
    "PUT /admin/v1/sign-in": async () => ({
      by: await made.elsewhere(),
      path: "sign-in",
      body: { second_factor_required: true },
    }),
    "PUT /admin/v1/sign-in/provider": () => ({ path: "sign-in/provider", body: provider }),
    "DELETE /admin/v1/sign-in/provider": async () => {
      const by = await made.elsewhere();
      expectOk(await by.call("PUT", "sign-in/provider", provider));
      return { by, path: "sign-in/provider" };
    },
  };
}

function programChanges(app: TestApp, made: Made, url: string): Changes {
  const key = () => made.id("keys", { name: "Server" });
  const webhook = () => made.id("webhooks", { url: `${url}/${made.name()}` });
  const client = async (): Promise<string> => {
    const added: unknown = await made.post("oauth-clients", { name: "Server" });
    return (added as { readonly client_id: string }).client_id;
  };
  return {
    "POST /admin/v1/keys": () => ({ path: "keys", body: { name: "Server" } }),
    "PATCH /admin/v1/keys/:id": async () => ({ path: `keys/${await key()}`, body: { name: "Renamed" } }),
    "POST /admin/v1/keys/:id/rotate": async () => ({ path: `keys/${await key()}/rotate` }),
    "DELETE /admin/v1/keys/:id": async () => ({ path: `keys/${await key()}` }),
    "POST /admin/v1/oauth-clients": () => ({ path: "oauth-clients", body: { name: "Server" } }),
    "DELETE /admin/v1/oauth-clients/:id": async () => ({ path: `oauth-clients/${await client()}` }),
    "POST /admin/v1/webhooks": () => ({ path: "webhooks", body: { url: `${url}/${made.name()}` } }),
    "PATCH /admin/v1/webhooks/:id": async () => ({ path: `webhooks/${await webhook()}`, body: { enabled: false } }),
    "DELETE /admin/v1/webhooks/:id": async () => ({ path: `webhooks/${await webhook()}` }),
    "POST /admin/v1/webhooks/:id/rotate": async () => ({ path: `webhooks/${await webhook()}/rotate` }),
    "POST /admin/v1/webhooks/:id/test": async () => ({ path: `webhooks/${await webhook()}/test` }),
    "POST /admin/v1/webhooks/:id/replay": async () => {
      const id = await webhook();
      // Starts a conversation, which is an event.
      await app.post("/v1/query", { workspace_id: app.workspace.id, query: "Hello?" });
      return { path: `webhooks/${id}/replay`, body: { since: "2031-04-01T00:00:00Z" } };
    },
  };
}

function channelChanges(made: Made, settings: object): Changes {
  let number = 15_550_001_000;
  const sms = () => ({ channel: "sms", name: made.name(), settings: { ...settings, from: `+${(number += 1)}` } });
  const account = () => made.id("channels", sms());
  const slackApp = () => ({ client_id: "1.2", client_secret: newToken(), signing_secret: newToken() });
  const slackAccount = () =>
    made.id("channels", {
      channel: "slack",
      name: made.name(),
      settings: { ...slackApp(), bot_token: `xoxb-${newToken()}` },
    });
  return {
    "POST /admin/v1/channels": () => ({ path: "channels", body: sms() }),
    "POST /admin/v1/channels/kinds/:channel/install": () => ({
      path: "channels/kinds/slack/install",
      body: { settings: slackApp() },
    }),
    "POST /admin/v1/channels/:id/install": async () => ({ path: `channels/${await slackAccount()}/install` }),
    "PATCH /admin/v1/channels/:id": async () => ({ path: `channels/${await account()}`, body: { name: made.name() } }),
    "POST /admin/v1/channels/:id/pause": async () => ({ path: `channels/${await account()}/pause` }),
    "POST /admin/v1/channels/:id/resume": async () => {
      const id = await account();
      await made.post(`channels/${id}/pause`, {});
      return { path: `channels/${id}/resume` };
    },
    "DELETE /admin/v1/channels/:id": async () => ({ path: `channels/${await account()}` }),
    "POST /admin/v1/channels/:id/check": async () => ({ path: `channels/${await account()}/check` }),
    "POST /admin/v1/channels/:id/test-message": async () => ({
      path: `channels/${await account()}/test-message`,
      body: { to: "+15552000001" },
    }),
  };
}

function documentChanges(app: TestApp, made: Made, url: string): Changes {
  const content = "# Delivery\n\nDelivery takes three days.";
  const learned = () => app.learn(`${made.name()}.md`, content);
  const website = () => ({ url: `${url}/${made.name()}/`, max_pages: 1 });
  const file = (): FormData => {
    const form = new FormData();
    form.set("file", new Blob([content], { type: "text/markdown" }), `${made.name()}.md`);
    return form;
  };
  return {
    "POST /admin/v1/documents/upload": () => ({ path: "documents/upload", body: file() }),
    "POST /admin/v1/documents/crawl": () => ({ path: "documents/crawl", body: website() }),
    "POST /admin/v1/documents/:document_id/recrawl": async () => {
      const added: unknown = await made.post("documents/crawl", website());
      return { path: `documents/${(added as { document: { id: string } }).document.id}/recrawl` };
    },
    "POST /admin/v1/documents/articles": () => ({
      path: "documents/articles",
      body: { title: made.name(), content },
    }),
    "PUT /admin/v1/documents/articles/:document_id": async () => {
      const id = await learned();
      const { body } = expectOk(await (await made.user()).call("GET", `documents/${id}/content`));
      const { version } = body as { readonly version: string };
      return {
        path: `documents/articles/${id}`,
        body: { title: "Delivery", content: `${content}!`, based_on: version },
      };
    },
    "PATCH /admin/v1/documents/:document_id": async () => ({
      path: `documents/${await learned()}`,
      body: { title: "Renamed" },
    }),
    "DELETE /admin/v1/documents/:document_id": async () => ({ path: `documents/${await learned()}` }),
    "DELETE /admin/v1/documents/manual": async () => {
      await app.learn("surveys.md", content);
      // The first start adds the manual before anybody is there.
      const first = { indexed_at: 1 };
      await app.store.write((tx) =>
        tx.updateTable("documents").set(first).where("file_name", "=", "surveys.md").execute(),
      );
      return { path: "documents/manual" };
    },
    "POST /admin/v1/documents/remove": async () => ({
      path: "documents/remove",
      body: { document_ids: [await learned()] },
    }),
    "POST /admin/v1/markdown": () => ({ path: "markdown", body: { text: content } }),
    "POST /admin/v1/questions/try": () => ({ path: "questions/try", body: { question: "How long does it take?" } }),
  };
}

function automationChanges(made: Made, url: string): Changes {
  // oxlint-disable-next-line unicorn/no-thenable -- a key of the API.
  const rule = () => ({ name: made.name(), when: { message: "customer" }, then: [{ tag: ["money"] }] });
  const macro = () => ({ name: made.name(), actions: [{ tag: ["money"] }] });
  const reply = () => ({ name: made.name(), text: "Hello." });
  const skill = () => ({
    name: made.name(),
    description: "Tells the state of an order.",
    request: { url: `${url}/order` },
    answer: "It is {state}.",
  });
  const added = async (path: string, body: { readonly name: string }): Promise<string> => {
    await made.post(path, body);
    return `${path}/${body.name}`;
  };
  return {
    "POST /admin/v1/rules": () => ({ path: "rules", body: rule() }),
    "PATCH /admin/v1/rules/:name": async () => ({ path: await added("rules", rule()), body: { enabled: false } }),
    "DELETE /admin/v1/rules/:name": async () => ({ path: await added("rules", rule()) }),
    "POST /admin/v1/rules/order": async () => {
      const by = await made.elsewhere();
      const names = [rule(), rule()].map((each) => each.name);
      for (const name of names) await made.post("rules", { ...rule(), name }, by);
      return { by, path: "rules/order", body: { names: names.toReversed() } };
    },
    "POST /admin/v1/rules/dry-run": () => ({ path: "rules/dry-run", body: { rules: [rule()] } }),
    "POST /admin/v1/macros": () => ({ path: "macros", body: macro() }),
    "PATCH /admin/v1/macros/:name": async () => ({ path: await added("macros", macro()), body: { name: made.name() } }),
    "DELETE /admin/v1/macros/:name": async () => ({ path: await added("macros", macro()) }),
    "POST /admin/v1/saved-replies": () => ({ path: "saved-replies", body: reply() }),
    "PATCH /admin/v1/saved-replies/:name": async () => ({
      path: await added("saved-replies", reply()),
      body: { text: "Good day." },
    }),
    "DELETE /admin/v1/saved-replies/:name": async () => ({ path: await added("saved-replies", reply()) }),
    "POST /admin/v1/skills": () => ({ path: "skills", body: skill() }),
    "PUT /admin/v1/skills/:name": async () => {
      const before = skill();
      return { path: await added("skills", before), body: { ...before, answer: "Now {state}." } };
    },
    "DELETE /admin/v1/skills/:name": async () => ({ path: await added("skills", skill()) }),
    "POST /admin/v1/skills/test": () => ({ path: "skills/test", body: { skill: skill() } }),
  };
}

function questionChanges(app: TestApp): Changes {
  const question = async (state: "open" | "done"): Promise<string> => {
    const now = app.clock.now();
    const id = newId("qst", now);
    const row = { id, workspace_id: app.workspace.id, leader_id: id, asked_at: now, state, document_id: null };
    await app.store.write((tx) =>
      tx
        .insertInto("question_groups")
        .values({ ...row, state_at: now, state_by: null })
        .execute(),
    );
    return `unanswered/${id}`;
  };
  return {
    "POST /admin/v1/unanswered/:id/done": async () => ({ path: `${await question("open")}/done`, body: {} }),
    "POST /admin/v1/unanswered/:id/ignore": async () => ({ path: `${await question("open")}/ignore` }),
    "POST /admin/v1/unanswered/:id/reopen": async () => ({ path: `${await question("done")}/reopen` }),
  };
}

const workspaceChanges = (app: TestApp, made: Made): Changes => ({
  "PATCH /admin/v1/settings": () => ({ path: "settings", body: { settings: { bot_name: made.name() } } }),
  "PUT /admin/v1/settings/plan": async () => ({
    by: await made.elsewhere(),
    path: "settings/plan",
    body: { plan: "starter" },
  }),
  "POST /admin/v1/identity-secret": async () => ({ by: await made.elsewhere(), path: "identity-secret" }),
  "DELETE /admin/v1/overview/first-steps": () => ({ path: "overview/first-steps" }),
  "POST /admin/v1/customers/erase": async () => {
    const email = `${made.name()}@customer.example`;
    const { id, identitySecret } = app.workspace;
    const hash = createHmac("sha256", identitySecret).update(email).digest("hex");
    await app.post("/v1/query", { workspace_id: id, query: "Hello?", user: { user_id: email, email, hash } });
    return { path: "customers/erase", body: { email } };
  },
});

function deadLetterChanges(app: TestApp): Changes {
  const dead = async (): Promise<string> => {
    const { body } = await app.post("/v1/query", { workspace_id: app.workspace.id, query: "Hello?" });
    return addDeadLetter(app, indexingOf(body.conversation_id));
  };
  return {
    "POST /admin/v1/dead-letters/:id/retry": async () => ({ path: `dead-letters/${await dead()}/retry` }),
    "DELETE /admin/v1/dead-letters/:id": async () => ({ path: `dead-letters/${await dead()}` }),
    // Sent last, since it leaves none for the others.
    "POST /admin/v1/dead-letters/retry": async () => {
      await dead();
      return { path: "dead-letters/retry" };
    },
  };
}
