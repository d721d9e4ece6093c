import { createHmac, randomBytes } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:http";
import type { Socket } from "node:net";
import type { WebSocket } from "ws";
import { WebSocketServer } from "ws";
import type { FakeFile, FakeMessage } from "./fake-messages.ts";
import { blocksMistake, shownText } from "./fake-messages.ts";
import type { Workspace } from "./fake-web-api.ts";
import type { FakeOauth } from "./fake-oauth.ts";
import { createOauth } from "./fake-oauth.ts";
import { createWorkspace, runMethod } from "./fake-web-api.ts";
import { openFakeServer } from "#test/support/channels/fake-server.ts";

/** A failure of one call. `channel`: only for calls about this channel. */
export type Fault = { readonly channel?: string } & (
  | { readonly kind: "error"; readonly error: string; readonly needed?: string }
  | { readonly kind: "limit"; readonly seconds: number }
  | { readonly kind: "status"; readonly status: number; readonly afterCommit?: boolean }
  | { readonly kind: "html" }
  /** Executes the call, then closes the connection without a response. */
  | { readonly kind: "hang_up_after_commit" }
  | { readonly kind: "hang_up" }
  /** Posts in the channel itself, as if the thread did not exist. */
  | { readonly kind: "outside" }
);

export interface Shown {
  readonly channel: string;
  readonly ts: string;
  readonly threadTs: string | undefined;
  readonly text: string;
  readonly message: FakeMessage;
}

export interface Pushed {
  readonly acknowledged: boolean;
  /** The acknowledgement's payload. */
  readonly reply?: unknown;
  /** There was no socket, or it closed before the acknowledgement. */
  readonly closed?: true;
}

export interface FakeSlack extends Workspace {
  /** The URL of the Web API, without a slash at the end. */
  readonly url: string;
  readonly appToken: string;
  /** Other apps, by their app-level tokens. */
  readonly otherApps: Map<string, { readonly id: string; readonly name: string }>;
  readonly signingSecret: string;
  /** Installations from the page `/oauth/v2/authorize`. */
  readonly oauth: FakeOauth;
  /** The app's messages that are not deleted, oldest first. */
  shown(channel?: string): readonly Shown[];
  /** The bodies of a method's calls, in order. */
  calls(method: string): readonly Readonly<Record<string, string>>[];
  /** Faults for the next matching calls of this method, one each. */
  fail(method: string, ...faults: readonly Fault[]): void;
  /** Sets the fault of every later call by its method; undefined: no fault. */
  trouble(trouble: ((method: string) => Fault | undefined) | undefined): void;
  /** Removes the faults that `fail` added. */
  heal(): void;
  /** The POSTs to the addresses of `responseUrl`. One with the `ts` of a message as its id can replace it. */
  readonly responses: readonly { readonly id: string; readonly body: unknown }[];
  responseUrl(id: string): string;
  /** Slack's signature headers for a body. */
  sign(body: string | Buffer, at: number, secret?: string): Readonly<Record<string, string>>;
  addFile(file: { readonly name: string; readonly mimetype: string; readonly bytes: Buffer }): FakeFile;
  fileUrl(file: FakeFile): string;
  /** The number of open sockets. */
  sockets(): number;
  /** Sends an envelope over a socket; whether it was acknowledged before the socket closed or time was up. */
  push(type: string, payload: unknown): Promise<Pushed>;
  /** Sends raw text over a socket. */
  pushRaw(text: string): void;
  /** Requests a reconnect of every client, as Slack does every few hours. */
  refreshSockets(): void;
  dropSockets(): void;
  /** Closes the server and all connections. */
  goAway(): Promise<void>;
  comeBack(): Promise<void>;
  close(): Promise<void>;
}

const ackPatienceMs = 3_000;

/** Slack's Web API and Socket Mode, as strict as the real ones where the adapter relies on it. */
export async function startFakeSlack(): Promise<FakeSlack> {
  const workspace = createWorkspace();
  const appToken = `xapp-1-A${hex(5)}-${hex(16)}`;
  const signingSecret = hex(16);
  const installs = createOauth(workspace.appId, workspace.botUserId);
  const otherApps = new Map<string, { readonly id: string; readonly name: string }>();
  const called = new Map<string, Record<string, string>[]>();
  const faults = new Map<string, Fault[]>();
  const responses: { id: string; body: unknown }[] = [];
  const waiting = new Map<string, (reply: unknown) => void>();
  const webSockets = new WebSocketServer({ noServer: true });
  const connected = new Set<WebSocket>();
  const tickets = new Set<string>();
  let nextEnvelope = 0;
  let troubled: ((method: string) => Fault | undefined) | undefined;

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? "/").split("?")[0] ?? "/";
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const bytes = Buffer.concat(chunks);
    if (path === "/oauth/v2/authorize") {
      const { status, html } = installs.authorize(new URL(request.url ?? "/", "http://x").searchParams);
      response.writeHead(status, { "content-type": "text/html; charset=utf-8" }).end(html);
      return;
    }
    if (path.startsWith("/api/")) return serveMethod(path.slice(5), bytes, request, response);
    if (path.startsWith("/upload/")) return serveUpload(path.slice(8), bytes, response);
    if (path.startsWith("/files/")) return serveFile(path, request, response);
    if (path.startsWith("/response/")) {
      const body = JSON.parse(bytes.toString("utf8")) as Partial<FakeMessage> & { readonly replace_original?: boolean };
      responses.push({ id: path.slice(10), body });
      const original = workspace.messages.find(({ ts }) => path === `/response/${ts}`);
      const isRefused = takeFault("response", {}) !== undefined || blocksMistake(body.blocks ?? []) !== undefined;
      // Slack does not document that the replaced message keeps its metadata.
      if (body.replace_original === true && original !== undefined && !isRefused) {
        Object.assign(original, { text: body.text ?? "", blocks: body.blocks ?? [], metadata: undefined });
      }
      response.writeHead(isRefused ? 500 : 200).end("ok");
      return;
    }
    response.writeHead(404).end();
  }

  function serveMethod(method: string, bytes: Buffer, request: IncomingMessage, response: ServerResponse): void {
    const answer = (status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): void => {
      response
        .writeHead(status, {
          "content-type": "application/json; charset=utf-8",
          "x-oauth-scopes": workspace.scopes.join(","),
          ...headers,
        })
        .end(JSON.stringify(body));
    };
    const body: Record<string, string> = Object.fromEntries(new URLSearchParams(bytes.toString("utf8")));
    called.set(method, [...(called.get(method) ?? []), body]);
    const token = (request.headers.authorization ?? "").replace(/^Bearer /, "");
    const own = { id: workspace.appId, name: "Support" };
    const app = token === appToken ? own : otherApps.get(token);
    const fault = takeFault(method, body);
    if (fault?.kind === "limit") {
      return answer(429, { ok: false, error: "ratelimited" }, { "retry-after": String(fault.seconds) });
    }
    if (fault?.kind === "error") return answer(200, { ok: false, error: fault.error, needed: fault.needed });
    if (fault?.kind === "html") {
      response.writeHead(200, { "content-type": "text/html" }).end("<html>Sorry</html>");
      return;
    }
    if (fault?.kind === "hang_up" || (fault?.kind === "status" && fault.afterCommit !== true)) {
      if (fault.kind === "hang_up") request.socket.destroy();
      else answer(fault.status, "Sorry");
      return;
    }
    if (app !== undefined && method === "auth.test") {
      return answer(200, { ok: true, app_id: app.id, app_name: app.name });
    }
    if (method === "oauth.v2.access") return answer(200, installs.access(body));
    const ended = installs.judge(token);
    if (typeof ended === "string") return answer(200, { ok: false, error: ended });
    const isAuthorized =
      method === "apps.connections.open" ? app !== undefined : ended === null || token === workspace.botToken;
    if (!isAuthorized) return answer(200, { ok: false, error: token === "" ? "not_authed" : "invalid_auth" });
    const { thread_ts: _, ...outside } = body;
    const asked = fault?.kind === "outside" ? outside : body;
    const result =
      method === "apps.connections.open" ? { ok: true, url: socketUrl() } : runMethod(workspace, method, asked, url);
    if (fault?.kind === "hang_up_after_commit") request.socket.destroy();
    else if (fault?.kind === "status") answer(fault.status, "Sorry");
    else answer(200, result);
  }

  function takeFault(method: string, body: Readonly<Record<string, string>>): Fault | undefined {
    const general = troubled?.(method);
    if (general !== undefined) return general;
    const ordered = faults.get(method) ?? [];
    const at = ordered.findIndex(({ channel }) => channel === undefined || channel === body["channel"]);
    return at < 0 ? undefined : ordered.splice(at, 1)[0];
  }

  function serveUpload(id: string, bytes: Buffer, response: ServerResponse): void {
    const file = workspace.uploads.get(id);
    const fault = takeFault("upload", {});
    if (fault !== undefined || file === undefined || file.length !== bytes.length) {
      response.writeHead(fault?.kind === "status" ? fault.status : 400).end("bad");
      return;
    }
    workspace.uploads.set(id, { ...file, bytes });
    response.writeHead(200).end(`OK - ${bytes.length}`);
  }

  function serveFile(path: string, request: IncomingMessage, response: ServerResponse): void {
    const file = [...workspace.files.values()].find((each) => path === `/files/${each.id}/${each.secret}`);
    const fault = takeFault("download", {});
    if (fault?.kind === "status" || fault?.kind === "limit") {
      const headers = fault.kind === "limit" ? { "retry-after": String(fault.seconds) } : {};
      response.writeHead(fault.kind === "limit" ? 429 : fault.status, headers).end();
      return;
    }
    // Slack answers an unauthorized request with its sign-in page and status 200.
    if (request.headers.authorization !== `Bearer ${workspace.botToken}` || fault !== undefined) {
      response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end("<html>Sign in</html>");
      return;
    }
    if (file === undefined) {
      response.writeHead(404).end();
      return;
    }
    const headers = { "content-type": file.mimetype, "content-disposition": `attachment; filename="${file.id}"` };
    response.writeHead(200, headers).end(file.bytes);
  }

  function socketUrl(): string {
    const ticket = hex(8);
    tickets.add(ticket);
    return `${url.replace(/^http/, "ws").replace(/\/api$/, "")}/link?ticket=${ticket}`;
  }

  function upgrade(request: IncomingMessage, socket: Socket, head: Buffer): void {
    const ticket = new URL(request.url ?? "/", "http://x").searchParams.get("ticket") ?? "";
    if (!tickets.delete(ticket)) {
      socket.end("HTTP/1.1 401 Unauthorized\r\n\r\n");
      return;
    }
    webSockets.handleUpgrade(request, socket, head, (webSocket) => {
      connected.add(webSocket);
      webSocket.on("close", () => connected.delete(webSocket));
      webSocket.on("message", (data: Buffer) => {
        const { envelope_id: id, payload } = JSON.parse(data.toString("utf8")) as Record<string, unknown>;
        waiting.get(String(id))?.(payload);
      });
      webSocket.send(JSON.stringify({ type: "hello", num_connections: connected.size }));
    });
  }

  const server = await openFakeServer(() => {
    const made = createServer((request, response) => {
      serve(request, response).catch((error: unknown) => {
        response.destroy(error instanceof Error ? error : undefined);
      });
    });
    made.on("upgrade", upgrade);
    return made;
  });
  const { port } = server;
  const url = `http://127.0.0.1:${port}/api`;

  function dropSockets(): void {
    for (const socket of connected) socket.terminate();
  }

  return {
    ...workspace,
    url,
    appToken,
    otherApps,
    signingSecret,
    oauth: installs.oauth,
    responses,
    responseUrl: (id) => `http://127.0.0.1:${port}/response/${id}`,
    shown: (channel) =>
      workspace.messages
        .filter((each) => each.user === undefined && !each.deleted && (channel ?? each.channel) === each.channel)
        .map((message) => ({
          channel: message.channel,
          ts: message.ts,
          threadTs: message.threadTs,
          text: shownText(message),
          message,
        })),
    calls: (method) => called.get(method) ?? [],
    fail(method, ...ordered) {
      faults.set(method, [...(faults.get(method) ?? []), ...ordered]);
    },
    trouble(trouble) {
      troubled = trouble;
    },
    heal: () => faults.clear(),
    sign(body, at, secret = signingSecret) {
      const timestamp = String(Math.floor(at / 1_000));
      const signature = createHmac("sha256", secret).update(`v0:${timestamp}:`).update(body).digest("hex");
      return { "x-slack-request-timestamp": timestamp, "x-slack-signature": `v0=${signature}` };
    },
    addFile(given) {
      const file: FakeFile = { ...given, id: `F${hex(5).toUpperCase()}`, title: given.name, secret: hex(8) };
      workspace.files.set(file.id, file);
      return file;
    },
    fileUrl: ({ id, secret }) => `http://127.0.0.1:${port}/files/${id}/${secret}`,
    sockets: () => connected.size,
    async push(type, payload) {
      const sockets = [...connected];
      // Slack distributes deliveries over an app's connections.
      const socket = sockets[nextEnvelope % Math.max(1, sockets.length)];
      if (socket === undefined) return { acknowledged: false, closed: true };
      const id = `envelope-${(nextEnvelope += 1)}`;
      const done = Promise.withResolvers<Pushed>();
      const timer = setTimeout(() => done.resolve({ acknowledged: false }), ackPatienceMs);
      const closed = (): void => done.resolve({ acknowledged: false, closed: true });
      socket.once("close", closed);
      waiting.set(id, (reply) => done.resolve({ acknowledged: true, reply }));
      socket.send(JSON.stringify({ type, envelope_id: id, payload, accepts_response_payload: type !== "events_api" }));
      try {
        return await done.promise;
      } finally {
        clearTimeout(timer);
        socket.off("close", closed);
        waiting.delete(id);
      }
    },
    pushRaw(text) {
      for (const socket of connected) socket.send(text);
    },
    refreshSockets() {
      for (const socket of connected) socket.send(JSON.stringify({ type: "disconnect", reason: "refresh_requested" }));
    },
    dropSockets,
    goAway: server.goAway,
    comeBack: server.comeBack,
    async close() {
      await server.close();
      webSockets.close();
    },
  };
}

function hex(bytes: number): string {
  return randomBytes(bytes).toString("hex");
}
