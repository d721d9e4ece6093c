import { openGuardedFetch } from "#outbound/guarded-fetch.ts";
import { createSecrets } from "#runtime/secrets.ts";
import { hash } from "node:crypto";
import { pino } from "pino";
import { Registry } from "prom-client";
import { newApiKey, newId, newWorkspaceId } from "#domain/ids.ts";
import type { Engine } from "#conversations/contract.ts";
import type { HttpDependencies, HttpTimeouts } from "#http/dependencies.ts";
import type { BodyLimits } from "#http/middleware/bodies/bodies.ts";
import { defaultBodyLimits } from "#http/middleware/bodies/bodies.ts";
import { defaultTimeouts } from "#http/dependencies.ts";
import { createServer } from "#http/server.ts";
import { createInProcessFanout } from "#queue/signals/in-process.ts";
import type { OpenStore } from "#database/open.ts";
import type { ProcessWatch } from "#database/process-heartbeat.ts";
import { createProcessWatch } from "#database/process-heartbeat.ts";
import type { Answered, Body } from "./app.ts";
import { testStart } from "./app.ts";
import type { TestDatabase } from "../database/databases.ts";
import { openTestStore } from "../database/databases.ts";
import type { HandMovedClock } from "../hand-moved-clock.ts";
import { createHandMovedClock } from "../hand-moved-clock.ts";

export interface HttpOptions {
  /** Replaces the engine's query, where a test has to control the answer. */
  readonly query?: Engine["query"];
  readonly sites?: Partial<HttpDependencies["sites"]>;
  readonly readiness?: HttpDependencies["readiness"];
  readonly demoPage?: HttpDependencies["demoPage"];
  readonly timeouts?: Partial<HttpTimeouts>;
  readonly watch?: ProcessWatch;
  readonly bodies?: Partial<BodyLimits>;
  readonly connectionsMax?: number;
  readonly trustedProxies?: readonly string[];
  readonly publicUrl?: string;
}

export interface TestHttp {
  readonly url: string;
  readonly port: number;
  readonly store: OpenStore;
  readonly clock: HandMovedClock;
  readonly workspaceId: string;
  readonly key: string;
  readonly logged: readonly string[];
  get(path: string, headers?: Readonly<Record<string, string>>): Promise<Answered>;
  post(path: string, body: unknown, headers?: Readonly<Record<string, string>>): Promise<Answered>;
  /** Closes the server and keeps the database open. */
  closeServer(): Promise<void>;
  close(): Promise<void>;
}

/** The HTTP side alone on a real database; tests replace the layers below it. */
export async function startHttp(open: () => Promise<TestDatabase>, options: HttpOptions = {}): Promise<TestHttp> {
  const { store, close } = await openTestStore(open);
  const clock = createHandMovedClock(testStart);
  const logged: string[] = [];
  const log = pino({ level: "debug" }, { write: (line: string) => void logged.push(line) });
  const processId = newId("ses", testStart);
  const workspaceId = newWorkspaceId();
  const key = newApiKey(workspaceId);
  await store.write(async (tx) => {
    await tx
      .insertInto("workspaces")
      .values({
        id: workspaceId,
        name: "Test",
        plan: "business",
        identity_secret: "",
        settings: "{}",
        knowledge_version: 0,
        created_at: testStart,
        deleted_at: null,
      })
      .execute();
    // Each call registers a process of its own: a test may start two on one database.
    await tx
      .insertInto("processes")
      .values({ id: processId, host: processId, pid: 1, started_at: testStart, heartbeat_at: testStart })
      .execute();
    await tx
      .insertInto("api_keys")
      .values({
        id: newId("key", testStart),
        workspace_id: workspaceId,
        name: "Test key",
        hash: hash("sha256", key),
        hint: key.slice(-4),
        limit_minute: null,
        limit_day: null,
        expires_at: null,
        revoked_at: null,
        created_at: testStart,
      })
      .execute();
  });
  const absent = (): never => {
    throw new Error("this test has not replaced the engine");
  };
  const server = await createServer({
    store,
    processId,
    watch: options.watch ?? createProcessWatch(),
    engine: {
      ingest: absent,
      query: options.query ?? absent,
      reply: absent,
      previewReply: absent,
      tryQuestion: absent,
      upload: absent,
      prefetchFiles: absent,
      dropUpload: absent,
      customerTyping: absent,
      update: absent,
      applyAction: absent,
      applyMacro: absent,
      postAgentMessage: absent,
      editAbilities: absent,
      addNote: absent,
      remove: absent,
      settleClocks: absent,
      typing: absent,
      window: absent,
    },
    fanout: createInProcessFanout(log),
    wake: { notify: absent },
    canRetry: absent,
    channelAccounts: {
      lookup: absent,
      tryOut: absent,
      publish: absent,
      kinds: absent,
      kind: absent,
      abilities: absent,
      check: absent,
      sendTest: absent,
    },
    documents: {
      checkType: absent,
      receive: absent,
      discard: absent,
      add: absent,
      crawl: absent,
      change: absent,
      content: absent,
      addArticle: absent,
      saveArticle: absent,
      recrawl: absent,
      ofFiles: absent,
      remove: absent,
    },
    canMail: false,
    encoderReport: () => Promise.resolve(null),
    secrets: createSecrets("00".repeat(32)),
    guardedFetch: openGuardedFetch({ allowPrivate: false }),
    allowPrivate: false,
    files: { bytesMax: 0, store: absent, open: absent, link: absent, ofLink: absent },
    listConversations: absent,
    tokenKeys: absent,
    cursorKey: Buffer.alloc(32, 7),
    sites: {
      page: () => undefined,
      workspacePage: () => undefined,
      post: () => undefined,
      socket: () => undefined,
      webhook: () => undefined,
      ...options.sites,
    },
    ...(options.demoPage === undefined ? {} : { demoPage: options.demoPage }),
    readiness: options.readiness ?? (async () => [{ name: "database", state: "ready", cause: null }]),
    prove: () => undefined,
    metrics: new Registry(),
    clock,
    log,
    options: {
      publicUrl: options.publicUrl ?? "http://parley.test",
      version: "0.0.0",
      trustedProxies: options.trustedProxies ?? [],
      timeouts: { ...defaultTimeouts, ...options.timeouts },
      bodies: { ...defaultBodyLimits, ...options.bodies },
      connectionsMax: options.connectionsMax ?? 1_000,
    },
  });
  const url = await server.listen("127.0.0.1", 0);

  async function call(path: string, init: RequestInit): Promise<Answered> {
    const response = await fetch(`${url}${path}`, init);
    const text = await response.text();
    const json = response.headers.get("content-type")?.startsWith("application/json") === true && text !== "";
    return { status: response.status, headers: response.headers, text, body: (json ? JSON.parse(text) : text) as Body };
  }

  return {
    url,
    port: Number(new URL(url).port),
    store,
    clock,
    workspaceId,
    key,
    logged,
    get: (path, headers = {}) => call(path, { headers: { authorization: `Bearer ${key}`, ...headers } }),
    post: (path, body, headers = {}) =>
      call(path, {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json", ...headers },
        body: typeof body === "string" || body instanceof Uint8Array ? (body as BodyInit) : JSON.stringify(body),
      }),
    closeServer: () => server.close(),
    async close() {
      await server.close();
      await close();
    },
  };
}
