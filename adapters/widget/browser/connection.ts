import type { ClientFrame, HelloFrame, ServerFrame } from "../frames.ts";
import type { Settings } from "./settings.ts";

export type Status = "idle" | "connecting" | "online" | "offline" | "refused" | "expired";

/** A socket that comes back by itself. Frames are only sent between `ready` and the loss of the connection. */
export interface Connection {
  /** Connects now, if it is not connected; from here on it stays so. */
  open(): void;
  /** Begins anew, as after a loss. */
  restart(): void;
  send(frame: ClientFrame): boolean;
}

export interface ConnectionEvents {
  hello(): HelloFrame;
  frame(frame: ServerFrame): void;
  status(status: Status): void;
  /** Our token is worth nothing. */
  badToken(): void;
}

const heartbeatMs = 25_000;
const silenceMaxMs = 10_000;
const backoffMinMs = 500;
const backoffMaxMs = 30_000;
const limitedMinMs = 15_000;

/** Doubles from half a second to half a minute; at random in its upper half, so that a crowd does not come back at once. */
export function backoffMs(attempt: number, random: number): number {
  return Math.min(backoffMaxMs, backoffMinMs * 2 ** attempt) * (0.5 + random / 2);
}

export function createConnection(url: string, events: ConnectionEvents): Connection {
  let socket: WebSocket | undefined;
  let wanted = false;
  let ready = false;
  let attempt = 0;
  let retryTimer: number | undefined;
  let beatTimer: number | undefined;
  let silenceTimer: number | undefined;

  const connect = (): void => {
    clearTimeout(retryTimer);
    if (!wanted || socket !== undefined) return;
    if (!navigator.onLine) return events.status("offline");
    events.status("connecting");
    const own = new WebSocket(url);
    socket = own;
    // Half-open networks: a connection that does not come to its ready is given up like one that fell silent.
    expectSomething();
    own.addEventListener("open", () => {
      if (socket === own) own.send(JSON.stringify(events.hello()));
    });
    own.addEventListener("message", (event) => {
      if (socket !== own) return;
      clearTimeout(silenceTimer);
      const frame = JSON.parse(String(event.data)) as ServerFrame;
      if (frame.kind === "ready") {
        ready = true;
        attempt = 0;
        beat();
        events.status("online");
      }
      events.frame(frame);
    });
    own.addEventListener("close", (event) => {
      if (socket === own) lost(event.code);
    });
  };

  const lost = (code: number): void => {
    socket = undefined;
    ready = false;
    clearTimeout(beatTimer);
    clearTimeout(silenceTimer);
    if (code === 4403 || code === 4402) {
      wanted = false;
      return events.status(code === 4403 ? "refused" : "expired");
    }
    if (code === 4401) events.badToken();
    events.status(navigator.onLine ? "connecting" : "offline");
    const wait = backoffMs(attempt, Math.random());
    attempt += 1;
    retryTimer = window.setTimeout(connect, code === 4429 || code === 4400 ? Math.max(wait, limitedMinMs) : wait);
  };

  const drop = (): void => {
    const old = socket;
    if (old === undefined) return;
    lost(1006);
    old.close();
  };

  const expectSomething = (): void => {
    clearTimeout(silenceTimer);
    silenceTimer = window.setTimeout(drop, silenceMaxMs);
  };

  const beat = (): void => {
    clearTimeout(beatTimer);
    beatTimer = window.setTimeout(() => {
      if (!ready) return;
      socket?.send('{"kind":"ping"}');
      expectSomething();
      beat();
    }, heartbeatMs);
  };

  const now = (): void => {
    attempt = 0;
    connect();
  };
  addEventListener("online", now);
  addEventListener("offline", () => {
    drop();
    if (wanted) events.status("offline");
  });
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState !== "visible") return;
    now();
    // The machine may have slept: ask at once whether the connection still lives.
    if (ready) {
      socket?.send('{"kind":"ping"}');
      expectSomething();
    }
  });
  addEventListener("pageshow", now);

  return {
    open() {
      wanted = true;
      connect();
    },
    restart() {
      drop();
      now();
    },
    send(frame) {
      if (!ready || socket?.readyState !== WebSocket.OPEN) return false;
      socket.send(JSON.stringify(frame));
      return true;
    },
  };
}

export function socketUrl(settings: Settings): string {
  const url = new URL("widget/ws", settings.base);
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  url.search = new URLSearchParams({ workspace: settings.workspace, channel: settings.channel }).toString();
  return url.href;
}
