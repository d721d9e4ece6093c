import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { WebSocket } from "ws";
import type { MessageFrame, ReadyFrame, ServerFrame } from "#adapters/widget/frames.ts";
import { questions } from "../support/program/installation.ts";

/** Everything one customer's browser received and displayed, over all its connections. */
export interface CustomerRecord {
  readonly name: string;
  readonly token: string | undefined;
  readonly conversation: string | undefined;
  /** Keyed by the browser's id of the message. */
  readonly acknowledged: ReadonlyMap<string, { readonly seq: number; readonly id: string }>;
  readonly unacknowledged: number;
  /** In the order of display. */
  readonly shown: readonly Pick<MessageFrame, "seq" | "id" | "role">[];
  readonly violations: readonly string[];
  readonly connections: number;
  /** The number of repeated sends after a missing acknowledgement. */
  readonly resent: number;
}

export interface Customer {
  record(): CustomerRecord;
  /** Stops asking, and resolves when all messages are acknowledged and answered. */
  finish(withinMs: number): Promise<void>;
  close(): void;
}

const reconnectMs = 60;
/** After this time without an answer, the customer sends another question, as people do. */
const patienceMs = 4_000;

/** Sends questions over the widget's protocol, and reconnects whenever the connection breaks. */
export function openCustomer(name: string, socketUrl: string, random: () => number): Customer {
  const acknowledged = new Map<string, { seq: number; id: string }>();
  const shown: Pick<MessageFrame, "seq" | "id" | "role">[] = [];
  const shownIds = new Set<string>();
  const violations: string[] = [];
  const outbox = new Map<string, string>();
  let token: string | undefined;
  let conversation: string | undefined;
  let lastSeq = 0;
  let connections = 0;
  let resent = 0;
  let asking = true;
  let closed = false;
  let socket: WebSocket | undefined;
  let onProgress: () => void = () => undefined;

  const answered = (): boolean => {
    const newestAsked = Math.max(0, ...[...acknowledged.values()].map(({ seq }) => seq));
    const newestAnswer = shown.findLast(({ role }) => role !== "user")?.seq ?? 0;
    return outbox.size === 0 && newestAnswer > newestAsked;
  };

  function connect(): void {
    if (closed) return;
    const current = new WebSocket(socketUrl, { perMessageDeflate: false });
    socket = current;
    const sentHere = new Set<string>();
    let rewound = false;
    let ready = false;
    const send = (frame: object): void => current.send(JSON.stringify(frame));
    const sendOutbox = (): void => {
      for (const [clientId, text] of outbox) {
        if (sentHere.has(clientId)) continue;
        sentHere.add(clientId);
        send({ kind: "send", clientId, text });
      }
    };
    flush = () => {
      if (ready && current.readyState === WebSocket.OPEN) sendOutbox();
    };
    current.on("open", () => {
      connections += 1;
      resent += outbox.size;
      const conversationField = conversation === undefined ? {} : { conversation };
      send({ kind: "hello", lastSeq, seen: lastSeq, ...conversationField, ...(token === undefined ? {} : { token }) });
    });
    current.on("message", (data: Buffer) => {
      const frame = JSON.parse(data.toString("utf8")) as ServerFrame;
      switch (frame.kind) {
        case "ready":
          takeReady(frame);
          if (!ready) {
            ready = true;
            sendOutbox();
          }
          break;
        case "ack":
          takeAck(frame);
          break;
        case "nack":
          // The store is closing with its process: the message is sent again on the next connection.
          if (frame.code !== "unavailable") violations.push(`${name}: ${frame.clientId} was refused: ${frame.code}`);
          break;
        case "message":
          if (frame.seq <= lastSeq) {
            if (!rewound)
              violations.push(`${name}: message ${frame.seq} was repeated on a connection that had it already`);
          } else if (frame.prev > lastSeq) {
            rewound = true;
            violations.push(`${name}: after message ${lastSeq} came ${frame.seq}, which follows ${frame.prev}`);
            send({ kind: "resume", lastSeq });
          } else {
            takeMessage(frame);
            if (frame.role !== "user") send({ kind: "seen", seq: frame.seq });
          }
          break;
        case "error":
          violations.push(`${name}: error ${frame.code}: ${frame.detail}`);
          break;
        case "older":
        case "changed":
        case "feedback":
        case "reaction":
        case "rated":
        case "standing":
        case "typing":
        case "lead_saved":
        case "pong":
          break;
      }
      onProgress();
    });
    current.on("error", () => undefined);
    current.on("close", () => {
      if (!closed) setTimeout(connect, reconnectMs * (0.5 + random()));
    });
  }

  function takeReady(frame: ReadyFrame): void {
    token = frame.token;
    if (frame.after < lastSeq)
      violations.push(`${name}: had message ${lastSeq}, and was restarted after ${frame.after}`);
    if (conversation !== undefined && frame.conversation !== conversation) {
      violations.push(`${name}: the conversation ${conversation} became ${String(frame.conversation)}`);
    }
    conversation = frame.conversation ?? conversation;
  }

  function takeAck({ clientId, seq, id }: Extract<ServerFrame, { kind: "ack" }>): void {
    outbox.delete(clientId);
    if (seq === null || id === null) {
      violations.push(`${name}: ${clientId} was acknowledged without a number`);
      return;
    }
    const before = acknowledged.get(clientId);
    if (before !== undefined && (before.seq !== seq || before.id !== id)) {
      violations.push(`${name}: ${clientId} was acknowledged as ${before.seq} and as ${seq}`);
    }
    acknowledged.set(clientId, { seq, id });
  }

  function takeMessage({ seq, id, role }: MessageFrame): void {
    if (seq !== lastSeq + 1) violations.push(`${name}: after message ${lastSeq} came ${seq}`);
    if (shownIds.has(id)) violations.push(`${name}: message ${id} was shown twice`);
    shownIds.add(id);
    shown.push({ seq, id, role });
    lastSeq = seq;
  }

  let flush: () => void = () => undefined;

  function ask(): void {
    const question = questions[Math.floor(random() * questions.length)] ?? questions[0];
    outbox.set(randomBytes(12).toString("hex"), question);
    flush();
  }

  async function untilAnswered(ms: number): Promise<boolean> {
    if (answered()) return true;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const timer = setTimeout(() => resolve(false), ms);
    onProgress = () => {
      if (answered()) resolve(true);
    };
    const inTime = await promise;
    clearTimeout(timer);
    return inTime;
  }

  async function askOn(): Promise<void> {
    await sleep(random() * 500);
    while (asking) {
      ask();
      // Some customers send several messages in a row, also while the first answer is being generated.
      while (random() < 0.3) {
        await sleep(random() * 30);
        ask();
      }
      await untilAnswered(patienceMs);
      await sleep(random() * 150);
    }
  }

  connect();
  const asked = askOn();

  return {
    record: () => ({
      name,
      token,
      conversation,
      acknowledged,
      unacknowledged: outbox.size,
      shown,
      violations,
      connections,
      resent,
    }),
    async finish(withinMs) {
      asking = false;
      await asked;
      await untilAnswered(withinMs);
    },
    close() {
      closed = true;
      socket?.terminate();
    },
  };
}

/** The whole conversation, as a new browser gets it. */
export function fetchHistory(
  socketUrl: string,
  token: string,
): Promise<readonly Pick<MessageFrame, "seq" | "id" | "role" | "clientId">[]> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(socketUrl, { perMessageDeflate: false });
    const history: Pick<MessageFrame, "seq" | "id" | "role" | "clientId">[] = [];
    const timer = setTimeout(() => reject(new Error("the history did not come within 10 seconds")), 10_000);
    const end = (): void => {
      clearTimeout(timer);
      socket.close();
      resolve(history);
    };
    let lastSeq = 0;
    socket.on("open", () => socket.send(JSON.stringify({ kind: "hello", token, lastSeq: 0 })));
    socket.on("error", reject);
    socket.on("message", (data: Buffer) => {
      const frame = JSON.parse(data.toString("utf8")) as ServerFrame;
      if (frame.kind === "ready") lastSeq = frame.lastSeq;
      if (frame.kind === "message") {
        const { seq, id, role, clientId } = frame;
        history.push({ seq, id, role, ...(clientId === undefined ? {} : { clientId }) });
      }
      if (history.length >= lastSeq && (frame.kind === "message" || lastSeq === 0)) end();
    });
  });
}
