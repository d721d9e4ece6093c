import { once } from "node:events";
import type { Socket } from "node:net";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { Customer, FakePlatform } from "./platform.ts";

/** The address of a subject's webhook, and the customers who write to it. */
export interface Target {
  readonly port: number;
  readonly path: string;
  readonly customers: readonly Customer[];
  readonly texts: readonly string[];
}

export interface Told {
  /** Milliseconds until the webhook was acknowledged and until the platform got the reply. */
  readonly acknowledged: Promise<number>;
  readonly replied: Promise<number>;
}

export interface Loads {
  /** A closed loop: each of `concurrent` customers writes again when the reply has come. */
  untilReply(target: Target, seconds: number): Promise<Closed>;
  /**
   * A closed loop: each of `concurrent` clients sends a webhook when the previous one is acknowledged. Each customer
   * writes once.
   */
  untilAcknowledged(target: Target): Promise<Closed>;
  /** `count` customers write at once, over `connections` connections. Resolves when all have their replies. */
  burst(target: Target, count: number, connections: number): Promise<Burst>;
  /** An open loop at a fixed rate. Latencies count from the scheduled time. */
  atRate(target: Target, perSecond: number, seconds: number): Promise<Latencies>;
  close(): void;
}

export interface Latencies {
  readonly acknowledgedMs: readonly number[];
  readonly repliedMs: readonly number[];
}

export interface Closed extends Latencies {
  readonly perSecond: number;
}

export interface Burst {
  /** Webhooks per second, from the first sent to the last acknowledged. */
  readonly acknowledgedPerSecond: number;
  /** Events per second, from the first webhook sent to the last reply. */
  readonly repliedPerSecond: number;
  readonly acknowledgedMs: readonly number[];
}

/** Much longer than any subject takes: a later reply counts as lost. */
const lostAfterMs = 60_000;

export function createLoads(platform: FakePlatform, concurrent: number): Loads {
  const awaited = new Map<string, ((at: number) => void)[]>();
  const pools = new Map<number, Pool>();
  platform.onReply((channel) => awaited.get(channel)?.shift()?.(performance.now()));

  function reply(channel: string): Promise<number> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`no reply came to ${channel}`)), lostAfterMs);
      const list = awaited.get(channel) ?? [];
      awaited.set(channel, list);
      list.push((at) => {
        clearTimeout(timer);
        resolve(at);
      });
    });
  }

  let written = 0;
  function tell({ port, path, texts }: Target, customer: Customer, at: number): Told {
    const text = texts[(written += 1) % texts.length] ?? "";
    const replied = reply(customer.channel).then((done) => done - at);
    let pool = pools.get(port);
    if (pool === undefined) pools.set(port, (pool = createPool(port)));
    // The caller sees the first failure of the promises that it awaits; the others need no handler.
    replied.catch(() => undefined);
    const acknowledged = pool.post(path, customer.write(text)).then(() => performance.now() - at);
    acknowledged.catch(() => undefined);
    return { acknowledged, replied };
  }

  /** Customers write in turns, so that none writes while waiting for a reply. */
  const turns = new Map<readonly Customer[], number>();
  function next({ customers }: Target): Customer {
    const from = turns.get(customers) ?? 0;
    for (let at = from; at < from + customers.length; at += 1) {
      const customer = customers[at % customers.length];
      if (customer === undefined || (awaited.get(customer.channel)?.length ?? 0) > 0) continue;
      turns.set(customers, at + 1);
      return customer;
    }
    throw new Error("every customer waits for a reply: give it more --customers, or a lower --rate");
  }

  /** Sends `count` webhooks over `connections` connections. Resolves when all are acknowledged. */
  async function pour(
    target: Target,
    count: number,
    connections: number,
  ): Promise<{ readonly told: readonly Told[]; readonly seconds: number }> {
    const all: Told[] = [];
    const started = performance.now();
    await Promise.all(
      Array.from({ length: connections }, async () => {
        while (all.length < count) {
          const told = tell(target, next(target), performance.now());
          all.push(told);
          await told.acknowledged;
        }
      }),
    );
    return { told: all, seconds: (performance.now() - started) / 1_000 };
  }

  return {
    async untilReply(target, seconds) {
      const acknowledgedMs: number[] = [];
      const repliedMs: number[] = [];
      const started = performance.now();
      const end = started + seconds * 1_000;
      await Promise.all(
        Array.from({ length: concurrent }, async () => {
          while (performance.now() < end) {
            const told = tell(target, next(target), performance.now());
            acknowledgedMs.push(await told.acknowledged);
            repliedMs.push(await told.replied);
          }
        }),
      );
      const perSecond = (repliedMs.length / (performance.now() - started)) * 1_000;
      return { acknowledgedMs, repliedMs, perSecond };
    },
    async untilAcknowledged(target) {
      const { told, seconds } = await pour(target, target.customers.length, concurrent);
      const acknowledgedMs = await Promise.all(told.map(({ acknowledged }) => acknowledged));
      const repliedMs = await Promise.all(told.map(({ replied }) => replied));
      return { acknowledgedMs, repliedMs, perSecond: told.length / seconds };
    },
    async burst(target, count, connections) {
      const started = performance.now();
      const { told, seconds } = await pour(target, count, connections);
      const acknowledgedMs = await Promise.all(told.map(({ acknowledged }) => acknowledged));
      await Promise.all(told.map(({ replied }) => replied));
      const repliedPerSecond = (count / (performance.now() - started)) * 1_000;
      return { acknowledgedPerSecond: count / seconds, repliedPerSecond, acknowledgedMs };
    },
    async atRate(target, perSecond, seconds) {
      const all: Told[] = [];
      const started = performance.now();
      const count = Math.floor(perSecond * seconds);
      for (let i = 0; i < count; i += 1) {
        const at = started + (i * 1_000) / perSecond;
        const early = at - performance.now();
        if (early > 0) await sleep(early);
        // A timer may fire slightly early.
        all.push(tell(target, next(target), Math.min(at, performance.now())));
      }
      return {
        acknowledgedMs: await Promise.all(all.map(({ acknowledged }) => acknowledged)),
        repliedMs: await Promise.all(all.map(({ replied }) => replied)),
      };
    },
    close() {
      for (const pool of pools.values()) pool.close();
    },
  };
}

interface Pool {
  post(path: string, message: ReturnType<Customer["write"]>): Promise<void>;
  close(): void;
}

/** Plain sockets that stay open: an HTTP client would use more processor time than the measured handlers. */
function createPool(port: number): Pool {
  const idle: Socket[] = [];
  const all = new Set<Socket>();

  async function open(): Promise<Socket> {
    const socket = connect({ port, host: "127.0.0.1", noDelay: true });
    all.add(socket);
    socket.setEncoding("latin1");
    await once(socket, "connect");
    const forget = (): void => {
      all.delete(socket);
      const at = idle.indexOf(socket);
      if (at >= 0) idle.splice(at, 1);
    };
    socket.on("close", forget);
    socket.on("error", forget);
    return socket;
  }

  return {
    async post(path, { body, headers }) {
      const socket = idle.pop() ?? (await open());
      await new Promise<void>((resolve, reject) => {
        let received = "";
        const onData = (data: string): void => {
          received += data;
          if (!isWhole(received)) return;
          end();
          if (!received.startsWith("HTTP/1.1 200")) {
            reject(new Error(`the webhook was answered with ${received.slice(0, 500)}`));
            return;
          }
          idle.push(socket);
          resolve();
        };
        const onClose = (): void => {
          end();
          reject(new Error("the connection closed before the webhook was acknowledged"));
        };
        const end = (): void => {
          socket.off("data", onData);
          socket.off("close", onClose);
        };
        socket.on("data", onData);
        socket.on("close", onClose);
        const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
        socket.write(
          `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n${lines.join("")}Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
        );
      });
    },
    close() {
      for (const socket of all) socket.destroy();
    },
  };
}

function isWhole(received: string): boolean {
  const headEnd = received.indexOf("\r\n\r\n");
  if (headEnd < 0) return false;
  const length = /\r\ncontent-length: (\d+)/i.exec(received)?.[1];
  if (length !== undefined) return received.length >= headEnd + 4 + Number(length);
  return /\r\ntransfer-encoding: chunked/i.test(received) ? received.endsWith("0\r\n\r\n") : true;
}
