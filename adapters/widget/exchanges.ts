import type { Account, ChannelHost, SitePost } from "#channels/contract.ts";
import type { Limits } from "./config.ts";
import type { ClientFrame, ExchangeAnswer, HelloFrame } from "./frames.ts";
import { closeCodes, parseFrame } from "./frames.ts";
import type { Renderer } from "./render.ts";
import { createRenderer } from "./render.ts";
import { answer, postAllowed, preflight } from "./site/cross-origin.ts";
import type { AddressSlots } from "./sockets/addresses.ts";
import { addressKey } from "./sockets/addresses.ts";
import type { CollectedFrames } from "./visitor/collected-frames.ts";
import { createCollectedFrames } from "./visitor/collected-frames.ts";
import { joinThread } from "./visitor/joined-visitor.ts";
import { identityOf, openSession } from "./visitor/session.ts";

const bodyBytesMax = 128 * 1024;
const framesMax = 50;
/** Proxies end requests that wait for a minute, some for half of one. */
const waitMs = 25_000;

/** The frames of a socket over HTTP, for browsers behind a proxy that refuses WebSockets. */
export interface Exchanges {
  readonly post: SitePost;
  /** Answers all requests that wait. */
  close(): Promise<void>;
}

interface ExchangeRequest {
  readonly hello: HelloFrame;
  readonly frames: readonly ClientFrame[];
  readonly bytes: number;
}

/**
 * Each request is a short connection: its body has a `hello` and the frames of the browser, one a line, and the response
 * the frames of the server. With `wait=1` it waits until there is something new. No process keeps anything in between.
 */
export function openExchanges(account: Account, host: ChannelHost, limits: Limits, slots: AddressSlots): Exchanges {
  const renderer = createRenderer();
  const waiting = new Set<Promise<unknown>>();
  const closing = new AbortController();

  return {
    post: {
      path: "/widget/exchange",
      async handle({ method, headers, query, remoteAddress }, body, signal) {
        const { origin } = headers;
        const refuse = (status: number, detail: string) => answer(status, { detail }, origin);
        const { allowedOrigins } = await host.workspace();
        if (!postAllowed(headers, account.channel, allowedOrigins)) {
          return refuse(403, "This page may not use this widget: its origin is not in the workspace's list.");
        }
        if (method === "OPTIONS") return preflight(origin);
        if (closing.signal.aborted) return refuse(503, "The server is restarting.");
        const address = addressKey(remoteAddress);
        if (!limits.exchange(address)) return refuse(429, "Too many requests in a short time.");
        const request = await readRequest(body);
        if (typeof request === "string") return refuse(400, request);
        const freeSlot = slots.take(address);
        if (freeSlot === undefined) return refuse(429, "Too many open connections from this address.");
        const ends = AbortSignal.any([signal, closing.signal]);
        const exchange = answerExchange(host, limits, renderer, request, address, query["wait"] === "1", ends);
        waiting.add(exchange);
        try {
          return answer(200, await exchange, origin);
        } finally {
          waiting.delete(exchange);
          freeSlot();
        }
      },
    },
    async close() {
      closing.abort();
      await Promise.allSettled(waiting);
    },
  };
}

/** Returns what is wrong, for the developer of the client. */
async function readRequest(body: AsyncIterable<Uint8Array>): Promise<ExchangeRequest | string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.byteLength;
    if (bytes > bodyBytesMax) return `The body has at most ${bodyBytesMax} bytes.`;
    chunks.push(chunk);
  }
  const lines = Buffer.concat(chunks)
    .toString("utf8")
    .split("\n")
    .filter((line) => line !== "");
  if (lines.length > framesMax) return `A request has at most ${framesMax} frames.`;
  const frames: ClientFrame[] = [];
  for (const line of lines) {
    const parsed = parseFrame(line);
    if ("error" in parsed) return parsed.error;
    frames.push(parsed.frame);
  }
  const [hello, ...rest] = frames;
  if (hello?.kind !== "hello" || rest.some(({ kind }) => kind === "hello")) return "The first frame is the only hello.";
  return { hello, frames: rest, bytes };
}

async function answerExchange(
  host: ChannelHost,
  limits: Limits,
  renderer: Renderer,
  { hello, frames, bytes }: ExchangeRequest,
  address: string,
  waits: boolean,
  ends: AbortSignal,
): Promise<ExchangeAnswer> {
  const opened = await openSession(hello, host);
  if (opened.kind !== "open") {
    return { frames: [], close: opened.kind === "expired" ? closeCodes.expired : closeCodes.badToken };
  }
  const socket = createCollectedFrames(host.log);
  if (opened.rejected !== null) socket.send({ kind: "error", code: "identity_rejected", detail: opened.rejected });
  const joined = joinThread(host, limits, renderer, socket, identityOf(opened, hello), address);
  try {
    await joined.start(hello);
    await socket.settled();
    for (const frame of frames) {
      if (frame.kind === "ping") socket.send({ kind: "pong" });
      else if (frame.kind !== "hello") joined.handle(frame, bytes);
    }
    await socket.settled();
    const untilExpiry = (opened.expiresAt ?? Infinity) - host.clock.now();
    if (waits) await newsOrEnd(host, socket, Math.min(waitMs, Math.max(0, untilExpiry)), ends);
    await socket.settled();
    return { frames: socket.frames(), close: socket.closeCode() };
  } finally {
    joined.leave();
    socket.end();
  }
}

async function newsOrEnd(
  { clock }: ChannelHost,
  socket: CollectedFrames,
  patienceMs: number,
  ends: AbortSignal,
): Promise<void> {
  const ended = Promise.withResolvers<void>();
  const end = (): void => ended.resolve();
  const cancelTimer = clock.timer(patienceMs, end);
  ends.addEventListener("abort", end, { once: true });
  try {
    if (!ends.aborted) await Promise.race([socket.news(), ended.promise]);
  } finally {
    cancelTimer();
    ends.removeEventListener("abort", end);
  }
}
