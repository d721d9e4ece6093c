import { asksForHuman } from "#answering/classify/escalation.ts";
import { spokenLanguage } from "#answering/understand/asker-language.ts";
import { settingsIn } from "#language/bot-texts/bot-texts.ts";
import type { Checkpoint } from "#runtime/checkpoints.ts";
import { createAgentDesk } from "#agent-desk/agent-desk.ts";
import { createEngine } from "#conversations/engine.ts";
import { removeUnsentUploads, waitsForRoom } from "#conversations/attachments/file-work.ts";
import { scheduleDailyCleanup } from "#conversations/retention/daily-cleanup.ts";
import type { Answerer } from "#answering/contract.ts";
import type { Fanout } from "#runtime/signals.ts";
import type { InboundBurstGauge } from "#queue/backpressure.ts";
import { createInboundBurst } from "#queue/backpressure.ts";
import { createMaintenance } from "#conversations/retention/maintenance.ts";
import { createWorkspaces } from "#database/queries/workspaces.ts";
import type { DependencyState, HttpOptions } from "#http/dependencies.ts";
import { defaultBodyLimits } from "#http/middleware/bodies.ts";
import { defaultConnectionsMax, defaultTimeouts } from "#http/dependencies.ts";
import { createServer } from "#http/server.ts";
import type { OpenWake } from "#queue/signals/in-process.ts";
import { createInProcessFanout, createInProcessWake } from "#queue/signals/in-process.ts";
import { openProcess } from "#queue/process-lease.ts";
import type { Handler, Worker } from "#queue/worker/worker.ts";
import { openWorker } from "#queue/worker/worker.ts";
import { openCleanupJob } from "#queue/cleanup-job.ts";
import type { WebResponse } from "#channels/contract.ts";
import { leaveVectors } from "#knowledge/vectors/vectors.ts";
import { leaveTypesenseIndex } from "#knowledge/typesense/typesense-index.ts";
import { leaveTypesense } from "#database/search/typesense/queue.ts";
import { listConversations } from "#database/queries/conversation-list.ts";
import type { OpenStore } from "#database/open.ts";
import { TypesenseAway } from "#database/search/typesense/client.ts";
import type { LoadAdapter } from "#channels/load-adapter.ts";
import { createChannels } from "#channels/host/registry.ts";
import { loadAdapter } from "#channels/load-adapter.ts";
import { backoffMs, isSearchAway } from "./work-backoff.ts";
import type { End } from "#runtime/closing.ts";
import { endEach } from "#runtime/closing.ts";
import type { Config } from "#config/environment.ts";
import { openConnections } from "#channels/host/connections.ts";
import { createMetrics } from "#metrics/metrics.ts";
import { requireOwnSecret } from "#admin/installation/secret.ts";
import { proofOf } from "#admin/installation/public-address.ts";
import { provisionWebhooks } from "#admin/webhooks/provisioning.ts";
import { provisionWorkspaces } from "#admin/workspaces/workspaces.ts";
import { degradedBy, diskState, modelState, readiness } from "./readiness.ts";
import { createSites } from "#channels/host/sites.ts";
import { readTokenKeys } from "#conversations/contacts/user-token-keys.ts";
import { version } from "#runtime/version.ts";
import { demoPage } from "#web/demo/page.ts";
import type { WorkKind } from "./work-payloads.ts";
import { readsWork } from "./work-payloads.ts";
import { deliverWebhooks } from "#webhooks/deliver.ts";
import { forgetEvents, scheduleRetention } from "#webhooks/retention.ts";
import type { ServicesOptions, Services } from "./services.ts";
import { openServices } from "./services.ts";

export interface AppOptions extends ServicesOptions {
  readonly checkpoint?: Checkpoint;
  /** Another than the one that takes its answers from the documents' own sentences. */
  readonly answerer?: Answerer;
  /** Other adapters than those of adapters/. */
  readonly loadAdapter?: LoadAdapter;
  /** Decides when work waits for events; otherwise how many senders wait does. */
  readonly inboundBurst?: InboundBurstGauge;
  /** Other bounds on connections than the usual ones. */
  readonly http?: Partial<Pick<HttpOptions, "timeouts" | "bodies" | "connectionsMax">>;
}

export interface App {
  readonly services: Services;
  readonly engine: ReturnType<typeof createEngine>;
  /** Takes connections; resolves with the address that it really listens on. */
  listen(): Promise<string>;
  /** Ends within ten seconds: requests in flight finish, unfinished work is given back. Twice is once. */
  close(): Promise<void>;
}

/** Puts the program together. Everything that differs between installations is chosen here and nowhere else. */
export async function createApp(config: Config, options: AppOptions): Promise<App> {
  const opened: End[] = [];
  try {
    return await assemble(config, options, opened);
  } catch (error) {
    // What is left open would keep the process alive, which has nothing to do.
    const failed = (err: unknown): void => options.log.warn({ err }, "start: closing a part failed");
    for (const end of opened.toReversed()) await endEach([end], failed, abandonedMs);
    throw error;
  }
}

async function assemble(config: Config, options: AppOptions, opened: End[]): Promise<App> {
  const { clock, log } = options;
  const checkpoint: Checkpoint = options.checkpoint ?? (() => undefined);
  const { wake, fanout, state: signalState } = await openSignals(config, options);
  opened.push(
    () => fanout.close(),
    () => wake.close(),
  );
  const metrics = createMetrics(version, clock);
  const core = await openServices(config, options, wake, metrics.registry);
  opened.push(() => core.close());
  const { store, secrets, documents, guardedFetch, search, outside, knowledge, vectors, files, disk } = core;
  await store.check(checkedMax);
  await store.migrate();
  await requireOwnSecret(store, secrets);
  const load = options.loadAdapter ?? loadAdapter;
  await provisionWorkspaces({ store, clock, secrets, load }, config.file.workspaces);
  const { allowPrivate = false } = config.file;
  await provisionWebhooks({ store, clock, secrets, allowPrivate }, config.file.workspaces);

  const process = await openProcess(store, clock, log);
  opened.push(() => process.close());
  if (process.others > 0 && config.redisUrl === undefined) {
    log.warn(
      { others: process.others },
      "start: another process uses this database without REDIS_URL, messages are shown late: stop one, or set REDIS_URL",
    );
  }
  const workspaces = createWorkspaces(store, clock);
  const { publicUrl } = config;
  const channels = createChannels({
    store,
    clock,
    log,
    fanout,
    secrets,
    workspaces,
    engine: () => engine,
    desk: () => desk.service,
    load,
    metrics,
    files,
    publicUrl,
  });
  let worker: Worker | undefined;
  const inboundBurst = options.inboundBurst ?? createInboundBurst();
  const engine = createEngine({
    store,
    clock,
    log,
    workspaces,
    accounts: channels,
    channels,
    answerer: metrics.answerer(options.answerer ?? core.answerer),
    asksForHuman,
    inLanguageOf: (settings, newestFirst) => settingsIn(settings, spokenLanguage(newestFirst)),
    judgeAnger: core.judgeAnger,
    search,
    files,
    fanout,
    wake,
    processId: process.id,
    publicUrl,
    checkpoint,
    localWorker: () => worker,
    inboundBurst,
  });
  const desk = createAgentDesk({
    store,
    clock,
    log,
    wake,
    workspaces,
    search,
    files,
    publicUrl,
    channels,
    localWorker: () => worker,
    publishEffects: engine.publishEffects,
  });

  const webhooks = {
    store,
    clock,
    log,
    wake,
    guardedFetch,
    open: (sealed: string) => secrets.open(sealed),
    count: (outcome: string) => metrics.webhook(outcome),
  };

  const refresher = core.startIndexRefresh();
  opened.push(() => refresher.close());
  /** What has been read, crawled or given vectors is taken in at once; what other processes do is seen a little later. */
  const thenLook =
    (run: Handler["run"]): Handler["run"] =>
    async (...given) => {
      try {
        await run(...given);
      } finally {
        refresher.look();
      }
    };

  const maintenance = createMaintenance({
    store,
    clock,
    log,
    search,
    files,
    fanout,
    publishEffects: engine.publishEffects,
  });
  const handlers: Readonly<Partial<Record<WorkKind, Handler>>> = {
    think: {
      batch: true,
      attemptsMax: 5,
      run: engine.work.answerTurn,
      // A search that is away for a moment, or is filled for the first time, is no reason to send the customer to people.
      waitsOut: (row, error, now) => isSearchAway(error) && now - row.created_at < questionHeldMs,
      abandoned: engine.work.abandonTurn,
    },
    // More than two hours: a platform that is away for one of them loses no message.
    send: { batch: false, attemptsMax: 24, run: engine.work.send, abandoned: engine.work.abandonSend },
    // In the lane of the messages, so that a reply goes before the end of its conversation.
    "stand-there": { batch: false, attemptsMax: 24, run: engine.work.pushStatus, abandoned: engine.work.abandonPush },
    "handover-there": {
      batch: false,
      attemptsMax: 24,
      run: engine.work.pushHandover,
      abandoned: engine.work.abandonPush,
    },
    "note-there": { batch: false, attemptsMax: 24, run: engine.work.pushNote, abandoned: engine.work.abandonPush },
    amend: { batch: false, attemptsMax: 12, run: engine.work.editSentReply, abandoned: engine.work.abandonEdit },
    // However long the desk is away: its threads are completed when it is back. A lane a conversation; what the desk's
    // platform lets through is shared by all of them, and customers must not wait for it.
    desk: { batch: true, attemptsMax: Number.POSITIVE_INFINITY, lanesMax: 8, run: desk.work.sync },
    "desk-event": {
      batch: false,
      attemptsMax: Number.POSITIVE_INFINITY,
      lanesMax: 16,
      run: desk.work.event,
    },
    "desk-notice": { batch: false, attemptsMax: 8, lanesMax: 4, run: desk.work.notice },
    "desk-erase": { batch: false, attemptsMax: Number.POSITIVE_INFINITY, lanesMax: 2, run: desk.work.erase },
    speak: { batch: false, attemptsMax: 12, run: engine.work.sendRuleReply, abandoned: engine.work.abandonRuleReply },
    redirect: {
      batch: false,
      attemptsMax: 12,
      run: engine.work.reroute,
      abandoned: (tx, row, _reason, now) => engine.work.abandonReroute(tx, row, now),
    },
    timer: { batch: true, attemptsMax: 20, run: engine.work.timer },
    // A question and its answer are indexed together, if that is soon.
    index: { batch: true, attemptsMax: 20, yieldsMs: 1_000, run: engine.work.index },
    // Several large ones at a time, and customers must not wait for them.
    file: {
      batch: false,
      attemptsMax: 24,
      lanesMax: 6,
      run: engine.work.file,
      waitsOut: waitsForRoom,
      countsWaiting: false,
      abandoned: engine.work.abandonFile,
    },
    // However long the storage is away: what was erased is not kept.
    unfile: { batch: true, attemptsMax: Number.POSITIVE_INFINITY, lanesMax: 2, run: engine.work.unfile },
    tell: {
      batch: true,
      // What cannot be stored now is tried again, for ever: given up is single events, never an endpoint's lane.
      attemptsMax: Number.POSITIVE_INFINITY,
      // A lane an endpoint. Those that hang hold theirs for seconds, and customers must not wait for it.
      lanesMax: 24,
      run: (rows, signal) => deliverWebhooks(webhooks, rows, signal),
    },
    "forget-events": {
      batch: true,
      attemptsMax: Number.POSITIVE_INFINITY,
      run: (rows, signal) => forgetEvents({ store, clock }, rows, signal),
    },
    ...(outside === undefined
      ? {}
      : {
          search: {
            batch: true,
            // However long the engine is away: what it has missed is written when it is back.
            attemptsMax: Number.POSITIVE_INFINITY,
            lanesMax: 4,
            run: (rows) => outside.work(rows),
          } satisfies Handler,
        }),
    ...(knowledge === undefined
      ? {}
      : {
          knowledge: {
            batch: true,
            attemptsMax: Number.POSITIVE_INFINITY,
            lanesMax: 2,
            run: (rows) => knowledge.work(rows),
          } satisfies Handler,
        }),
    ...(vectors === undefined
      ? {}
      : {
          embed: {
            batch: true,
            // However long the server is away: passages are found by their words meanwhile.
            attemptsMax: Number.POSITIVE_INFINITY,
            lanesMax: 2,
            run: thenLook((rows, signal) => vectors.work(rows, signal)),
          } satisfies Handler,
        }),
    relink: { batch: true, attemptsMax: 20, lanesMax: 2, run: maintenance.moveConversations },
    retime: { batch: true, attemptsMax: 20, lanesMax: 1, run: maintenance.rescheduleTimers },
    signout: { batch: true, attemptsMax: 5, run: maintenance.signOut },
    // However long the desk's platform is away: what was deleted is taken back there first.
    purge: { batch: true, attemptsMax: Number.POSITIVE_INFINITY, lanesMax: 1, run: maintenance.purge },
    // Never given up: it would not come again.
    housekeeping: { batch: true, attemptsMax: Number.POSITIVE_INFINITY, lanesMax: 1, run: maintenance.dailyCleanup },
    ingest: {
      batch: true,
      attemptsMax: 5,
      // Each may have a thread and hundreds of megabytes, and customers must not wait for it.
      lanesMax: 2,
      run: thenLook(documents.work.ingest),
      abandoned: documents.abandoned,
    },
    crawl: {
      batch: false,
      attemptsMax: 5,
      lanesMax: 4,
      run: thenLook(documents.work.crawl),
      abandoned: documents.abandoned,
    },
    recrawl: { batch: true, attemptsMax: 20, run: documents.work.recrawl },
  };
  let tidying: ReturnType<typeof openCleanupJob> | undefined;
  if (config.role !== "web") {
    await documents.resumePending();
    await scheduleRetention({ store, clock });
    tidying = openCleanupJob({
      clock,
      log,
      jobs: {
        "orphaned documents": () => documents.removeOrphans(),
        "unsent uploads": () =>
          removeUnsentUploads({
            store,
            clock,
            publishEffects: (effects) => effects !== null && engine.publishEffects(effects),
          }),
        "conversation search": async () => outside?.ensure(),
        "document search": async () => knowledge?.ensure(),
      },
    });
    opened.push(() => tidying?.close() ?? Promise.resolve());
    await (outside === undefined ? leaveTypesense(store) : outside.ensure());
    await (vectors === undefined ? leaveVectors(store) : vectors.ensure());
    await (knowledge === undefined ? leaveTypesenseIndex(store) : knowledge.ensure());
    await scheduleDailyCleanup(store, clock);
    worker = openWorker({
      store,
      clock,
      log,
      processId: process.id,
      handlers,
      reads: readsWork,
      lanesMax: 64,
      backoffMs,
      awayServer: (error) => (error instanceof TypesenseAway || isSearchAway(error) ? "the search engine" : undefined),
      inboundBurst,
    });
    const running = worker;
    opened.push(() => running.close(0));
    wake.listen((lane, dueAt) => running.wake(lane, dueAt));
  }
  const connections =
    config.role === "web" ? undefined : openConnections({ store, clock, log, processId: process.id, channels });
  if (connections !== undefined) opened.push(() => connections.close());

  metrics.watch({
    store,
    running: () => worker?.running() ?? new Map(),
    kinds: Object.keys(handlers),
    connections: () => connections?.states() ?? [],
    disk,
    clock,
    log,
  });
  const server = await createServer({
    store,
    processId: process.id,
    watch: process.watch,
    engine,
    fanout,
    documents,
    files,
    listConversations: (filter, before, limit) =>
      listConversations(store, { ...filter, limit, ...(before === undefined ? {} : { before }) }, search),
    tokenKeys: (workspaceId) => readTokenKeys(store, secrets, workspaceId),
    cursorKey: secrets.key("cursor"),
    sites: createSites(channels, metrics),
    ...(hasDemo(config) ? { demoPage: () => renderDemo(store) } : {}),
    prove: (nonce) => proofOf(secrets, nonce),
    readiness: async () => [
      ...(await readiness(store, process, signalState)),
      await diskState(disk),
      ...(outside === undefined ? [] : [degradedBy("search engine", await core.searchTrouble())]),
      ...modelState("documents", refresher.trouble() ?? undefined),
      ...modelState("model", core.modelTrouble()),
      ...modelState("embedding server", core.embedderTrouble()),
      ...(connections?.states() ?? []).map(({ name, state, cause }): DependencyState => ({
        name: `channel ${name}`,
        // The other channels go on, so the process stays in service.
        state: state === "broken" ? "degraded" : "ready",
        cause,
      })),
    ],
    metrics: metrics.registry,
    clock,
    log,
    options: {
      publicUrl: config.publicUrl,
      version,
      metricsToken: config.metricsToken,
      trustedProxies: config.trustedProxies,
      timeouts: defaultTimeouts,
      bodies: defaultBodyLimits,
      connectionsMax: defaultConnectionsMax,
      ...options.http,
    },
  });

  let closed: Promise<void> | undefined;
  return {
    services: core,
    engine,
    listen: () => server.listen(config.host, config.port),
    close: () => (closed ??= close()),
  };

  async function close(): Promise<void> {
    const failures: unknown[] = [];
    const end = (...ends: readonly End[]): Promise<void> => endEach(ends, (error) => failures.push(error));
    // Waits for customers' sockets too, which the channels close when the last work has left by them.
    const served = end(() => server.close());
    // At the same time: one after the other they could take longer than there is.
    await end(
      async () => connections?.close(),
      async () => worker?.close(6_000),
      async () => tidying?.close(),
      () => refresher.close(),
    );
    await end(() => channels.close());
    await served;
    await end(() => process.close());
    await end(() => wake.close());
    await end(() => fanout.close());
    await end(() => core.close());
    if (failures.length > 0) throw failures[0];
  }
}

/** A larger file is read through by `doctor` alone: a start must not take minutes. */
const checkedMax = 512 * 1_048_576;
/** Time limit for closing each part after a failed start. */
const abandonedMs = 3_000;
/** So long a customer's question on a channel waits for a search that is away; then it goes to people. */
const questionHeldMs = 120_000;

/** Within this process, or between several over Redis. */
async function openSignals(
  { redisUrl }: Config,
  { clock, log }: AppOptions,
): Promise<{ readonly wake: OpenWake; readonly fanout: Fanout; state?(): Promise<string | null> }> {
  if (redisUrl === undefined) return { wake: createInProcessWake(), fanout: createInProcessFanout(log) };
  const { openRedisSignals } = await import("#queue/signals/redis.ts");
  return openRedisSignals({ url: redisUrl, clock, log });
}

/** The demo page is for trying it out, on the embedded default. */
export const hasDemo = ({ databaseUrl }: Config): boolean => databaseUrl.startsWith("sqlite:");

/** The demo shows the first workspace. */
async function renderDemo(store: OpenStore): Promise<WebResponse> {
  const row = await store.read
    .selectFrom("workspaces")
    .select("id")
    .where("deleted_at", "is", null)
    .orderBy("created_at")
    .limit(1)
    .executeTakeFirst();
  if (row === undefined)
    return { status: 404, body: "There is no workspace yet. Make one with: parley workspace create --name Support\n" };
  return {
    status: 200,
    headers: { "content-type": "text/html; charset=utf-8" },
    body: demoPage({ workspaceId: row.id }),
  };
}
