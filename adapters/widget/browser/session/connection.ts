import type { ClientFrame, HelloFrame, ServerFrame } from "../../frames.ts";
import type { Settings } from "../settings.ts";
import type { Stored } from "../storage/chat-storage.ts";
import { openHttpLink } from "./http-link.ts";
import type { Link } from "./link.ts";
import { lostCode } from "./link.ts";
import { openSocketLink, trySocket } from "./socket-link.ts";
import { createWatchdog } from "./watchdog.ts";

/** `connecting`: the first attempt, which is no problem until it fails. */
export type ConnectionStatus = "idle" | "connecting" | "reconnecting" | "online" | "offline" | "refused" | "expired";

/** Reconnects by itself, over HTTP where WebSockets do not get through. It sends frames only between `ready` and the loss of the connection. */
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

/** Connections in a row that may fail before the other transport is tried. A silent one counts as all of them. */
const failuresMax = 2;
/** While frames go over HTTP, WebSockets are tried again this often. */
const probeMs = 120_000;

/** `remembered`: whether this tab has found that WebSockets do not get through. */
export function createConnection(
  { base, workspace, channel }: Settings,
  remembered: Stored<boolean>,
  events: ConnectionEvents,
): Connection {
  const query = new URLSearchParams({ workspace, channel });
  let link: Link | undefined;
  let wanted = false;
  let ready = false;
  let attempt = 0;
  let failures = 0;
  let overHttp = remembered.read();
  let retryTimer: number | undefined;
  let probeTimer: number | undefined;

  const connect = (): void => {
    clearTimeout(retryTimer);
    if (!wanted || events.ended.aborted || link !== undefined) return;
    if (!navigator.onLine) return events.status("offline");
    events.status(attempt === 0 ? "connecting" : "reconnecting");
    const open = overHttp ? openHttpLink : openSocketLink;
    const own: Link = open(base, query, {
      hello: events.hello,
      frame(frame) {
        if (link === own) receive(frame);
      },
      closed(code) {
        if (link === own) lost(code);
      },
    });
    link = own;
    // A connection that does not reach `ready` in time is lost, too.
    watchdog.expectAnswer();
  };

  const receive = (frame: ServerFrame): void => {
    watchdog.heard();
    if (frame.kind === "ready" && !ready) {
      ready = true;
      attempt = 0;
      failures = 0;
      remembered.write(overHttp);
      watchdog.start();
      if (overHttp) probeTimer = window.setTimeout(probe, probeMs);
      events.status("online");
    }
    events.frame(frame);
  };

  /** Some proxies refuse WebSockets, and some let them hang. */
  const failed = (count: number): void => {
    failures += count;
    if (failures < failuresMax) return;
    failures = 0;
    overHttp = !overHttp;
  };

  /** The server may have been away when WebSockets failed. */
  const probe = (): void => {
    trySocket(base, query, () => {
      if (!ready || !overHttp) return;
      overHttp = false;
      drop();
      connectNow();
    });
    probeTimer = window.setTimeout(probe, probeMs);
  };

  const lost = (code: number, isSilent = false): void => {
    if (!ready && code === lostCode && navigator.onLine) failed(isSilent ? failuresMax : 1);
    link = undefined;
    ready = false;
    watchdog.stop();
    clearTimeout(probeTimer);
    if (code === 4403 || code === 4402) {
      wanted = false;
      return events.status(code === 4403 ? "refused" : "expired");
    }
    if (code === 4401) events.badToken();
    const wait = backoffMs(attempt, Math.random());
    attempt += 1;
    events.status(navigator.onLine ? "reconnecting" : "offline");
    retryTimer = window.setTimeout(connect, code === 4429 || code === 4400 ? Math.max(wait, limitedMinMs) : wait);
  };

  const drop = (isSilent = false): void => {
    const old = link;
    if (old === undefined) return;
    old.close();
    lost(lostCode, isSilent);
  };

  const connectNow = (): void => {
    attempt = 0;
    connect();
  };

  const watchdog = createWatchdog(
    () => void link?.send({ kind: "ping" }),
    () => drop(true),
  );
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
    send: (frame) => ready && link?.send(frame) === true,
  };
}
