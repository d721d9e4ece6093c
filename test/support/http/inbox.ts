import type { Person } from "#http/inbox/wire.ts";
import { createAgent } from "#admin/team/agents.ts";
import { createLoginToken } from "#admin/team/login-links.ts";
import type { TestApp } from "./app.ts";

export const password = "correct horse battery staple";

/** A signed-in agent who sends requests as a browser does, with its cookie and Origin header. */
export interface InboxUser extends Person {
  readonly id: string;
  readonly cookie: string;
  get(path: string): Promise<InboxAnswer>;
  send(
    method: "POST" | "PATCH" | "DELETE",
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ): Promise<InboxAnswer>;
}

export interface InboxAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
}

export async function addAgent(
  app: TestApp,
  name: string,
  workspaceId = app.workspace.id,
  email = `${name.toLowerCase()}@shop.example`,
): Promise<{ readonly id: string } & Person> {
  const { id } = await createAgent(app.store, app.clock, { workspaceId, email, name, role: "agent", password });
  return { id, email, name };
}

/** Signs in by a link, which avoids the cost of a password hash. */
export async function signIn(app: TestApp, agent: { readonly id: string } & Person): Promise<InboxUser> {
  const token = await createLoginToken(app.store, app.clock, agent.id);
  const response = await fetch(`${app.url}/inbox/login/${token}`, {
    method: "POST",
    headers: { origin: app.url },
    redirect: "manual",
  });
  const cookie = cookieOf(response);
  const call = async (
    method: string,
    path: string,
    body: unknown,
    headers: Readonly<Record<string, string>>,
  ): Promise<InboxAnswer> => {
    const answer = await fetch(`${app.url}/inbox/api/${path}`, {
      method,
      headers: { cookie, ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    return { status: answer.status, headers: answer.headers, body: text === "" ? undefined : JSON.parse(text) };
  };
  return {
    ...agent,
    cookie,
    get: (path) => call("GET", path, undefined, {}),
    send: (method, path, body = method === "DELETE" ? undefined : {}, headers = { origin: app.url }) =>
      call(method, path, body, headers),
  };
}

/** Two colleagues, and an agent of another workspace. */
export interface InboxTeam {
  readonly anna: InboxUser;
  readonly ben: InboxUser;
  readonly stranger: InboxUser;
}

export async function signInTeam(app: TestApp): Promise<InboxTeam> {
  const other = await app.createWorkspace();
  return {
    anna: await signIn(app, await addAgent(app, "Anna")),
    ben: await signIn(app, await addAgent(app, "Ben")),
    stranger: await signIn(app, await addAgent(app, "Mallory", other.id)),
  };
}

/** Starts a conversation with a question that the bot has answered. */
export async function asked(
  app: TestApp,
  thread: string,
  text = "How long does delivery take?",
  name?: string,
): Promise<Customer> {
  const customer = await customerWrites(app, thread, text, name);
  await settled(app);
  return customer;
}

/** The cookie of the session that an answer begins; empty: none. */
export function cookieOf(response: Response): string {
  const pairs = response.headers.getSetCookie().map((line) => line.split(";", 1)[0] ?? "");
  return pairs.find((pair) => pair.startsWith("parley_session=")) ?? "";
}

/** A customer in the widget. */
export interface Customer {
  readonly thread: string;
  readonly conversationId: string;
  write(text: string): Promise<void>;
}

let written = 0;

export async function customerWrites(app: TestApp, thread: string, text: string, name?: string): Promise<Customer> {
  const account = await app.store.read
    .selectFrom("accounts")
    .select("id")
    .where("workspace_id", "=", app.workspace.id)
    .where("channel", "=", "widget")
    .executeTakeFirstOrThrow();
  const write = async (message: string): Promise<string> => {
    written += 1;
    const { conversationId } = await app.engine.ingest(account.id, {
      kind: "message",
      externalId: `inbox-test-${written}`,
      thread,
      sender: {
        key: thread,
        ...(name === undefined ? {} : { verified: { userId: thread, name, email: `${thread}@customers.example` } }),
      },
      sentAt: app.clock.now(),
      text: message,
    });
    if (conversationId === null) throw new Error("a message started no conversation");
    return conversationId;
  };
  const conversationId = await write(text);
  return { thread, conversationId, write: async (message) => void (await write(message)) };
}

/** Waits until the bot has answered and its replies are sent. */
export async function settled(app: TestApp): Promise<void> {
  for (let attempt = 0; attempt < 1_600; attempt += 1) {
    const rows = await app.store.read
      .selectFrom("outbox")
      .select("id")
      .where("kind", "in", ["think", "send"])
      .limit(1)
      .execute();
    if (rows.length === 0) return;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  throw new Error("timed out waiting for an empty outbox");
}
