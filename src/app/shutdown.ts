import type { End } from "#runtime/closing.ts";
import { endEach } from "#runtime/closing.ts";
import type { Background } from "./background.ts";
import type { Signals } from "./signals.ts";

interface Closable {
  close(): Promise<unknown>;
}

interface RunningParts {
  readonly server: Closable;
  readonly watch: Closable;
  readonly connections: Closable | undefined;
  readonly background: Background | undefined;
  readonly refresher: Closable;
  readonly channels: Closable;
  readonly process: Closable;
  readonly signals: Signals;
  readonly services: Closable;
}

const workGraceMs = 6_000;

/** Returns the function that closes all parts. Every call of it resolves when they are closed. */
export function closeInOrder(parts: RunningParts): () => Promise<void> {
  let closed: Promise<void> | undefined;
  return () => (closed ??= close(parts));
}

async function close(parts: RunningParts): Promise<void> {
  const { server, watch, connections, background, refresher, channels, process, signals, services } = parts;
  const failures: unknown[] = [];
  const end = (...ends: readonly End[]): Promise<void> => endEach(ends, (error) => failures.push(error));
  // Waits for customers' sockets too, which the channels close after the last work has sent its messages.
  const served = end(() => server.close());
  // At the same time, because one after the other could exceed the ten seconds.
  await end(
    () => watch.close(),
    async () => connections?.close(),
    async () => background?.worker.close(workGraceMs),
    async () => background?.cleanup.close(),
    () => refresher.close(),
  );
  await end(() => channels.close());
  await served;
  await end(() => process.close());
  await end(() => signals.wake.close());
  await end(() => signals.fanout.close());
  await end(() => services.close());
  if (failures.length > 0) throw failures[0];
}
