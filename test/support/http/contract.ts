import { createHmac } from "node:crypto";
import { afterAll, beforeAll } from "vitest";
import type { Plan, WorkspaceSettings } from "#domain/workspace/settings.ts";
import type { Answered, Body, CallOptions, TestApp, TestWorkspace } from "./app.ts";
import { startApp } from "./app.ts";
import { eachDatabase } from "../database/databases.ts";

/** All fields of a conversation; a test reads those that it expects. */
export interface Conversation extends Body {
  readonly workspace_id: string;
  readonly channel: string;
  readonly started_at: string;
  readonly last_message_at: string;
  readonly resolved_at?: string;
  readonly message_count: number;
  readonly sla_state: string;
  readonly assigned_to: string | null;
  readonly contact_id: string;
  readonly previous_conversation_id: string | null;
}

/** A client with a workspace's key. */
export interface Client extends TestWorkspace {
  call(method: string, path: string, options?: CallOptions): Promise<Answered>;
  get(path: string, options?: CallOptions): Promise<Answered>;
  post(path: string, body: unknown, options?: CallOptions): Promise<Answered>;
  ask(body?: object, options?: CallOptions): Promise<Answered>;
  /** Starts a conversation one second later and returns its id. */
  begin(text?: string, more?: object): Promise<string>;
  /** Returns a conversation in this status, taken there by valid actions. */
  in(status: string): Promise<string>;
  list(parameters?: string): Promise<Answered>;
  /** The ids of the listed conversations. */
  found(parameters?: string): Promise<readonly string[]>;
  single(id: string): Promise<Conversation>;
  patch(id: string, body: unknown): Promise<Answered>;
  remove(id: string): Promise<Answered>;
  /** HMAC-SHA256 with the workspace's identity secret. */
  mac(text: string, encoding?: "hex" | "base64" | "base64url"): string;
}

export interface Contract {
  readonly app: TestApp;
  /** The client of the app's first workspace. */
  readonly client: Client;
  /** Creates a workspace without data, and returns its client. */
  fresh(options?: { readonly plan?: Plan; readonly settings?: Partial<WorkspaceSettings> }): Promise<Client>;
  /** The same workspace with another key. */
  withKey(client: Client, key: string): Client;
}

export const agent = "kim@example.com";
export const humanPlease = "I want to talk to a human";

/** Runs one part of the API's contract on every database; the cases share one program. */
export function eachContract(part: string, suite: (contract: Contract) => void): void {
  eachDatabase(part, (open) => {
    let started: { readonly app: TestApp; readonly client: Client } | undefined;
    const current = () => {
      if (started === undefined) throw new Error("the program has not started yet");
      return started;
    };
    beforeAll(async () => {
      const app = await startApp(open);
      started = { app, client: clientOf(app, app.workspace) };
    });
    afterAll(async () => started?.app.close());
    suite({
      get app() {
        return current().app;
      },
      get client() {
        return current().client;
      },
      fresh: async (options) => clientOf(current().app, await current().app.createWorkspace(options)),
      withKey: (client, key) => clientOf(current().app, { ...client, key }),
    });
  });
}

export function clientOf(app: TestApp, workspace: TestWorkspace): Client {
  const { id: workspaceId, keyId, key, identitySecret } = workspace;
  const call: Client["call"] = (method, path, options) => app.call(method, path, { key, ...options });
  const post: Client["post"] = (path, body, options) => call("POST", path, { ...options, body });
  const list: Client["list"] = (parameters = "") =>
    call("GET", `/v1/conversations?workspace_id=${workspaceId}${parameters}`);
  const ask: Client["ask"] = (body = {}, options) =>
    post("/v1/query", { workspace_id: workspaceId, query: "Hello", ...body }, options);
  const patch: Client["patch"] = (id, body) => call("PATCH", `/v1/conversations/${id}`, { body });

  async function begin(text = "Hello", more: object = {}): Promise<string> {
    app.clock.advance(1_000);
    const { status, body } = await ask({ query: text, ...more });
    if (status !== 200) throw new Error(`cannot start a conversation: ${status} ${body.detail}`);
    return body.conversation_id;
  }

  return {
    id: workspaceId,
    key,
    keyId,
    identitySecret,
    call,
    get: (path, options) => call("GET", path, options),
    post,
    ask,
    begin,
    async in(status) {
      const id = await begin();
      const steps = status === "archived" ? ["resolved", "archived"] : status === "open" ? [] : [status];
      for (const step of steps) {
        const changed = await patch(id, { status: step, ...(step === "claimed" ? { assigned_to: agent } : {}) });
        if (changed.status !== 200) throw new Error(`cannot change ${id} to ${step}: ${changed.body.detail}`);
      }
      return id;
    },
    list,
    async found(parameters) {
      const { status, body } = await list(parameters);
      if (status !== 200) throw new Error(`the list was refused: ${status} ${body.detail}`);
      return body.conversations.map(({ id }) => id);
    },
    async single(id) {
      const { status, body } = await call("GET", `/v1/conversations/${id}`);
      if (status !== 200) throw new Error(`${id} cannot be read: ${status} ${body.detail}`);
      return body as Conversation;
    },
    patch,
    remove: (id) => call("DELETE", `/v1/conversations/${id}`),
    mac: (text, encoding = "hex") => createHmac("sha256", identitySecret).update(text).digest(encoding),
  };
}

/** Reads all pages of a list in order. */
export async function walk(
  page: (cursor: string) => Promise<Answered>,
  idsOf: (body: Body) => readonly string[],
  between: () => Promise<unknown> = async () => undefined,
): Promise<{ readonly pages: readonly (readonly string[])[]; readonly ids: readonly string[]; readonly last: string }> {
  const pages: (readonly string[])[] = [];
  let cursor = "";
  for (;;) {
    const { status, body } = await page(cursor);
    if (status !== 200) throw new Error(`a page was refused: ${status} ${body.detail}`);
    pages.push(idsOf(body));
    cursor = `&cursor=${body.pagination.next_cursor}`;
    if (!body.pagination.has_more) return { pages, ids: pages.flat(), last: cursor };
    await between();
  }
}

export const timestampPattern = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;

/** A prefix such as `conv_` and 26 characters of Crockford's base32. */
export const idPattern = (prefix: string): RegExp => new RegExp(`^${prefix}_[0-9a-hjkmnp-tv-z]{26}$`);

/** The time of the program's clock, as the API writes it. */
export const shownNow = (app: TestApp): string => new Date(app.clock.now()).toISOString();
