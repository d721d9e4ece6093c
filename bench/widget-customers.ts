import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { WebSocket } from "ws";
import { newId } from "#domain/ids.ts";
import type { ServerFrame } from "#adapters/widget/frames.ts";
import type { ClosedLoop } from "./http-connections.ts";
import { manualQuestions as questions } from "./manual-questions.ts";

export interface Customer {
  /** Sends a question, or this text. `at`: the scheduled time. */
  ask(at: number, text?: string): SentQuestion;
  close(): void;
}

export interface SentQuestion {
  /** Milliseconds from `at` until the message was acknowledged as durable. */
  readonly acknowledged: Promise<number>;
  /** Milliseconds from `at` until the frame with the answer came. */
  readonly answered: Promise<number>;
}

interface PendingMessage {
  readonly at: number;
  readonly acknowledge: (ms: number) => void;
  readonly answer: (ms: number) => void;
  seq: number;
}

export async function openCustomers(socketUrl: string, count: number): Promise<readonly Customer[]> {
  const customers: Customer[] = [];
  for (let i = 0; i < count; i += 1) customers.push(await openCustomer(socketUrl, i));
  return customers;
}

async function openCustomer(socketUrl: string, offset: number): Promise<Customer> {
  const socket = new WebSocket(socketUrl, { perMessageDeflate: false });
  const waiting = new Map<string, PendingMessage>();
  let asked = offset;
  await once(socket, "open");
  const ready = Promise.withResolvers<void>();
  socket.on("message", (data: Buffer) => {
    const frame = JSON.parse(data.toString("utf8")) as ServerFrame;
    const now = performance.now();
    if (frame.kind === "ready") ready.resolve();
    if (frame.kind === "nack" || frame.kind === "error") throw new Error(`a customer was refused: ${frame.detail}`);
    if (frame.kind === "ack") {
      const own = waiting.get(frame.clientId);
      if (own === undefined) return;
      own.seq = frame.seq ?? Number.NaN;
      own.acknowledge(now - own.at);
    }
    if (frame.kind === "message" && frame.role !== "user") {
      for (const [clientId, own] of waiting) {
        if (own.seq >= frame.seq) continue;
        waiting.delete(clientId);
        own.answer(now - own.at);
      }
    }
  });
  socket.send(JSON.stringify({ kind: "hello", lastSeq: 0 }));
  await ready.promise;
  return {
    ask(at, text = questions[asked % questions.length]) {
      const acknowledged = Promise.withResolvers<number>();
      const answered = Promise.withResolvers<number>();
      const clientId = newId("msg", Date.now());
      waiting.set(clientId, {
        at,
        acknowledge: acknowledged.resolve,
        answer: answered.resolve,
        seq: Number.POSITIVE_INFINITY,
      });
      asked += 1;
      socket.send(JSON.stringify({ kind: "send", clientId, text }));
      return { acknowledged: acknowledged.promise, answered: answered.promise };
    },
    close: () => socket.close(),
  };
}

/** Hands these conversations over to agents, so that the bot does not answer them. */
export async function handOver(customers: readonly Customer[]): Promise<void> {
  const handedOverAtOnce = 20;
  for (let at = 0; at < customers.length; at += handedOverAtOnce) {
    const step = customers.slice(at, at + handedOverAtOnce);
    await Promise.all(step.map((customer) => customer.ask(performance.now(), "I want to talk to a human").answered));
  }
}

/**
 * `concurrent` customers at a time, each of whom sends when the previous message is acknowledged, or answered.
 * Customers are replaced after a few messages, since conversations are short.
 */
export async function closedLoop(
  customers: readonly Customer[],
  concurrent: number,
  until: "acknowledged" | "answered",
  seconds: number,
): Promise<ClosedLoop> {
  const latenciesMs: number[] = [];
  const started = performance.now();
  const end = started + seconds * 1_000;
  let ended = started;
  let next = 0;
  const takeTurns = async (): Promise<void> => {
    while (performance.now() < end) {
      const customer = customers[next % customers.length];
      next += 1;
      if (customer === undefined) throw new Error("there are no customers");
      let last: SentQuestion | undefined;
      for (let i = 0; i < turnLength && performance.now() < end; i += 1) {
        last = customer.ask(performance.now());
        latenciesMs.push(await last[until]);
        ended = Math.max(ended, performance.now());
      }
      if (until === "answered") await last?.answered;
    }
  };
  await Promise.all(Array.from({ length: concurrent }, takeTurns));
  return { perSecond: (latenciesMs.length / (ended - started)) * 1_000, latenciesMs };
}

const turnLength = 5;

export interface OpenLoop {
  readonly acknowledgedMs: readonly number[];
  readonly answeredMs: readonly number[];
}

/** Sends messages at a fixed rate; customers write in turns. Latencies count from the scheduled time. */
export async function openLoop(customers: readonly Customer[], perSecond: number, seconds: number): Promise<OpenLoop> {
  const asked: SentQuestion[] = [];
  const started = performance.now();
  const count = Math.floor(perSecond * seconds);
  for (let i = 0; i < count; i += 1) {
    const at = started + (i * 1_000) / perSecond;
    const early = at - performance.now();
    if (early > 0) await sleep(early);
    const customer = customers[i % customers.length];
    if (customer !== undefined) asked.push(customer.ask(at));
  }
  return {
    acknowledgedMs: await Promise.all(asked.map((each) => each.acknowledged)),
    answeredMs: await Promise.all(asked.map((each) => each.answered)),
  };
}
