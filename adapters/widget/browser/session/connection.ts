import type { ClientFrame, HelloFrame, ServerFrame } from "../../frames.ts";
import type { Settings } from "../settings.ts";
import { createWatchdog } from "./watchdog.ts";

export type ConnectionStatus = "idle" | "connecting" | "online" | "offline" | "refused" | "expired";

/** A socket that reconnects by itself. It sends frames only between `ready` and the loss of the connection. */
export interface Connection {
  /** Connects, and stays connected from now on. */
  open(): void;
  /** Drops the connection and connects again. */
  restart(): void;
  /** False: there is no connection, and the frame was not sent. */
  send(frame: ClientFrame): boolean;
}

export interface ConnectionEvents {
  /** Makes the first frame of each connection. */
  hello(): HelloFrame;
  frame(frame: ServerFrame): void;
  status(status: ConnectionStatus): void;
  /** The server does not accept the session's token. */
  badToken(): void;
  /** Ends the connection for good. */
  readonly ended: AbortSignal;
}

const backoffMinMs = 500;
const backoffMaxMs = 30_000;
const limitedMinMs = 15_000;

/** Doubles from half a second to half a minute; random in its upper half, so that clients do not return all at once. */
export function backoffMs(attempt: number, random: number): number {
  return Math.min(backoffMaxMs, backoffMinMs * 2 ** attempt) * (0.5 + random / 2);
}

export function createConnection(url: string, events: ConnectionEvents): Connection {
  let socket: WebSocket | undefined;
  let wanted = false;
  let ready = false;
  let attempt = 0;
  let retryTimer: number | undefined;

  const connect = (): void => {
    clearTimeout(retryTimer);
    if (!wanted || socket !== undefined) return;
    if (!navigator.onLine) return events.status("offline");
    events.status("connecting");
    const own = new WebSocket(url);
    socket = own;
    // A connection that does not reach `ready` in time is lost, too.
    watchdog.expectAnswer();
    own.addEventListener("open", () => {
      if (socket === own) own.send(JSON.stringify(events.hello()));
    });
    own.addEventListener("message", (event) => {
      if (socket === own) receive(JSON.parse(String(event.data)) as ServerFrame);
    });
    own.addEventListener("close", (event) => {
      if (socket === own) lost(event.code);
    });
  };

  const receive = (frame: ServerFrame): void => {
    watchdog.heard();
    if (frame.kind === "ready") {
      ready = true;
      attempt = 0;
      watchdog.start();
      events.status("online");
    }
    events.frame(frame);
  };

  const lost = (code: number): void => {
    socket = undefined;
    ready = false;
    watchdog.stop();
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

  const connectNow = (): void => {
    attempt = 0;
    connect();
  };

  const watchdog = createWatchdog(() => socket?.send('{"kind":"ping"}'), drop);
  const untilEnd = { signal: events.ended };
  addEventListener("online", connectNow, untilEnd);
  addEventListener("pageshow", connectNow, untilEnd);
  addEventListener(
    "offline",
    () => {
      drop();
      if (wanted) events.status("offline");
    },
    untilEnd,
  );
  document.addEventListener(
    "visibilitychange",
    () => {
      if (document.visibilityState !== "visible") return;
      connectNow();
      // The computer may have been suspended, and the connection lost.
      if (ready) watchdog.check();
    },
    untilEnd,
  );
  events.ended.addEventListener("abort", () => {
    wanted = false;
    drop();
    clearTimeout(retryTimer);
  });

  return {
    open() {
      wanted = true;
      connect();
    },
    restart() {
      drop();
      connectNow();
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
