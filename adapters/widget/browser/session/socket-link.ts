import type { ServerFrame } from "../../frames.ts";
import type { OpenLink } from "./link.ts";

function openSocket(base: URL, query: URLSearchParams): WebSocket {
  const url = new URL("widget/ws", base);
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  url.search = query.toString();
  return new WebSocket(url.href);
}

/** Calls back if WebSockets get through. */
export function trySocket(base: URL, query: URLSearchParams, opened: () => void): void {
  const socket = openSocket(base, query);
  socket.addEventListener("open", () => {
    socket.close();
    opened();
  });
}

export const openSocketLink: OpenLink = (base, query, { hello, frame, closed }) => {
  const socket = openSocket(base, query);
  const ended = new AbortController();
  const untilEnd = { signal: ended.signal };
  socket.addEventListener("open", () => socket.send(JSON.stringify(hello())), untilEnd);
  socket.addEventListener("message", ({ data }) => frame(JSON.parse(String(data)) as ServerFrame), untilEnd);
  socket.addEventListener("close", ({ code }) => closed(code), untilEnd);

  return {
    send(given) {
      if (socket.readyState !== WebSocket.OPEN) return false;
      socket.send(JSON.stringify(given));
      return true;
    },
    close() {
      ended.abort();
      socket.close();
    },
  };
};
