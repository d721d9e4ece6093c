import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import type { Plan, WorkspaceSettings } from "#domain/workspace/settings.ts";
import type { Engine } from "#conversations/contract.ts";
import type { Answerer } from "#answering/contract.ts";
import type { App, AppOptions } from "#app/app.ts";
import { createApp } from "#app/app.ts";
import type { FileConfig } from "#config/file.ts";
import type { GuardedFetch } from "#outbound/guarded-fetch.ts";
import type { Config } from "#config/environment.ts";
import type { ModelConfig } from "#config/models.ts";
import { logOptions } from "#runtime/log.ts";
import type { NewKey } from "#admin/api-keys.ts";
import { createKey } from "#admin/api-keys.ts";
import { createWorkspace } from "#admin/workspaces/workspaces.ts";
import type { OpenStore } from "#database/open.ts";
import type { DocumentedCheck } from "./documented.ts";
import { createDocumentedCheck } from "./documented.ts";
import type { TestDatabase } from "../database/databases.ts";
import type { HandMovedClock } from "../hand-moved-clock.ts";
import { createHandMovedClock } from "../hand-moved-clock.ts";

export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  /** The body, parsed if it is JSON, else as text. */
  readonly body: Body;
  readonly text: string;
}

/** All fields of the API's responses; a test reads those that it expects. */
export interface Body {
  readonly detail: string;
  readonly code: string;
  readonly request_id: string;
  readonly pagination: { readonly next_cursor: string; readonly has_more: boolean };
  readonly id: string;
  readonly status: string;
  readonly content: string;
  readonly author: string;
  readonly tags: readonly string[];
  readonly conversations: readonly { readonly id: string; readonly status: string; readonly sla_state: string }[];
  readonly conversation_id: string;
  readonly messages: readonly { readonly id: string; readonly role: string; readonly content: string }[];
  readonly internal_notes: readonly { readonly content: string; readonly author: string }[];
  readonly audit_log: readonly { readonly action: string; readonly actor: { readonly type: string } }[];
  readonly results: readonly { readonly conversation_id: string; readonly ok: boolean }[];
  readonly document: { readonly id: string; readonly status: string };
  readonly documents: readonly { readonly id: string; readonly status: string }[];
  readonly answer: string;
  readonly sources: readonly { readonly title: string }[];
}

export interface CallOptions {
  readonly key?: string | null;
  /** Sent as JSON; a string or bytes are sent unchanged. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

export interface TestWorkspace {
  readonly id: string;
  readonly key: string;
  readonly keyId: string;
  readonly identitySecret: string;
}

export interface TestApp {
  readonly url: string;
  readonly app: App;
  readonly store: OpenStore;
  readonly engine: Engine;
  readonly clock: HandMovedClock;
  readonly workspace: TestWorkspace;
  /** Throws for a response that the API reference does not have. */
  readonly documented: DocumentedCheck;
  /** The lines that were logged. */
  readonly logged: readonly string[];
  call(method: string, path: string, options?: CallOptions): Promise<Answered>;
  get(path: string, options?: CallOptions): Promise<Answered>;
  post(path: string, body: unknown, options?: CallOptions): Promise<Answered>;
  createWorkspace(options?: {
    readonly plan?: Plan;
    readonly settings?: Partial<WorkspaceSettings>;
  }): Promise<TestWorkspace>;
  createKey(options?: Partial<NewKey>): Promise<{ readonly id: string; readonly key: string }>;
  /** Adds a document, waits until it is indexed, and returns its id. */
  learn(fileName: string, text: string, audience?: readonly string[]): Promise<string>;
  close(): Promise<void>;
}

/** In the middle of a minute, a day and a month, so that no rate limit's window ends by itself. */
export const testStart = Date.UTC(2031, 4, 14, 10, 20, 30, 123);

export interface StartOptions {
  /** The configuration file, parsed. */
  readonly file?: FileConfig;
  readonly model?: ModelConfig;
  readonly embedding?: Config["embedding"];
  readonly reranker?: Config["reranker"];
  readonly trustedProxies?: readonly string[];
  readonly mail?: Config["mail"];
  /** Replaces the program's answerer, where a test has to control the answers. */
  readonly answerer?: Answerer;
  readonly http?: AppOptions["http"];
  /** The settings of the first workspace. */
  readonly settings?: Partial<WorkspaceSettings>;
  /** A database that another process already uses. */
  readonly databaseUrl?: string;
  readonly clock?: HandMovedClock;
  readonly dataDir?: string;
  readonly typesense?: Config["typesense"];
  readonly publicUrl?: string;
  readonly metricsToken?: string;
  /** Reports the free disk space; absent: the system's value. */
  readonly freeBytes?: AppOptions["freeBytes"];
  readonly burst?: AppOptions["inboundBurst"];
  /** Finds the adapter of a channel; absent: those of the program. */
  readonly loadAdapter?: AppOptions["loadAdapter"];
  /** Fetches pages to crawl; absent: public addresses only. */
  readonly outbound?: GuardedFetch;
}

/** The API reference of every app is the same. It takes long to make, so one is read in each process. */
let reference: Promise<DocumentedCheck> | undefined;

async function referenceOf(url: string): Promise<DocumentedCheck> {
  return createDocumentedCheck(await (await fetch(`${url}/openapi.json`)).text());
}

/** The whole program on a database and a free port of its own, with one workspace on the business plan. */
export async function startApp(open: () => Promise<TestDatabase>, options: StartOptions = {}): Promise<TestApp> {
  const database = options.databaseUrl === undefined ? await open() : undefined;
  const dataDir = options.dataDir ?? (await mkdtemp(join(tmpdir(), "parley-data-")));
  const clock = options.clock ?? createHandMovedClock(testStart);
  const logged: string[] = [];
  const log = pino(logOptions("debug"), { write: (line: string) => void logged.push(line) });
  const app = await createApp(
    {
      host: "127.0.0.1",
      port: 0,
      publicUrl: options.publicUrl ?? "http://parley.test",
      metricsToken: options.metricsToken,
      dataDir,
      secret: "a secret for tests, of more than thirty-two characters",
      databaseUrl: options.databaseUrl ?? database?.url ?? "",
      redisUrl: undefined,
      ...(options.typesense === undefined ? {} : { typesense: options.typesense }),
      role: "all",
      logLevel: "debug",
      trustedProxies: options.trustedProxies ?? [],
      file: options.file ?? { workspaces: [] },
      ...(options.model === undefined ? {} : { model: options.model }),
      ...(options.embedding === undefined ? {} : { embedding: options.embedding }),
      ...(options.reranker === undefined ? {} : { reranker: options.reranker }),
      ...(options.mail === undefined ? {} : { mail: options.mail }),
      killAt: undefined,
    },
    {
      clock,
      log,
      ...(options.loadAdapter === undefined ? {} : { loadAdapter: options.loadAdapter }),
      // Most tests send texts that are no questions.
      pauseAfter: () => 0,
      ...(options.answerer === undefined ? {} : { answerer: options.answerer }),
      ...(options.http === undefined ? {} : { http: options.http }),
      ...(options.freeBytes === undefined ? {} : { freeBytes: options.freeBytes }),
      ...(options.burst === undefined ? {} : { inboundBurst: options.burst }),
      ...(options.outbound === undefined ? {} : { outbound: options.outbound }),
    },
  );
  const url = await app.listen();
  const { store, secrets, documents } = app.services;

  async function newWorkspace({
    plan,
    settings = {},
  }: Parameters<TestApp["createWorkspace"]>[0] = {}): Promise<TestWorkspace> {
    const made = await createWorkspace({ store, clock, secrets }, { name: "Test", plan, settings });
    const { id: keyId, key } = await createKey(store, clock, { workspaceId: made.id, name: "Test key" });
    return { id: made.id, key, keyId, identitySecret: made.identity_secret };
  }

  const workspace = await newWorkspace(options.settings === undefined ? {} : { settings: options.settings });
  const documented = await (reference ??= referenceOf(url));

  async function call(
    method: string,
    path: string,
    { key = workspace.key, body, headers, signal }: CallOptions = {},
  ): Promise<Answered> {
    const raw =
      body === undefined || typeof body === "string" || body instanceof Uint8Array || body instanceof FormData;
    const response = await fetch(`${url}${path}`, {
      method,
      headers: {
        ...(key === null ? {} : { authorization: `Bearer ${key}` }),
        ...(body === undefined || body instanceof FormData ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: (raw ? body : JSON.stringify(body)) as BodyInit }),
      ...(signal === undefined ? {} : { signal }),
    });
    const text = await response.text();
    const json = response.headers.get("content-type")?.startsWith("application/json") === true && text !== "";
    const answered = json ? (JSON.parse(text) as unknown) : text;
    documented(method, path, response.status, answered);
    return { status: response.status, headers: response.headers, text, body: answered as Body };
  }

  return {
    url,
    app,
    store,
    engine: app.engine,
    clock,
    workspace,
    documented,
    logged,
    call,
    get: (path, given) => call("GET", path, given),
    post: (path, body, given) => call("POST", path, { ...given, body }),
    createWorkspace: newWorkspace,
    createKey: (given) => createKey(store, clock, { workspaceId: workspace.id, name: "Another key", ...given }),
    async learn(fileName, text, audience = []) {
      const { id } = await documents.add({ workspaceId: workspace.id, fileName, bytes: Buffer.from(text), audience });
      await documents.process(id);
      return id;
    },
    async close() {
      await app.close();
      await database?.remove();
      if (options.dataDir === undefined) await rm(dataDir, { recursive: true, force: true });
    },
  };
}
