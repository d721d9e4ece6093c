import type { GaugeConfiguration } from "prom-client";
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from "prom-client";
import { DeliveryError } from "#channels/errors.ts";
import type { Channel } from "#domain/conversation/message.ts";
import type { Answerer } from "#answering/contract.ts";
import type { Clock } from "#runtime/clock.ts";
import type { Log } from "#runtime/log.ts";
import type { Store } from "#database/contract.ts";
import { queueMetrics } from "./queue.ts";
import type { ConnectionState } from "#channels/connection-state.ts";

/** What a channel was last seen to do: its platform reached us, a customer wrote, a message left. */
export type Direction = "transport" | "inbound" | "outbound";

/** What the program tells of itself while it works. */
export interface Metrics {
  readonly registry: Registry;
  seen(channel: Channel, direction: Direction): void;
  /** Counts a platform call by how it ended. */
  send<T>(channel: Channel, call: () => Promise<T>): Promise<T>;
  /** Counts a visitor's file that was not taken, by why. */
  fileRefused(reason: "storage_full" | "rate_limit_day"): void;
  /** Counts a try to deliver a webhook's event. */
  webhook(outcome: string): void;
  /** The same answerer, with its time and confidence measured. */
  answerer(inner: Answerer): Answerer;
  /** What is only known when it is asked for. To be called once. */
  watch(parts: WatchedParts): void;
}

export interface WatchedParts {
  readonly store: Store & { load(): StoreLoad };
  /** Lanes that run in this process, by kind. */
  readonly running: () => ReadonlyMap<string, number>;
  readonly kinds: readonly string[];
  readonly connections: () => readonly ConnectionState[];
  readonly disk: { readonly reserveBytes: number; freeBytes(): Promise<number> };
  readonly clock: Clock;
  readonly log: Log;
}

export interface StoreLoad {
  readonly writesWaiting: number;
  readonly transactions: number;
  /** Connections in use; null where there is no pool. */
  readonly connections: number | null;
}

/** However often it is asked, the database is asked this seldom. */
const metricsCachedMs = 5_000;

/** Labels take few values, all of them ours: never an id, an address or what somebody wrote. */
export function createMetrics(version: string, clock: Pick<Clock, "now">): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
  new Gauge({
    name: "parley_build_info",
    help: "Always 1; the version of the program is in the label.",
    labelNames: ["version"],
    registers,
  }).set({ version }, 1);
  const lastSeen = new Gauge({
    name: "parley_channel_last_seen_timestamp_seconds",
    help: "When a channel last did something since this process began: its platform or a browser reached us (transport), a customer's event came in (inbound), a message was taken by the platform (outbound).",
    labelNames: ["channel", "direction"],
    registers,
  });
  const sends = new Counter({
    name: "parley_channel_sends_total",
    help: "Messages, or parts of them, given to platforms: accepted, rejected for good, not_sent and tried again, or unknown.",
    labelNames: ["channel", "outcome"],
    registers,
  });
  const refusedFiles = new Counter({
    name: "parley_files_refused_total",
    help: "Visitors' files that were not taken: the disk is nearly full (storage_full), or a quota of the day is used up (rate_limit_day).",
    labelNames: ["reason"],
    registers,
  });
  const webhookTries = new Counter({
    name: "parley_webhook_deliveries_total",
    help: "Tries to deliver an event to a webhook endpoint, by outcome.",
    labelNames: ["outcome"],
    registers,
  });
  const answers = new Histogram({
    name: "parley_answer_duration_seconds",
    help: "Time to make an answer, by its confidence.",
    labelNames: ["confidence"],
    buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers,
  });
  const answerFailures = new Counter({
    name: "parley_answer_failures_total",
    help: "Answers that could not be made.",
    registers,
  });

  const seen = (channel: Channel, direction: Direction): void =>
    lastSeen.set({ channel, direction }, clock.now() / 1_000);

  return {
    registry,
    seen,
    async send(channel, call) {
      try {
        const receipt = await call();
        sends.inc({ channel, outcome: "accepted" });
        seen(channel, "outbound");
        return receipt;
      } catch (error) {
        sends.inc({ channel, outcome: error instanceof DeliveryError ? error.outcome : "unknown" });
        throw error;
      }
    },
    fileRefused: (reason) => refusedFiles.inc({ reason }),
    webhook: (outcome) => webhookTries.inc({ outcome }),
    answerer: (inner) => ({
      async answer(question, signal) {
        const began = performance.now();
        try {
          const answer = await inner.answer(question, signal);
          answers.observe({ confidence: answer.confidence }, (performance.now() - began) / 1_000);
          return answer;
        } catch (error) {
          // An interrupted one is not a failure: its customer went away, or the program stops.
          if (!signal.aborted) answerFailures.inc();
          throw error;
        }
      },
    }),
    watch: (parts) => watch(registry, parts),
  };
}

function watch(registry: Registry, { store, running, kinds, connections, disk, clock, log }: WatchedParts): void {
  const registers = [registry];
  let figures: ReturnType<typeof queueMetrics> | undefined;
  let askedAt = Number.NEGATIVE_INFINITY;

  /** Nothing while the database is away: the figures are missing then, and the others still come. */
  const work = async (): ReturnType<typeof queueMetrics> => {
    if (figures === undefined || clock.now() - askedAt >= metricsCachedMs) {
      askedAt = clock.now();
      figures = queueMetrics(store.read, askedAt).then((found) => [
        ...found,
        ...kinds
          .filter((kind) => !found.some((each) => each.kind === kind))
          .map((kind) => ({ kind, waiting: 0, oldestDueAt: null, dead: 0 })),
      ]);
    }
    try {
      return await figures;
    } catch (error) {
      log.warn({ err: error }, "metrics: counting the queue failed");
      return [];
    }
  };

  gauge({
    name: "parley_disk_free_bytes",
    help: "Bytes that are free on the disk of the data folder, or of SQLite's where that has less.",
    registers,
    async collect() {
      try {
        this.set(await disk.freeBytes());
      } catch (error) {
        this.remove();
        log.warn({ err: error }, "metrics: reading free disk space failed");
      }
    },
  });
  gauge({
    name: "parley_disk_reserve_bytes",
    help: "Bytes that are kept free: no files are taken below them.",
    registers,
    collect() {
      this.set(disk.reserveBytes);
    },
  });
  gauge({
    name: "parley_work_waiting",
    help: "Work in the database that is due and not done, by kind; counted up to 10,000. The same in every process.",
    labelNames: ["kind"],
    registers,
    async collect() {
      this.reset();
      for (const { kind, waiting } of await work()) this.set({ kind }, waiting);
    },
  });
  gauge({
    name: "parley_work_oldest_due_age_seconds",
    help: "How long the oldest work that is due has been waiting, by kind. The same in every process.",
    labelNames: ["kind"],
    registers,
    async collect() {
      this.reset();
      for (const { kind, oldestDueAt } of await work()) {
        this.set({ kind }, oldestDueAt === null ? 0 : Math.max(0, clock.now() - oldestDueAt) / 1_000);
      }
    },
  });
  gauge({
    name: "parley_work_dead",
    help: "Work that was given up after its last try and is kept for inspection, by kind; counted up to 10,000. The same in every process.",
    labelNames: ["kind"],
    registers,
    async collect() {
      this.reset();
      for (const { kind, dead } of await work()) this.set({ kind }, dead);
    },
  });
  gauge({
    name: "parley_work_running",
    help: "Lanes of work that this process works on now, by kind.",
    labelNames: ["kind"],
    registers,
    collect() {
      const counts = running();
      for (const kind of kinds) this.set({ kind }, counts.get(kind) ?? 0);
    },
  });
  gauge({
    name: "parley_channel_connection_up",
    help: "Whether a connection to a platform that this process is to keep holds, by channel account.",
    labelNames: ["account"],
    registers,
    collect() {
      this.reset();
      for (const { name, state } of connections()) {
        if (state !== "elsewhere") this.set({ account: name }, state === "running" ? 1 : 0);
      }
    },
  });
  gauge({
    name: "parley_database_writes_waiting",
    help: "Writes of this process that wait for a transaction.",
    registers,
    collect() {
      this.set(store.load().writesWaiting);
    },
  });
  gauge({
    name: "parley_database_transactions",
    help: "Transactions that this process has open now.",
    registers,
    collect() {
      this.set(store.load().transactions);
    },
  });
  gauge({
    name: "parley_database_connections_in_use",
    help: "Connections of the pool in use; 0 on SQLite, which has no pool.",
    registers,
    collect() {
      this.set(store.load().connections ?? 0);
    },
  });
}

function gauge<Label extends string>(configuration: GaugeConfiguration<Label>): Gauge<Label> {
  return new Gauge(configuration);
}
