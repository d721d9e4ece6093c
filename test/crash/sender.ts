import { setTimeout as sleep } from "node:timers/promises";
import { WebSocket } from "ws";
import type { ServerFrame } from "#adapters/widget/frames.ts";

const againMs = 100;

export interface Sender {
  /** Resolves when the message is acknowledged. */
  readonly acknowledged: Promise<void>;
  /** The roles of the messages that the customer's browser has got so far. */
  shown(): readonly string[];
  close(): void;
}

/** A customer in the widget with a single message, who reconnects and sends it again until it is acknowledged. */
export function openSender(socketUrl: string, clientId: string, text: string): Sender {
  const acknowledged = Promise.withResolvers<void>();
  const shown: string[] = [];
  let token: string | undefined;
  let conversation: string | undefined;
  let lastSeq = 0;
  let isAcknowledged = false;
  let closed = false;
  let socket: WebSocket | undefined;

  function connect(): void {
    if (closed) return;
    const current = new WebSocket(socketUrl, { perMessageDeflate: false });
    socket = current;
    let ready = false;
    current.on("open", () => {
      const conversationField = conversation === undefined ? {} : { conversation };
      const frame = {
        kind: "hello",
        lastSeq,
        seen: lastSeq,
        ...conversationField,
        ...(token === undefined ? {} : { token }),
      };
      current.send(JSON.stringify(frame));
    });
    current.on("message", (data: Buffer) => {
      const frame = JSON.parse(data.toString("utf8")) as ServerFrame;
      if (frame.kind === "ready") {
        token = frame.token;
        conversation = frame.conversation ?? conversation;
        if (!ready && !isAcknowledged) current.send(JSON.stringify({ kind: "send", clientId, text }));
        ready = true;
      } else if (frame.kind === "ack") {
        isAcknowledged = true;
        acknowledged.resolve();
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
    acknowledged: acknowledged.promise,
    shown: () => shown,
    close() {
      closed = true;
      socket?.terminate();
    },
  };
}
