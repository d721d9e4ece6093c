import type { Answerer } from "#answering/contract.ts";
import { pauseAfter } from "#answering/understand/unfinished.ts";
import type { PauseAfter } from "#conversations/answering/turn.ts";
import type { LoadAdapter } from "#channels/load-adapter.ts";
import { loadAdapter } from "#channels/load-adapter.ts";
import type { Config } from "#config/environment.ts";
import { ConfigError } from "#config/config-error.ts";
import { readTokenKeys } from "#conversations/contacts/user-token-keys.ts";
import type { CreatedEngine } from "#conversations/engine.ts";
import { listConversations } from "#database/queries/conversation-list.ts";
import { proofOf } from "#admin/installation/public-address.ts";
import type { HttpDependencies, HttpOptions } from "#http/dependencies.ts";
import { defaultConnectionsMax, defaultTimeouts } from "#http/dependencies.ts";
import { defaultBodyLimits } from "#http/middleware/bodies/bodies.ts";
import { createServer } from "#http/server.ts";
import { createMetrics } from "#metrics/metrics.ts";
import type { InboundBurstGauge } from "#queue/backpressure.ts";
import { createInboundBurst } from "#queue/backpressure.ts";
import { openProcess } from "#queue/process-lease.ts";
import type { WorkTable } from "#queue/work-table.ts";
import type { Checkpoint } from "#runtime/checkpoints.ts";
import type { End } from "#runtime/closing.ts";
import { endEach } from "#runtime/closing.ts";
import { version } from "#runtime/version.ts";
import { createChannelPorts } from "./channels/accounts.ts";
import { openLiveAccounts } from "./channels/live.ts";
import type { Background } from "./background.ts";
import { openBackground } from "./background.ts";
import { createConversations } from "./conversations.ts";
import { hasDemo, renderDemo } from "./demo.ts";
import { prepareDatabase, warnOfLateSignals } from "./prepare.ts";
import { dependencyStates } from "./readiness.ts";
import type { Services, ServicesOptions } from "./services.ts";
import { openServices } from "./services.ts";
import { closeInOrder } from "./shutdown.ts";
import { openSignals } from "./signals.ts";
import { createWorks } from "./work.ts";

export interface AppOptions extends ServicesOptions {
  readonly checkpoint?: Checkpoint;
  /** Replaces the configured answerer. */
  readonly answerer?: Answerer;
  /** Replaces the pauses after unfinished messages. */
  readonly pauseAfter?: PauseAfter;
  /** Replaces the adapters of adapters/. */
  readonly loadAdapter?: LoadAdapter;
  /** Decides when work waits for events. Default: the number of waiting senders decides. */
  readonly inboundBurst?: InboundBurstGauge;
  /** Limits of connections that differ from the default. */
  readonly http?: Partial<Pick<HttpOptions, "timeouts" | "bodies" | "connectionsMax">>;
}

export interface App {
  readonly services: Services;
  readonly engine: CreatedEngine;
  readonly works: WorkTable;
  /** Accepts connections. Resolves with the address that it listens on. */
  listen(): Promise<string>;
  /** Takes ten seconds at most: requests in flight finish, unfinished work is released. May be called twice. */
  close(): Promise<void>;
}

/** Time limit for closing each part after a failed start. */
const abandonedMs = 3_000;

/** Puts the program together. Only this folder chooses between implementations. */
export async function createApp(config: Config, options: AppOptions): Promise<App> {
  const opened: End[] = [];
  try {
    return await assemble(config, options, opened);
  } catch (error) {
    // An open part would keep the process alive.
    const failed = (err: unknown): void => options.log.warn({ err }, "start: closing a part failed");
    for (const end of opened.toReversed()) await endEach([end], failed, abandonedMs);
    throw error;
  }
}

async function assemble(config: Config, options: AppOptions, opened: End[]): Promise<App> {
  const { clock, log, loadAdapter: load = loadAdapter, inboundBurst = createInboundBurst() } = options;
  const { publicUrl } = config;
  const signals = await openSignals(config, options);
  const { wake, fanout } = signals;
  for (const part of [fanout, wake]) opened.push(() => part.close());
  const metrics = createMetrics(version, clock);
  const services = await openServices(config, options, wake, metrics.registry);
  opened.push(() => services.close());
  const { store, guardedLookup } = services;
  await prepareDatabase(config, services, clock, load);
  const process = await openProcess(store, clock, log);
  opened.push(() => process.close());
  warnOfLateSignals(config, process, log);

  let background: Background | undefined;
  const processId = process.id;
  const { channels, engine, desk, status } = createConversations({
    services,
    signals,
    metrics,
    clock,
    log,
    publicUrl,
    processId,
    answerer: metrics.answerer(options.answerer ?? services.answerer),
    pauseAfter: options.pauseAfter ?? pauseAfter,
    load,
    checkpoint: options.checkpoint ?? (() => undefined),
    inboundBurst,
    localWorker: () => background?.worker,
  });
  const refresher = services.startIndexRefresh();
  opened.push(() => refresher.close());
  const works = createWorks({ services, engine, desk, refresher, metrics, clock, log, wake, publicUrl });
  const isWorker = config.role !== "web";
  const parts = { services, engine, works, wake, processId, inboundBurst, clock, log };
  if (isWorker) background = await openBackground(parts, opened);
  const { connections, watch } = openLiveAccounts({ ...parts, store, fanout, channels, status }, isWorker, opened);
  metrics.watch({
    store,
    running: () => background?.worker.running() ?? new Map(),
    kinds: works.kinds,
    connections: () => connections?.states() ?? [],
    disk: services.disk,
    clock,
    log,
  });
  const server = await createServer({
    ...servedBy(services, { works, wake, fanout }),
    allowPrivate: config.file.allowPrivate ?? false,
    ...(hasDemo(config) ? { demoPage: () => renderDemo(store) } : {}),
    processId,
    watch: process.watch,
    engine,
    ...createChannelPorts({ channels, load, fanout, wake, metrics, clock, publicUrl, guardedLookup }),
    readiness: () => dependencyStates({ services, process, signals, refresher, connections }),
    metrics: metrics.registry,
    clock,
    log,
    options: httpOptions(config, options),
  });
  return {
    services,
    engine,
    works,
    listen: () => server.listen(config.host, config.port).catch((error: unknown) => refuseAddress(error, config)),
    close: closeInOrder({ server, watch, connections, background, refresher, channels, process, signals, services }),
  };
}

const addressFixes: Readonly<Record<string, (config: Config) => string>> = {
  EADDRINUSE: ({ port }) =>
    `Port ${port} is in use by another program, maybe another Parley. End it, or set PORT to another number.`,
  EACCES: ({ port }) => `Port ${port} needs more rights. Set PORT to a number above 1023.`,
  EADDRNOTAVAIL: ({ host }) => `This machine has no address ${host}. Set HOST to one of its addresses, or to 0.0.0.0.`,
};

/** Throws an error that names the setting and the fix. */
function refuseAddress(error: unknown, config: Config): never {
  const code = (error as { readonly code?: unknown }).code;
  const fix = typeof code === "string" ? addressFixes[code] : undefined;
  throw fix === undefined ? error : new ConfigError(fix(config), { cause: error });
}

/** The services and signals that HTTP uses. */
function servedBy(
  { store, documents, files, secrets, search, vectors, mail, guardedFetch }: Services,
  { works, ...signals }: Pick<HttpDependencies, "wake" | "fanout"> & { readonly works: WorkTable },
) {
  return {
    ...signals,
    canRetry: (row, now) => works.canRetry(row, now),
    canMail: mail !== undefined,
    store,
    documents,
    files,
    secrets,
    guardedFetch,
    listConversations: (filter, before, limit) =>
      listConversations(store, { ...filter, limit, ...(before === undefined ? {} : { before }) }, search),
    tokenKeys: (workspaceId) => readTokenKeys(store, secrets, workspaceId),
    cursorKey: secrets.key("cursor"),
    encoderReport: async (workspaceId) => (await vectors?.report(workspaceId)) ?? null,
    prove: (nonce) => proofOf(secrets, nonce),
  } satisfies Partial<HttpDependencies>;
}

const httpOptions = ({ publicUrl, metricsToken, trustedProxies }: Config, { http }: AppOptions): HttpOptions => ({
  publicUrl,
  version,
  metricsToken,
  trustedProxies,
  timeouts: defaultTimeouts,
  bodies: defaultBodyLimits,
  connectionsMax: defaultConnectionsMax,
  ...http,
});
