import type { AgentRole } from "#domain/workspace/agent-role.ts";
import { createAgent } from "#admin/team/agents.ts";
import { createLoginToken } from "#admin/team/login-links.ts";
import type { TestApp } from "./app.ts";
import { cookieOf } from "./inbox.ts";

export interface AdminAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** Parsed JSON; undefined without a body. */
  readonly body: unknown;
}

/** An agent who calls `/admin/v1` as the dashboard does, with a session's cookie. */
export interface DashboardUser {
  readonly id: string;
  readonly email: string;
  readonly cookie: string;
  call(method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<AdminAnswer>;
}

export async function dashboardUser(
  app: TestApp,
  role: AgentRole,
  { name = role, workspaceId = app.workspace.id }: { readonly name?: string; readonly workspaceId?: string } = {},
): Promise<DashboardUser> {
  const email = `${name}@${workspaceId.slice(3, 9)}.example`;
  const { id } = await createAgent(app.store, app.clock, { workspaceId, email, name, role });
  const token = await createLoginToken(app.store, app.clock, id);
  const answer = await fetch(`${app.url}/inbox/login/${token}`, {
    method: "POST",
    headers: { origin: app.url },
    redirect: "manual",
  });
  const cookie = cookieOf(answer);
  return {
    id,
    email,
    cookie,
    call: (method, path, body, headers = {}) =>
      callAdmin(app, method, path, body, { cookie, "sec-fetch-site": "same-origin", ...headers }),
  };
}

/** A call of `/admin/v1` with these headers. Bytes and forms are sent as they are, other bodies as JSON. */
export async function callAdmin(
  app: TestApp,
  method: string,
  path: string,
  body: unknown,
  headers: Readonly<Record<string, string>>,
): Promise<AdminAnswer> {
  const isRaw = body instanceof FormData || body instanceof Uint8Array;
  const answer = await fetch(`${app.url}/admin/v1/${path}`, {
    method,
    headers: { ...(body === undefined || isRaw ? {} : { "content-type": "application/json" }), ...headers },
    ...(body === undefined ? {} : { body: isRaw ? (body as BodyInit) : JSON.stringify(body) }),
  });
  const text = await answer.text();
  const isJson = (answer.headers.get("content-type") ?? "").startsWith("application/json");
  const parsed: unknown = isJson ? JSON.parse(text) : text;
  app.documented(method, `/admin/v1/${path}`, answer.status, parsed);
  return { status: answer.status, headers: answer.headers, body: parsed };
}
