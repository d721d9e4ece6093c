import { setTimeout as sleep } from "node:timers/promises";
import { WebSocket } from "ws";
import type { ServerFrame } from "#adapters/widget/frames.ts";

const againMs = 100;

export interface Teller {
  /** Resolves when the message is acknowledged. */
  readonly told: Promise<void>;
  /** Who wrote what has been sent to the customer's browser by now. */
  shown(): readonly string[];
  close(): void;
}

/** A customer of the widget with one thing to say, who comes back and says it again until it is acknowledged. */
export function openTeller(socketUrl: string, clientId: string, text: string): Teller {
  const told = Promise.withResolvers<void>();
  const shown: string[] = [];
  let token: string | undefined;
  let conversation: string | undefined;
  let lastSeq = 0;
  let acknowledged = false;
  let closed = false;
  let socket: WebSocket | undefined;

  function connect(): void {
    if (closed) return;
    const current = new WebSocket(socketUrl, { perMessageDeflate: false });
    socket = current;
    let ready = false;
    current.on("open", () => {
      const known = conversation === undefined ? {} : { conversation };
      const frame = { kind: "hello", lastSeq, seen: lastSeq, ...known, ...(token === undefined ? {} : { token }) };
      current.send(JSON.stringify(frame));
    });
    current.on("message", (data: Buffer) => {
      const frame = JSON.parse(data.toString("utf8")) as ServerFrame;
      if (frame.kind === "ready") {
        token = frame.token;
        conversation = frame.conversation ?? conversation;
        if (!ready && !acknowledged) current.send(JSON.stringify({ kind: "send", clientId, text }));
        ready = true;
      } else if (frame.kind === "ack") {
        acknowledged = true;
        told.resolve();
      } else if (frame.kind === "message") {
        shown.push(frame.role);
        lastSeq = frame.seq;
      }
    });
    current.on("error", () => undefined);
    current.on("close", () => void sleep(againMs).then(connect));
  }

  connect();
  return {
    told: told.promise,
    shown: () => shown,
    close() {
      closed = true;
      socket?.terminate();
    },
  };
}
