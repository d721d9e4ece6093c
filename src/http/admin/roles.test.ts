import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { webhookKind } from "#database/queries/webhooks.ts";
import { afterAll, beforeAll, expect, it } from "vitest";
import { systemActor } from "#domain/conversation/message.ts";
import type { AgentRole } from "#domain/workspace/agent-role.ts";
import { roleAllows } from "#domain/workspace/agent-role.ts";
import { createTeam } from "#admin/team/teams.ts";
import type { App } from "#http/app-type.ts";
import type { TestApp } from "#test/support/http/app.ts";
import { startApp } from "#test/support/http/app.ts";
import type { AdminChange, AdminChanges } from "#test/support/http/admin-changes.ts";
import { startAdminChanges } from "#test/support/http/admin-changes.ts";
import type { DashboardUser } from "#test/support/http/administrators.ts";
import { callAdmin, dashboardUser } from "#test/support/http/administrators.ts";
import { newSqlite } from "#test/support/database/databases.ts";
import { addDeadLetter, indexingOf } from "#test/support/queue/dead-letters.ts";
import { ownTables, textsOf } from "#test/support/database/table-texts.ts";
import { asked } from "#test/support/http/inbox.ts";
import type { JsonSchema } from "#test/support/http/openapi.ts";
import { minimalValueOf } from "#test/support/http/openapi.ts";

type Least = readonly [toRead: AgentRole, toChange: AgentRole];
const admins: Least = ["admin", "admin"];
const readers: Least = ["viewer", "admin"];
const agents: Least = ["viewer", "agent"];
/** Resources of the calling agent alone. */
const everyone: Least = ["viewer", "viewer"];

/** The least role for each resource. A new resource needs a line here, a route with another rule a resource of its own. */
const leastOf: Readonly<Record<string, Least>> = {
  "/admin/v1/access-tokens": admins,
  "/admin/v1/agents": admins,
  "/admin/v1/analytics": readers,
  "/admin/v1/channels": admins,
  "/admin/v1/audit": admins,
  "/admin/v1/customers": admins,
  "/admin/v1/dead-letters": admins,
  "/admin/v1/documents": readers,
  "/admin/v1/identity-secret": admins,
  "/admin/v1/keys": admins,
  "/admin/v1/macros": readers,
  "/admin/v1/markdown": everyone,
  "/admin/v1/me": everyone,
  "/admin/v1/oauth-clients": admins,
  "/admin/v1/overview": readers,
  "/admin/v1/questions": admins,
  "/admin/v1/rules": readers,
  "/admin/v1/saved-replies": readers,
  "/admin/v1/settings": readers,
  "/admin/v1/skills": admins,
  "/admin/v1/sign-in": admins,
  "/admin/v1/teams": admins,
  "/admin/v1/unanswered": readers,
  "/admin/v1/webhooks": admins,
  "/inbox/api/agents": agents,
  "/inbox/api/bulk": agents,
  "/inbox/api/conversations": agents,
  "/inbox/api/counts": agents,
  "/inbox/api/skipped-messages": agents,
  "/inbox/api/events": agents,
  "/inbox/api/files": agents,
  "/inbox/api/macros": agents,
  "/inbox/api/manual": admins,
  "/inbox/api/me": everyone,
  "/inbox/api/saved-replies": agents,
};
interface Route {
  readonly method: string;
  readonly url: string;
  readonly body: JsonSchema | undefined;
}

const routes: Route[] = [];
const collect = (message: unknown): void => {
  const { fastify } = message as { readonly fastify: App };
  fastify.addHook("onRoute", ({ method, url, schema }) => {
    const body = schema?.body as JsonSchema | undefined;
    if (!/^\/(?:admin\/v1|inbox\/api)\/./.test(url)) return;
    for (const each of [method].flat()) if (each !== "HEAD") routes.push({ method: each, url, body });
  });
};

const resourceOf = (url: string): string => url.split("/").slice(0, 4).join("/");
const isAdministration = (url: string): boolean => url.startsWith("/admin/");

function leastFor({ method, url }: Pick<Route, "method" | "url">): AgentRole {
  const [toRead, toChange] = leastOf[resourceOf(url)] ?? admins;
  return method === "GET" ? toRead : toChange;
}

let app: TestApp;
let users: Readonly<Record<"viewer" | "agent" | "admin" | "stranger" | "revoked", DashboardUser>>;
let readToken: string;
let changes: AdminChanges;
/** A thing of the workspace for each resource with ids. */
let ids: Readonly<Record<string, string>>;

beforeAll(async () => {
  subscribe("fastify.initialization", collect);
  app = await startApp(newSqlite, { file: { workspaces: [], allowPrivate: ["127.0.0.1"] } });
  unsubscribe("fastify.initialization", collect);
  const { id: elsewhere } = await app.createWorkspace();
  users = {
    viewer: await dashboardUser(app, "viewer"),
    agent: await dashboardUser(app, "agent"),
    admin: await dashboardUser(app, "admin"),
    stranger: await dashboardUser(app, "admin", { name: "stranger", workspaceId: elsewhere }),
    revoked: await dashboardUser(app, "admin", { name: "revoked" }),
  };
  await users.admin.call("DELETE", `agents/${users.revoked.id}/sessions`);
  const add = async (path: string, body: object) => (await users.admin.call("POST", path, body)).body as { id: string };
  const token = await users.admin.call("POST", "access-tokens", {
    name: "Reads",
    scope: "read",
    expires_at: "2031-06-01",
  });
  const access = token.body as { readonly id: string; readonly token: string };
  readToken = access.token;
  const workspaceId = app.workspace.id;
  const team = await createTeam(app.store, app.clock, { workspaceId, by: systemActor("test"), name: "Billing" });
  const { conversationId } = await asked(app, "guarded");
  ids = {
    "access-tokens": access.id,
    agents: users.agent.id,
    conversations: conversationId,
    "dead-letters": await addDeadLetter(app, indexingOf(conversationId)),
    documents: await app.learn("guarded.md", "# Delivery\n\nDelivery takes three days."),
    keys: (await add("keys", { name: "Server" })).id,
    teams: team.id,
    webhooks: (await add("webhooks", { url: "https://hooks.example/parley" })).id,
  };
  changes = await startAdminChanges(app, users.admin);
});
afterAll(async () => {
  await app.close();
  await changes.close();
});

const ownPath = (url: string, idOf = (id: string): string => id): string =>
  url.replaceAll(/:\w+/g, (_name, at: number) =>
    idOf(
      ids[
        url
          .slice(0, at - 1)
          .split("/")
          .at(-1) ?? ""
      ] ?? "none",
    ),
  );
/** Ids of the same form that nothing has. */
const unknownPath = (url: string): string => ownPath(url, (id) => `${id.slice(0, -4)}zzzz`);

/** The status and code of the answer to the smallest request that has the route's form. */
async function ask(
  { method, url, body = {} }: Route,
  caller: Readonly<Record<string, string>>,
  pathOf: (url: string) => string = ownPath,
) {
  const headers = { "sec-fetch-site": "same-origin", ...caller };
  const path = `${app.url}${pathOf(url)}`;
  const answer = await (method === "GET"
    ? fetch(path, { headers })
    : fetch(path, {
        method,
        headers: { ...headers, "content-type": "application/json" },
        body: JSON.stringify(minimalValueOf(body) ?? {}),
      }));
  if (!answer.ok) return { status: answer.status, code: ((await answer.json()) as { readonly code: string }).code };
  // A stream does not end by itself.
  await answer.body?.cancel();
  return { status: answer.status, code: "" };
}

/** Rows that people have stored in the workspace. Counters, sessions and the program's own rows change by reading too. */
async function stored() {
  const own = /^(?:agent_tokens|access_tokens|commit_marks|counters|idempotency|outbox|processes|requests_in_flight)$/;
  const names = (await ownTables(app.store.read)).map(({ name }) => name).filter((name) => !own.test(name));
  const texts = await textsOf(app.store.read);
  return names.map((name) => [name, (texts.get(name) ?? []).toSorted()]);
}

it("has an expectation for every resource", () => {
  expect([...new Set(routes.map(({ url }) => resourceOf(url)))].toSorted()).toEqual(Object.keys(leastOf).toSorted());
  expect(routes.length).toBeGreaterThan(40);
});

it("refuses requests without a session, and those of a session that was ended", async () => {
  const before = await stored();
  for (const route of routes) {
    for (const headers of [{}, { cookie: users.revoked.cookie }]) {
      expect([route, await ask(route, headers)]).toMatchObject([route, { status: 401, code: "signed_out" }]);
    }
  }
  expect(await stored()).toEqual(before);
});

it("refuses API keys below /admin/v1, and access tokens in the inbox", async () => {
  const before = await stored();
  for (const route of routes) {
    const token = isAdministration(route.url) ? app.workspace.key : readToken;
    const code = isAdministration(route.url) ? "malformed_auth" : "signed_out";
    const { status, code: given } = await ask(route, { authorization: `Bearer ${token}` });
    expect([route, status, given]).toEqual([route, 401, code]);
  }
  expect(await stored()).toEqual(before);
});

it("refuses roles below the one that a route needs", async () => {
  const before = await stored();
  for (const role of ["viewer", "agent"] as const) {
    for (const route of routes.filter((each) => !roleAllows(role, leastFor(each)))) {
      const answer = await ask(route, { cookie: users[role].cookie });
      expect([role, route, answer]).toMatchObject([role, route, { status: 403, code: "insufficient_role" }]);
    }
  }
  expect(await stored()).toEqual(before);
});

it("lets access tokens that read change nothing", async () => {
  const before = await stored();
  for (const route of routes.filter(({ method, url }) => method !== "GET" && isAdministration(url))) {
    const answer = await ask(route, { authorization: `Bearer ${readToken}` });
    expect([route, answer]).toMatchObject([route, { status: 403, code: "insufficient_scope" }]);
  }
  expect(await stored()).toEqual(before);
});

it("answers admins of another workspace as if its things did not exist, and changes nothing", async () => {
  const before = await stored();
  const { cookie } = users.stranger;
  for (const route of routes.filter(({ url }) => url.includes(":"))) {
    const answer = await ask(route, { cookie });
    expect([route, answer]).toEqual([route, await ask(route, { cookie }, unknownPath)]);
    expect([route, answer.status >= 400]).toEqual([route, true]);
  }
  expect(await stored()).toEqual(before);
});

it("admits the least role that a route needs", async () => {
  for (const route of routes.filter(({ method }) => method === "GET")) {
    const { status } = await ask(route, { cookie: users[leastFor(route)].cookie });
    expect([401, 403], `${route.method} ${route.url}: ${status}`).not.toContain(status);
  }
});

interface RealChange extends AdminChange {
  readonly method: string;
  readonly url: string;
}

async function realChanges(): Promise<readonly RealChange[]> {
  const made: RealChange[] = [];
  for (const [route, make] of Object.entries(changes.of)) {
    const [method = "", url = ""] = route.split(" ");
    made.push({ method, url, ...(await make()) });
  }
  // Crawls change documents by themselves, and failed attempts change webhooks.
  const pending = () =>
    app.store.read.selectFrom("documents").select("id").where("status", "in", ["pending", "processing"]);
  const left = async (): Promise<number> => {
    app.clock.advance(1_000);
    const outbox = app.store.read.selectFrom("outbox").select("id").where("due_at", "<=", app.clock.now());
    const due = outbox.where("kind", "=", webhookKind.kind);
    return (await pending().execute()).length + (await due.execute()).length;
  };
  await expect.poll(left).toBe(0);
  return made;
}

const send = ({ method, path, body }: RealChange, headers: Readonly<Record<string, string>>) =>
  callAdmin(app, method, path, body, { "sec-fetch-site": "same-origin", ...headers });

/** These name nothing of the workspace: the administrator of any other may do the same. */
const ofEveryone = ["/admin/v1/channels/kinds/:channel/install", "/admin/v1/documents/manual"];
/** These name things of the workspace in the body. */
const namesInBody = ["/admin/v1/customers/erase", "/admin/v1/documents/remove"];

it("admits the administrator to each change of real things, and nobody else", async () => {
  const real = await realChanges();
  expect(real.length).toBeGreaterThan(60);
  const before = await stored();
  for (const change of real) {
    const key = `Bearer ${app.workspace.key}`;
    const refusals: (readonly [string, Readonly<Record<string, string>>, number, string])[] = [
      ["nobody", {}, 401, "signed_out"],
      ["revoked", { cookie: users.revoked.cookie }, 401, "signed_out"],
      ["API key", { authorization: key }, 401, "malformed_auth"],
    ];
    for (const role of ["viewer", "agent"] as const) {
      if (roleAllows(role, leastFor(change))) continue;
      refusals.push([role, { cookie: users[role].cookie }, 403, "insufficient_role"]);
    }
    for (const [caller, headers, status, code] of refusals) {
      const answer = await send(change, headers);
      expect([caller, change.url, answer]).toMatchObject([caller, change.url, { status, body: { code } }]);
    }
    const stranger = { cookie: users.stranger.cookie };
    if (namesInBody.includes(change.url)) await send(change, stranger);
    if (!change.url.includes(":") || ofEveryone.includes(change.url)) continue;
    expect([change.url, (await send(change, stranger)).status]).toEqual([change.url, 404]);
  }
  expect(await stored()).toEqual(before);
  for (const change of real) {
    const { status, body } = await send(change, { cookie: (change.by ?? users.admin).cookie });
    expect([status < 300, change.method, change.url, body]).toEqual([true, change.method, change.url, body]);
  }
});
