import { Queue, Worker } from "bullmq";
import { Redis } from "ioredis";
import type { Clock } from "#runtime/clock.ts";
import type { Fanout } from "#runtime/signals.ts";
import type { Log } from "#runtime/log.ts";
import type { OpenWake } from "./in-process.ts";
import { createInProcessFanout } from "./in-process.ts";

export interface RedisSignals {
  readonly wake: OpenWake;
  readonly fanout: Fanout;
  /** Null when Redis answers, else why it does not. */
  state(): Promise<string | null>;
}

export interface RedisOptions {
  readonly url: string;
  readonly clock: Clock;
  readonly log: Log;
  /** Signals of installations that share a Redis do not mix. */
  readonly prefix?: string;
}

interface LaneSignal {
  readonly lane: string;
  readonly dueAt: number;
}

const queueName = "lanes";
const delayMaxMs = 60_000;

/**
 * Signals between processes over Redis: BullMQ notifies one worker of a lane with work, publish/subscribe notifies
 * every process of changes. These are only hints; the work itself is in the database. During an outage of Redis,
 * workers find work by polling, and customers see answers on the process that holds their socket only after they
 * reconnect or write again.
 */
export async function openRedisSignals({ url, clock, log, prefix = "parley" }: RedisOptions): Promise<RedisSignals> {
  const commands = connect(url, log, "commands", { maxRetriesPerRequest: 1, enableOfflineQueue: false });
  const subscriber = connect(url, log, "subscriptions", { maxRetriesPerRequest: null });
  const blocking = connect(url, log, "queue", { maxRetriesPerRequest: null });
  // Settles at the first success or failure: a start is not held up by a Redis that is away.
  await new Promise<void>((resolve) => {
    commands.once("ready", () => resolve()).once("error", () => resolve());
  });
  return {
    wake: openWake(commands, blocking, clock, log, prefix),
    fanout: openFanout(commands, subscriber, log, prefix),
    async state() {
      try {
        await commands.ping();
        return null;
      } catch {
        return "Redis does not answer; see REDIS_URL and the log";
      }
    },
  };
}

function connect(
  url: string,
  log: Log,
  name: string,
  options: { maxRetriesPerRequest: number | null; enableOfflineQueue?: boolean },
): Redis {
  const client = new Redis(url, { ...options, retryStrategy: (times) => Math.min(times * 200, 3_000) });
  let away = false;
  client.on("error", (error: Error) => {
    if (!away) log.error({ err: error, connection: name }, "redis: connection lost, polling for work");
    away = true;
  });
  client.on("ready", () => {
    if (away) log.info({ connection: name }, "redis: connection restored");
    away = false;
  });
  return client;
}

function openWake(commands: Redis, blocking: Redis, clock: Clock, log: Log, prefix: string): OpenWake {
  const queue = new Queue<LaneSignal>(queueName, { connection: commands, prefix, skipVersionCheck: true });
  queue.on("error", () => undefined);
  let worker: Worker<LaneSignal> | undefined;
  let local: ((lane: string, dueAt: number) => void) | undefined;

  function notify(lanes: readonly string[], dueAt: number): void {
    const delay = dueAt - clock.now();
    // Polling finds work that is due in the far future.
    if (delay > delayMaxMs) return;
    const jobs = [...new Set(lanes)].map((lane) => ({
      name: "lane",
      data: { lane, dueAt },
      opts: {
        delay: Math.max(0, delay),
        removeOnComplete: true,
        removeOnFail: true,
        // One signal a lane is enough. A signal that arrives while one is handled is kept.
        ...(delay > 0 ? {} : { deduplication: { id: lane, keepLastIfActive: true } }),
      },
    }));
    const wakeHere = (): void => {
      for (const lane of lanes) local?.(lane, dueAt);
    };
    // BullMQ would wait for an absent Redis, and the work with it.
    if (commands.status !== "ready") {
      wakeHere();
      return;
    }
    queue.addBulk(jobs).catch((error: unknown) => {
      log.warn({ err: error }, "redis: signalling work failed");
      wakeHere();
    });
  }

  return {
    notify,
    listen(listener) {
      local = listener;
      worker = new Worker<LaneSignal>(
        queueName,
        async ({ data }) => {
          listener(data.lane, data.dueAt);
        },
        { connection: blocking, prefix, concurrency: 50, skipVersionCheck: true, skipStalledCheck: false },
      );
      worker.on("error", () => undefined);
    },
    async close() {
      await worker?.close(true);
      await queue.close();
      blocking.disconnect();
    },
  };
}

function openFanout(commands: Redis, subscriber: Redis, log: Log, prefix: string): Fanout {
  const here = createInProcessFanout(log);
  const channelOf = (topic: string): string => `${prefix}:topic:${topic}`;
  const counts = new Map<string, number>();
  const channelStart = channelOf("").length;
  subscriber.on("message", (channel: string, message: string) => here.publish(channel.slice(channelStart), message));

  const failed = (action: string) => (error: unknown) => log.warn({ err: error, action }, "redis: call failed");

  return {
    publish(topic, message) {
      commands.publish(channelOf(topic), message).catch((error: unknown) => {
        failed("publish a change")(error);
        here.publish(topic, message);
      });
    },
    subscribe(topic, listener) {
      const count = counts.get(topic) ?? 0;
      counts.set(topic, count + 1);
      if (count === 0) subscriber.subscribe(channelOf(topic)).catch(failed("subscribe"));
      const end = here.subscribe(topic, listener);
      let ended = false;
      return () => {
        if (ended) return;
        ended = true;
        end();
        const left = (counts.get(topic) ?? 1) - 1;
        if (left > 0) {
          counts.set(topic, left);
          return;
        }
        counts.delete(topic);
        subscriber.unsubscribe(channelOf(topic)).catch(failed("unsubscribe"));
      };
    },
    async close() {
      await here.close();
      subscriber.disconnect();
      commands.disconnect();
    },
  };
}
