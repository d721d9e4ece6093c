import { STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";

/** Answers a handshake with an HTTP status, and closes the connection. */
export function refuseHandshake(
  socket: Duplex,
  status: number,
  detail: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  if (socket.destroyed) return;
  const lines = Object.entries({
    ...(status === 503 ? { "Retry-After": "5" } : {}),
    ...headers,
    "Content-Type": "text/plain; charset=utf-8",
    "Content-Length": String(Buffer.byteLength(detail)),
    Connection: "close",
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  // Half open, it would last until the client closes it, and keep the process from exiting.
  socket.once("finish", () => socket.destroy());
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\n${lines.join("")}\r\n${detail}`);
}
