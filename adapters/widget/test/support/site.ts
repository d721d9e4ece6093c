import type { Duplex } from "node:stream";
import { hostWith } from "#test/support/channels/partial-host.ts";
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { createServer } from "node:http";
import type {
  Accepted,
  Account,
  ChannelAdapter,
  ChannelHost,
  InboundEvent,
  OutboundFile,
  ThreadMessage,
  ThreadSignal,
  ThreadState,
  WorkspaceBranding,
} from "#channels/contract.ts";
import type { Channel } from "#domain/conversation/message.ts";
import { newId } from "#domain/ids.ts";
import { checkUserToken } from "#domain/customer/user-token.ts";
import widget from "../../index.ts";
import { createLimits } from "../../config.ts";
import { createSocketBytes } from "../../sockets/socket-bytes.ts";
import { createAddressSlots } from "../../sockets/addresses.ts";
import { openSockets } from "../../connection.ts";
import type { Clock } from "#runtime/clock.ts";

/** A clock moved by hand: its timers run when their time is reached. */
export interface HandClock extends Clock {
  advance(ms: number): void;
}

export function handClock(start = Date.UTC(2026, 5, 1, 12)): HandClock {
  let now = start;
  const timers = new Set<{ readonly at: number; readonly callback: () => void }>();
  return {
    now: () => now,
    timer(delayMs, callback) {
      const timer = { at: now + delayMs, callback };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    advance(ms) {
      const end = now + ms;
      for (;;) {
        const due = [...timers].filter((timer) => timer.at <= end).toSorted((a, b) => a.at - b.at)[0];
        if (due === undefined) break;
        timers.delete(due);
        now = due.at;
        due.callback();
      }
      now = end;
    },
  };
}

export const realClock: Clock = {
  now: () => Date.now(),
  timer(delayMs, callback) {
    const timer = setTimeout(callback, delayMs);
    return () => clearTimeout(timer);
  },
};

interface Thread {
  conversationId: string;
  messages: ThreadMessage[];
  handledBy: ThreadState["handledBy"];
  agentName: string | null;
  name: string | null;
  email: string | null;
  userId: string | null;
}

export type NewMessage = Pick<ThreadMessage, "role" | "markdown"> & Partial<ThreadMessage>;

/** The program around the adapter, as far as one account sees it, over arrays. */
export interface TestHost extends ChannelHost {
  allow: ChannelHost["allow"];
  readonly events: InboundEvent[];
  readonly storedThreads: Map<string, Thread>;
  readonly typed: string[];
  face: WorkspaceBranding;
  /** Thrown by the next acceptances, for as long as it is set. */
  failure: Error | undefined;
  readonly secret: string;
  /** Called after each stored message of a customer. */
  answer: ((thread: string, text: string) => void) | undefined;
  say(thread: string, message: NewMessage): void;
  /** A message is changed or taken back. */
  amend(thread: string, id: string, change: Partial<Pick<ThreadMessage, "markdown" | "deleted" | "reaction">>): void;
  readonly amendments: Set<string>;
  set(thread: string, change: Partial<Omit<Thread, "messages">>): void;
  /** The conversation is gone, as after its deletion. */
  erase(thread: string): void;
  signal(thread: string, signal: ThreadSignal): void;
  watchers(): number;
  /** How many messages were read from the history. */
  read: number;
  /** Uploads that were not sent. */
  readonly uploads: Map<string, OutboundFile & { readonly thread: string }>;
  /** The only thread there is. */
  thread1(): string;
}

export const workspaceId = "wt_abc123_0123456789abcdef";

export function createTestHost(clock: Clock, face: Partial<WorkspaceBranding> = {}): TestHost {
  const listeners = new Map<string, Set<(signal: ThreadSignal) => void>>();
  const accepted = new Map<string, Accepted>();
  const windows = new Map<string, { readonly start: number; count: number }>();
  const key = randomBytes(32);
  const mac = (value: string): string => createHmac("sha256", key).update(value).digest("base64url");
  const quiet = (): void => undefined;

  const threadOf = (name: string): Thread => {
    const known = host.storedThreads.get(name);
    if (known !== undefined) return known;
    const made: Thread = {
      conversationId: newId("conv", clock.now()),
      messages: [],
      handledBy: "assistant",
      agentName: null,
      name: null,
      email: null,
      userId: null,
    };
    host.storedThreads.set(name, made);
    return made;
  };

  // The widget uses no other members of these.
  const unused = hostWith({});
  const host: TestHost = {
    webhookUrl: "http://parley.test/channels/widget/account",
    clock,
    log: { debug: quiet, info: quiet, warn: quiet, error: quiet },
    uploads: new Map(),
    events: [],
    storedThreads: new Map(),
    typed: [],
    read: 0,
    failure: undefined,
    answer: undefined,
    secret: "identity-secret",
    face: {
      id: workspaceId,
      botName: "Assistant",
      title: "Acme Help",
      greeting: "Hello! Ask a question, and I will look it up in our documentation.",
      color: "#1f6feb",
      files: { bytesMax: 1_000, types: [] },
      allowedOrigins: [],
      leadCapture: "on_handover",
      ...face,
    },
    state: unused.state,
    reportDown: unused.reportDown,
    reportSkipped: unused.reportSkipped,
    threads: {
      ...unused.threads,
      async get(name) {
        const thread = host.storedThreads.get(name);
        if (thread === undefined) return null;
        return {
          conversationId: thread.conversationId,
          lastSeq: thread.messages.at(-1)?.seq ?? 0,
          userId: thread.userId,
          handledBy: thread.handledBy,
          agentName: thread.agentName,
          hasName: thread.name !== null,
          hasEmail: thread.email !== null,
        };
      },
      async history(thread, afterSeq, limit) {
        const messages = (host.storedThreads.get(thread)?.messages ?? [])
          .filter((message) => message.seq > afterSeq)
          .slice(0, limit);
        host.read += messages.length;
        return messages;
      },
      async amended(thread, seq) {
        return (host.storedThreads.get(thread)?.messages ?? []).filter(
          (message) => message.seq <= seq && host.amendments.has(message.id),
        );
      },
      watch(thread, listener) {
        const set = listeners.get(thread) ?? new Set();
        listeners.set(thread, set);
        set.add(listener);
        return () => {
          set.delete(listener);
          if (set.size === 0) listeners.delete(thread);
        };
      },
      announce: (thread) => host.signal(thread, { kind: "changed" }),
      customerTyping: (thread) => void host.typed.push(thread),
    },
    files: {
      ...unused.files,
      bytesMax: 1_000,
      async upload(thread, { name, mediaType }, bytes) {
        let size = 0;
        for await (const chunk of bytes) size += chunk.byteLength;
        const file = { id: newId("file", clock.now()), name, mediaType, bytes: size };
        host.uploads.set(file.id, { ...file, thread });
        return file;
      },
      async drop(thread, id) {
        if (host.uploads.get(id)?.thread === thread) host.uploads.delete(id);
      },
    },
    people: {
      ...unused.people,
      async verifyUser(userId, hash) {
        const expected = Buffer.from(createHmac("sha256", host.secret).update(userId).digest("hex"));
        const given = Buffer.from(hash);
        return given.length === expected.length && timingSafeEqual(given, expected);
      },
      checkUserToken: async (token) =>
        checkUserToken(token, { workspaceId, secret: host.secret, publicKeys: [] }, clock.now()),
    },
    async accept(event) {
      if (host.failure !== undefined) throw host.failure;
      const before = accepted.get(event.externalId);
      if (before !== undefined) return { ...before, duplicate: true };
      const owner = event.kind === "delivery" ? null : (host.storedThreads.get(event.thread)?.userId ?? null);
      if (
        (event.kind === "message" || event.kind === "contact") &&
        ![null, event.sender.verified?.userId].includes(owner)
      )
        return { duplicate: false, conversationId: null, messageId: null, seq: null, refused: true };
      host.events.push(event);
      let result: Accepted = { duplicate: false, conversationId: null, messageId: null, seq: null };
      if (event.kind === "message") {
        const thread = threadOf(event.thread);
        thread.userId ??= event.sender.verified?.userId ?? null;
        const stored = append(thread, { role: "user", markdown: event.text, externalId: event.externalId });
        result = { ...result, conversationId: thread.conversationId, messageId: stored.id, seq: stored.seq };
      } else if (event.kind === "reaction") {
        const messages = host.storedThreads.get(event.thread)?.messages ?? [];
        result = { ...result, messageId: messages.find(({ id }) => id === event.of.messageId)?.id ?? null };
      } else if (event.kind === "contact") {
        host.set(event.thread, { email: event.contact.email ?? null, name: event.contact.name ?? null });
      }
      accepted.set(event.externalId, result);
      if (event.kind === "message") {
        host.threads.announce(event.thread);
        host.answer?.(event.thread, event.text);
      }
      return result;
    },
    amendments: new Set(),
    amend(thread, id, change) {
      const { messages } = threadOf(thread);
      const at = messages.findIndex((message) => message.id === id);
      const before = messages[at];
      if (before === undefined) throw new Error("there is no such message");
      messages[at] = { ...before, ...change };
      host.amendments.add(id);
      host.signal(thread, { kind: "changed", amended: true });
    },
    workspace: async () => host.face,
    signToken: (value) => `${Buffer.from(value).toString("base64url")}.${mac(value)}`,
    verifyToken(token) {
      const [body = "", tag = ""] = token.split(".");
      const value = Buffer.from(body, "base64url").toString();
      return mac(value) === tag ? value : null;
    },
    allow(name, max, windowMs) {
      const start = Math.floor(clock.now() / windowMs);
      const window = windows.get(name);
      const current = window?.start === start ? window : { start, count: 0 };
      windows.set(name, current);
      current.count += 1;
      return current.count <= max;
    },
    say(thread, message) {
      append(threadOf(thread), message);
      host.threads.announce(thread);
    },
    set(thread, change) {
      Object.assign(threadOf(thread), change);
      host.threads.announce(thread);
    },
    erase(thread) {
      host.storedThreads.delete(thread);
      host.threads.announce(thread);
    },
    signal(thread, signal) {
      for (const listener of listeners.get(thread) ?? []) listener(signal);
    },
    watchers: () => [...listeners.values()].reduce((sum, set) => sum + set.size, 0),
    thread1() {
      const [name] = host.storedThreads.keys();
      if (name === undefined) throw new Error("nobody has written yet");
      return name;
    },
  };

  function append(thread: Thread, message: NewMessage): ThreadMessage {
    const stored: ThreadMessage = {
      id: newId("msg", clock.now()),
      // Notes take numbers too, and are never shown: numbers have holes.
      seq: (thread.messages.at(-1)?.seq ?? 0) + (thread.messages.length % 3 === 2 ? 2 : 1),
      authorName: message.role === "assistant" ? "Assistant" : null,
      authorAvatar: null,
      sources: [],
      confidence: null,
      kind: null,
      feedback: null,
      rating: null,
      reaction: null,
      refersTo: null,
      externalId: null,
      files: [],
      deleted: false,
      createdAt: clock.now(),
      ...message,
    };
    thread.messages.push(stored);
    return stored;
  }
  return host;
}

export interface TestSite {
  readonly host: TestHost;
  readonly adapter: ChannelAdapter;
  readonly server: Server;
  readonly port: number;
  /** `http://127.0.0.1:PORT` */
  readonly origin: string;
  readonly socketUrl: string;
  /** Pages of "other" companies, by path. */
  readonly pages: Map<string, string>;
  /** Every path that was asked for. */
  readonly requested: string[];
  close(): Promise<void>;
}

export interface SiteOptions {
  readonly channel?: Channel;
  readonly host?: TestHost;
  readonly config?: Record<string, unknown>;
  readonly port?: number;
  /** Bytes that all sockets may hold together. */
  readonly socketBytesMax?: number;
  /** The behaviour of a proxy in front of the server. Default: WebSockets pass. */
  readonly proxy?: { sockets: "pass" | "refuse" | "hang" };
}

/** The adapter behind a real HTTP server, the way that the program serves it. */
export async function startSite(options: SiteOptions = {}): Promise<TestSite> {
  const host = options.host ?? createTestHost(realClock);
  const account: Account = {
    id: "acc_1",
    workspaceId,
    channel: options.channel ?? "widget",
    name: "widget",
    config: {},
  };
  const adapter = widget.create({ ...account, config: options.config ?? {} }, host);
  const { inbound } = adapter;
  if (inbound.kind !== "site" || inbound.socket === undefined) throw new Error("the widget is a site with a socket");
  const { routes, posts = [] } = inbound;
  const sockets =
    options.socketBytesMax === undefined
      ? undefined
      : openSockets(
          account,
          host,
          createLimits(options.config ?? {}, host),
          createAddressSlots(100),
          createSocketBytes(options.socketBytesMax),
        );
  const siteSocket = sockets?.socket ?? inbound.socket;
  const pages = new Map<string, string>();
  const requested: string[] = [];

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(request.url ?? "/", "http://site");
    requested.push(url.pathname);
    const page = pages.get(url.pathname);
    if (page !== undefined) {
      response.writeHead(200, { "Content-Type": "text/html; charset=utf-8" }).end(page);
      return;
    }
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
    const head = {
      method: request.method ?? "GET",
      path: url.pathname,
      query: Object.fromEntries(url.searchParams),
      headers,
      remoteAddress: request.socket.remoteAddress ?? "",
    };
    const post = request.method === "GET" ? undefined : posts.find(({ path }) => path === url.pathname);
    if (post !== undefined) {
      const gone = new AbortController();
      response.once("close", () => gone.abort());
      const answer = await post.handle(head, request, gone.signal);
      response.writeHead(answer.status, answer.headers).end(answer.body);
      return;
    }
    const route = routes.find(({ path }) =>
      path.endsWith("/*") ? url.pathname.startsWith(path.slice(0, -1)) : path === url.pathname,
    );
    const answer = await route?.handle({ ...head, body: Buffer.alloc(0) });
    response.writeHead(answer?.status ?? 404, answer?.headers).end(answer?.body);
  };
  const server = createServer((request, response) => {
    serve(request, response).catch((error: unknown) => response.writeHead(500).end(String(error)));
  });
  const hanging: Duplex[] = [];
  server.on("upgrade", (request, socket, head) => {
    if (options.proxy?.sockets === "hang") {
      // The server no longer counts it among its connections.
      hanging.push(socket);
      return;
    }
    if (options.proxy?.sockets === "refuse") {
      socket.end("HTTP/1.1 403 Forbidden\r\nConnection: close\r\n\r\n");
      return;
    }
    const address = request.headers["x-forwarded-for"] ?? request.socket.remoteAddress ?? "";
    siteSocket.upgrade(request, socket, head, String(address));
  });
  await new Promise<void>((resolve) => server.listen(options.port ?? 0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return {
    host,
    adapter,
    server,
    port,
    origin: `http://127.0.0.1:${port}`,
    socketUrl: `ws://127.0.0.1:${port}/widget/ws?workspace=${workspaceId}&channel=${account.channel}`,
    pages,
    requested,
    async close() {
      await sockets?.close();
      await adapter.close();
      for (const socket of hanging) socket.destroy();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export function embedding(origin: string, attributes = "", body = ""): string {
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>A shop</title><body><h1>A shop</h1><button id="before">Page button</button>${body}
<script src="${origin}/widget.js" data-workspace="${workspaceId}" ${attributes}></script></body></html>`;
}
