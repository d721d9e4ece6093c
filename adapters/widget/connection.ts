import type { IncomingMessage } from "node:http";
import { STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import type { WebSocket } from "ws";
import { WebSocketServer } from "ws";
import type { Account, ChannelHost, SiteSocket } from "#channels/contract.ts";
import { createContents } from "./message-trees.ts";
import type { Limits } from "./config.ts";
import { addressKey } from "./config.ts";
import { originAllowed } from "./origins.ts";
import type { SocketBytes } from "./connection-bytes.ts";
import type { Visitor } from "./visitor.ts";
import { serveVisitor } from "./visitor.ts";

const frameBytesMax = 64 * 1024;
/** A frame that comes in tiny pieces costs many times its bytes. */
const piecesMax = { maxBufferedChunks: 256, maxFragments: 64 };
const heartbeatMs = 25_000;
const closeGraceMs = 1_000;
const tryAgainLater = 1013;

export interface Sockets {
  readonly socket: SiteSocket;
  close(): Promise<void>;
}

interface Connected {
  readonly visitor: Visitor;
  /** It has been heard from since the last heartbeat. */
  alive: boolean;
}

/** The sockets of one account in this process; `bytes` is for those of all accounts. */
export function openSockets(account: Account, host: ChannelHost, limits: Limits, bytes: SocketBytes): Sockets {
  // Compression of frames this small costs more than it saves.
  const server = new WebSocketServer({
    noServer: true,
    maxPayload: frameBytesMax,
    perMessageDeflate: false,
    ...piecesMax,
  });
  const connected = new Map<WebSocket, Connected>();
  const contents = createContents();
  const perAddress = new Map<string, number>();
  let closing = false;

  const release = (address: string): void => {
    const left = (perAddress.get(address) ?? 1) - 1;
    if (left > 0) perAddress.set(address, left);
    else perAddress.delete(address);
  };

  const evict = (webSocket: WebSocket): void => {
    host.log.warn({ channel: account.channel }, "widget: socket closed, sockets hold too many bytes");
    webSocket.close(tryAgainLater, "try again later");
    const cancelGrace = host.clock.timer(closeGraceMs, () => webSocket.terminate());
    webSocket.once("close", cancelGrace);
  };

  const upgrade = async (
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
    remoteAddress: string,
  ): Promise<void> => {
    const address = addressKey(remoteAddress);
    const connection = request.socket;
    const start = connection.bytesRead - head.length;
    if (closing) return refuse(socket, 503, "The server is restarting.");
    if (!limits.connection(address))
      return refuse(socket, 429, "Too many connections in a short time.", { "Retry-After": "60" });
    if ((perAddress.get(address) ?? 0) >= limits.socketsPerAddress) {
      return refuse(socket, 429, "Too many open connections from this address.", { "Retry-After": "60" });
    }
    perAddress.set(address, (perAddress.get(address) ?? 0) + 1);
    socket.once("close", () => release(address));
    const { allowedOrigins } = await host.workspace();
    if (!originAllowed(request.headers, account.channel, allowedOrigins)) {
      host.log.warn({ origin: request.headers.origin ?? null }, "widget: origin refused");
      return refuse(socket, 403, "This page may not use this widget: its origin is not in the workspace's list.");
    }
    if (socket.destroyed) return;
    server.handleUpgrade(request, socket, head, (webSocket) => {
      webSocket.on("error", (error) => {
        // Frames too large or not of the protocol: ws closes the socket with the code that says so.
        host.log.info({ reason: error.message }, "widget: protocol error");
      });
      const held = bytes.watch({ address, socket: webSocket, connection, start, evict: () => evict(webSocket) });
      const visitor = serveVisitor(webSocket, { host, limits, contents, held }, address);
      const entry: Connected = { visitor, alive: true };
      connected.set(webSocket, entry);
      const heard = (): void => {
        entry.alive = true;
      };
      webSocket.on("pong", heard);
      webSocket.on("message", heard);
      webSocket.on("close", () => connected.delete(webSocket));
    });
  };

  let cancelHeartbeat: () => void;
  const beat = (): void => {
    for (const [webSocket, entry] of connected) {
      if (!entry.alive) {
        webSocket.terminate();
        continue;
      }
      entry.alive = false;
      // A browser answers this by itself, also in a tab whose timers are slowed down.
      webSocket.ping();
    }
    cancelHeartbeat = host.clock.timer(heartbeatMs, beat);
  };
  cancelHeartbeat = host.clock.timer(heartbeatMs, beat);

  return {
    socket: {
      path: "/widget/ws",
      upgrade(request, socket, head, remoteAddress) {
        const onError = (): void => {
          socket.destroy();
        };
        socket.on("error", onError);
        upgrade(request, socket, head, remoteAddress).catch((error: unknown) => {
          host.log.error({ err: error }, "widget: handshake failed");
          refuse(socket, 503, "The widget is not available at the moment.");
        });
      },
    },
    async close() {
      closing = true;
      cancelHeartbeat();
      const entries = [...connected];
      const gone = entries.map(([webSocket]) => new Promise((resolve) => webSocket.once("close", resolve)));
      for (const [webSocket] of entries) webSocket.close(1001, "restarting");
      const cancelGrace = host.clock.timer(closeGraceMs, () => {
        for (const [webSocket] of entries) webSocket.terminate();
      });
      await Promise.all(gone);
      cancelGrace();
      await Promise.all(entries.map(([, entry]) => entry.visitor.settled()));
      server.close();
    },
  };
}

function refuse(socket: Duplex, status: number, detail: string, headers: Readonly<Record<string, string>> = {}): void {
  if (socket.destroyed) return;
  const lines = Object.entries({
    ...(status === 503 ? { "Retry-After": "5" } : {}),
    ...headers,
    "Content-Type": "text/plain; charset=utf-8",
    "Content-Length": String(Buffer.byteLength(detail)),
    Connection: "close",
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  // Left half open, it would last as long as the other side likes, and keep the program from ending.
  socket.once("finish", () => socket.destroy());
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\n${lines.join("")}\r\n${detail}`);
}
