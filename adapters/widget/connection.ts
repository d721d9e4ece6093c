import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { WebSocket } from "ws";
import { WebSocketServer } from "ws";
import type { Account, ChannelHost, SiteSocket } from "#channels/contract.ts";
import type { Limits } from "./config.ts";
import { createRenderer } from "./render.ts";
import { originAllowed } from "./site/origins.ts";
import type { AddressSlots } from "./sockets/addresses.ts";
import { addressKey } from "./sockets/addresses.ts";
import { startHeartbeat } from "./sockets/heartbeat.ts";
import { refuseHandshake } from "./sockets/refusal.ts";
import type { SocketBytes } from "./sockets/socket-bytes.ts";
import type { Visitor } from "./visitor/visitor.ts";
import { serveVisitor } from "./visitor/visitor.ts";

const frameBytesMax = 64 * 1024;
/** A frame that arrives in tiny pieces costs many times its bytes. */
const piecesMax = { maxBufferedChunks: 256, maxFragments: 64 };
const closeGraceMs = 1_000;
const tryAgainLater = 1013;
const retryInAMinute = { "Retry-After": "60" };

export interface Sockets {
  readonly socket: SiteSocket;
  /** Closes all sockets and waits for their work. */
  close(): Promise<void>;
}

/** The sockets of one account in this process. `bytes` counts those of all accounts. */
export function openSockets(
  account: Account,
  host: ChannelHost,
  limits: Limits,
  slots: AddressSlots,
  bytes: SocketBytes,
): Sockets {
  // Compression of frames this small costs more than it saves.
  const server = new WebSocketServer({
    noServer: true,
    maxPayload: frameBytesMax,
    perMessageDeflate: false,
    ...piecesMax,
  });
  const visitors = new Map<WebSocket, Visitor>();
  const renderer = createRenderer();
  const heartbeat = startHeartbeat(host.clock);
  let closing = false;

  /** Refuses the handshake, or takes a slot of the address. */
  const admit = async (request: IncomingMessage, socket: Duplex, address: string): Promise<boolean> => {
    const refuse = (...answer: [status: number, detail: string, headers?: Readonly<Record<string, string>>]): false => {
      refuseHandshake(socket, ...answer);
      return false;
    };
    if (closing) return refuse(503, "The server is restarting.");
    if (!limits.connection(address)) return refuse(429, "Too many connections in a short time.", retryInAMinute);
    const freeSlot = slots.take(address);
    if (freeSlot === undefined) return refuse(429, "Too many open connections from this address.", retryInAMinute);
    socket.once("close", freeSlot);
    const { allowedOrigins } = await host.workspace();
    if (!originAllowed(request.headers, account.channel, allowedOrigins)) {
      host.log.warn({ origin: request.headers.origin ?? null }, "widget: origin refused");
      return refuse(403, "This page may not use this widget: its origin is not in the workspace's list.");
    }
    return !socket.destroyed;
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
    if (!(await admit(request, socket, address))) return;
    server.handleUpgrade(request, socket, head, (webSocket) => {
      // Emitted for frames that are too large or malformed; ws closes the socket with the matching code.
      webSocket.on("error", (error) => host.log.info({ reason: error.message }, "widget: protocol error"));
      const memory = bytes.watch({ address, socket: webSocket, connection, start, evict: () => evict(webSocket) });
      visitors.set(webSocket, serveVisitor(webSocket, host, limits, renderer, memory, address));
      heartbeat.watch(webSocket);
      webSocket.on("close", () => visitors.delete(webSocket));
    });
  };

  /** Closes the sockets, and terminates those that do not complete the closing handshake in time. */
  const closeGracefully = async (sockets: readonly WebSocket[], code: number, reason: string): Promise<void> => {
    const closed = sockets.map((socket) => new Promise((resolve) => socket.once("close", resolve)));
    for (const socket of sockets) socket.close(code, reason);
    const cancelGrace = host.clock.timer(closeGraceMs, () => {
      for (const socket of sockets) socket.terminate();
    });
    await Promise.all(closed);
    cancelGrace();
  };

  const evict = (webSocket: WebSocket): void => {
    host.log.warn({ channel: account.channel }, "widget: socket closed, sockets hold too many bytes");
    void closeGracefully([webSocket], tryAgainLater, "try again later");
  };

  return {
    socket: {
      path: "/widget/ws",
      upgrade(request, socket, head, remoteAddress) {
        socket.on("error", () => void socket.destroy());
        upgrade(request, socket, head, remoteAddress).catch((error: unknown) => {
          host.log.error({ err: error }, "widget: handshake failed");
          refuseHandshake(socket, 503, "The widget is not available at the moment.");
        });
      },
    },
    async close() {
      closing = true;
      heartbeat.stop();
      const open = [...visitors];
      await closeGracefully(
        open.map(([webSocket]) => webSocket),
        1001,
        "restarting",
      );
      await Promise.all(open.map(([, visitor]) => visitor.settled()));
      server.close();
    },
  };
}
