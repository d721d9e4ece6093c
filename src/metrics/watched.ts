import type { CounterConfiguration, GaugeConfiguration, Registry } from "prom-client";
import { Counter, Gauge } from "prom-client";
import type { ConnectionState } from "#channels/connection-state.ts";
import type { Clock } from "#runtime/clock.ts";
import type { Log } from "#runtime/log.ts";
import type { Store, StoreLoad } from "#database/contract.ts";
import { queueMetrics } from "./queue.ts";

// Gauges that are read at each scrape.

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

/** Minimum time between two reads of the database, however frequent the scrapes. */
const metricsCachedMs = 5_000;

export function watch(registry: Registry, parts: WatchedParts): void {
  const registers = [registry];
  watchDisk(registers, parts);
  watchWork(registers, parts);
  watchConnections(registers, parts);
  watchDatabase(registers, parts);
  watchStatements(registers, parts);
}

function watchDisk(registers: Registry[], { disk, log }: WatchedParts): void {
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
}

function watchWork(registers: Registry[], parts: WatchedParts): void {
  const { running, kinds, clock } = parts;
  const figures = createQueueFigures(parts);
  gauge({
    name: "parley_work_waiting",
    help: "Work in the database that is due and not done, by kind; counted up to 10,000. The same in every process.",
    labelNames: ["kind"],
    registers,
    async collect() {
      this.reset();
      for (const { kind, waiting } of await figures()) this.set({ kind }, waiting);
    },
  });
  gauge({
    name: "parley_work_oldest_due_age_seconds",
    help: "How long the oldest work that is due has been waiting, by kind. The same in every process.",
    labelNames: ["kind"],
    registers,
    async collect() {
      this.reset();
      for (const { kind, oldestDueAt } of await figures()) {
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
      for (const { kind, dead } of await figures()) this.set({ kind }, dead);
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
}

/** Returns no figures while the database is away. The other gauges still have values. */
function createQueueFigures({ store, kinds, clock, log }: WatchedParts): () => ReturnType<typeof queueMetrics> {
  let figures: ReturnType<typeof queueMetrics> | undefined;
  let readAt = Number.NEGATIVE_INFINITY;
  return async () => {
    if (figures === undefined || clock.now() - readAt >= metricsCachedMs) {
      readAt = clock.now();
      figures = queueMetrics(store.read, readAt).then((found) => [
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
}

function watchConnections(registers: Registry[], { connections }: WatchedParts): void {
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
}

function watchDatabase(registers: Registry[], { store }: WatchedParts): void {
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

function watchStatements(registers: Registry[], { store }: WatchedParts): void {
  counter({
    name: "parley_database_statements_total",
    help: "Statements that this process has run, with those that begin and end transactions.",
    registers,
    collect() {
      this.reset();
      this.inc(store.load().statementsRun);
    },
  });
  counter({
    name: "parley_database_transactions_total",
    help: "Transactions that this process has begun.",
    registers,
    collect() {
      this.reset();
      this.inc(store.load().transactionsRun);
    },
  });
}

function counter(configuration: CounterConfiguration<never>): Counter<never> {
  return new Counter(configuration);
}

function gauge<Label extends string>(configuration: GaugeConfiguration<Label>): Gauge<Label> {
  return new Gauge(configuration);
}
