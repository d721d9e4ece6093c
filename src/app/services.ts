import { dirname, join } from "node:path";
import type { Logger } from "pino";
import type { Registry } from "prom-client";
import { createAnswerer, extractiveComposer } from "#answering/answerer.ts";
import { createAngerJudge } from "#answering/classify/anger-judge.ts";
import { createModelComposer } from "#answering/generate/model-composer.ts";
import { emitDocumentEvent } from "#conversations/transaction/events.ts";
import { createCustomers } from "#conversations/contacts/customers.ts";
import type { Customers } from "#conversations/contacts/customers.ts";
import type { Answerer, JudgeAnger } from "#answering/contract.ts";
import type { Clock } from "#runtime/clock.ts";
import type { ConversationSearch } from "#database/search/contract.ts";
import { createWorkspaces } from "#database/queries/workspaces.ts";
import type { OpenWake } from "#queue/signals/in-process.ts";
import { createInProcessFanout } from "#queue/signals/in-process.ts";
import { runLane } from "#queue/worker/run-lane.ts";
import { createDocuments } from "#knowledge/documents/documents.ts";
import type { Documents } from "#knowledge/documents/documents.ts";
import type { KnowledgeIndex } from "#knowledge/index/contract.ts";
import { openEmbeddedIndex } from "#knowledge/index/embedded-index.ts";
import { createHybridIndex } from "#knowledge/vectors/hybrid-index.ts";
import type { IndexRefresher } from "#knowledge/index/refresher.ts";
import { refreshedIndex, refreshedVectors, openIndexRefresher } from "#knowledge/index/refresher.ts";
import type { Vectors } from "#knowledge/vectors/vectors.ts";
import { createVectors } from "#knowledge/vectors/vectors.ts";
import type { TypesenseIndex } from "#knowledge/typesense/typesense-index.ts";
import { createTypesenseIndex } from "#knowledge/typesense/typesense-index.ts";
import type { Disk, FreeBytes } from "#files/disk.ts";
import { createDisk } from "#files/disk.ts";
import { openFiles } from "#files/open.ts";
import type { OpenFiles } from "#files/open.ts";
import { createConversationSearch } from "#database/search/open.ts";
import type { OutsideSearch } from "#database/search/typesense/search.ts";
import { createTypesenseSearch } from "#database/search/typesense/search.ts";
import type { OpenStore } from "#database/open.ts";
import { openStore } from "#database/open.ts";
import { createTypesense } from "#database/search/typesense/client.ts";
import type { Opened } from "#channels/host/registry.ts";
import { createChannels } from "#channels/host/registry.ts";
import { loadAdapter } from "#channels/load-adapter.ts";
import { endEach } from "#runtime/closing.ts";
import type { Config } from "#config/environment.ts";
import { defaultReserveBytes } from "#config/environment.ts";
import { makeDataFolder } from "#runtime/data-folder.ts";
import { createMetrics } from "#metrics/metrics.ts";
import type { GuardedFetch } from "#outbound/guarded-fetch.ts";
import { openGuardedFetch } from "#outbound/guarded-fetch.ts";
import { createSecrets, loadSecret, peekSecret } from "#runtime/secrets.ts";
import type { Secrets } from "#runtime/secrets.ts";
import { createSearchMetrics } from "#metrics/search.ts";
import { createLookUps } from "#skills/look-up.ts";
import { createSkilledAnswerer } from "#skills/skilled-answerer.ts";
import { createModelMetrics } from "#metrics/model.ts";
import { version } from "#runtime/version.ts";
import { readsWork } from "./work-payloads.ts";

export interface ServicesOptions {
  readonly clock: Clock;
  readonly log: Logger;
  /** How much room the disk has; absent: as the system says. */
  readonly freeBytes?: FreeBytes;
  /** For requests to addresses that a user has given; another than the one that reaches public addresses only. */
  readonly outbound?: GuardedFetch;
}

/** What commands need without serving anything: the database, the secret, the documents. */
export interface Services {
  readonly store: OpenStore;
  readonly secrets: Secrets;
  readonly documents: Documents;
  /** Does what is due in a lane of documents' work; false when nothing is, or it is another process's to do. */
  runLane(lane: string): Promise<boolean>;
  readonly search: ConversationSearch;
  /** The same, where an engine beside the database searches. */
  readonly outside: OutsideSearch | undefined;
  /** Passages, where that engine holds them. */
  readonly knowledge: TypesenseIndex | undefined;
  /** Why that engine does not do all of its work now, or null. */
  searchTrouble(): Promise<string | null>;
  /** Reaches addresses that somebody else has chosen. */
  readonly guardedFetch: GuardedFetch;
  readonly answerer: Answerer;
  readonly judgeAnger: JudgeAnger;
  /** Why the language model does not answer now, null where nothing is known against it; undefined where there is none. */
  modelTrouble(): string | null | undefined;
  /** The same of the embedding server. */
  embedderTrouble(): string | null | undefined;
  /** What passages mean, where an embedding server tells. */
  readonly vectors: Vectors | undefined;
  readonly customers: Customers;
  /** The bytes of files that customers and agents send. */
  readonly files: OpenFiles;
  readonly disk: Disk;
  /** Brings what answers are found with up to date, from now on and by itself; for a process that answers. */
  startIndexRefresh(): IndexRefresher;
  /** Drops what the search index holds of a deleted workspace. */
  dropKnowledge(workspaceId: string): Promise<void>;
  close(): Promise<void>;
}

/** Opens the parts that every command uses. The schema must be up to date. */
export async function openServices(
  config: Config,
  { clock, log, outbound: given, freeBytes }: ServicesOptions,
  wake?: OpenWake,
  metrics?: Registry,
): Promise<Services> {
  makeDataFolder(config.dataDir);
  const secrets = createSecrets(loadSecret(config.secret, config.dataDir));
  const store = await openStore(config.databaseUrl);
  const embedded = openEmbeddedIndex({ store, path: join(config.dataDir, "knowledge-index.sqlite"), log });
  const disk = diskOf(config, freeBytes);
  const files = openFiles({
    config: config.files,
    dataDir: config.dataDir,
    publicUrl: config.publicUrl,
    secrets,
    clock,
    disk,
  });
  const guardedFetch = given ?? openGuardedFetch({ allowPrivate: config.file.allowPrivate ?? false });
  const documents = createDocuments({
    store,
    clock,
    log,
    fetch: guardedFetch,
    onSettled: (tx, { id }) => emitDocumentEvent(tx, id, clock.now()),
    // A database server has its own disk.
    ...(config.databaseUrl.startsWith("sqlite:") ? { claimRoom: (bytes: number) => disk.claim(bytes) } : {}),
    ...(wake === undefined ? {} : { wake }),
  });
  const base = createConversationSearch(store);
  const typesense =
    config.typesense === undefined
      ? undefined
      : createTypesense({ ...config.typesense, observe: createSearchMetrics(metrics) });
  const outside =
    typesense === undefined
      ? undefined
      : createTypesenseSearch({
          store,
          base,
          typesense,
          clock,
          log,
          // A command tells nobody: the server looks for work every second.
          wake: wake ?? { notify: () => undefined },
        });
  const search = outside ?? base;
  const knowledge =
    typesense === undefined
      ? undefined
      : createTypesenseIndex({ store, typesense, base: embedded, clock, log, runLane: runOwnLane });
  const byWords: KnowledgeIndex = knowledge ?? embedded;
  const embedder =
    config.embedding === undefined
      ? undefined
      : (await import("#models/embedder.ts")).createEmbedder(config.embedding, clock);
  const vectors = embedder === undefined ? undefined : createVectors({ store, embedder, clock, log });
  const index =
    embedder === undefined || vectors === undefined
      ? byWords
      : createHybridIndex({ words: byWords, vectors, embedder, read: store.read, log });
  function runOwnLane(lane: string): Promise<boolean> {
    const handlers = { ...documents.work, ...(knowledge === undefined ? {} : { knowledge: knowledge.work }) };
    return runLane({ store, clock, handlers, reads: readsWork }, lane);
  }
  async function searchTrouble(): Promise<string | null> {
    const { trouble, collections } = (await outside?.state()) ?? { trouble: null, collections: [] };
    const count = trouble === null ? ((await knowledge?.unfinished(collections)) ?? 0) : 0;
    return count === 0
      ? trouble
      : `the passages of ${count} workspaces are not in Typesense yet; until then the embedded index answers for them`;
  }
  // Its packages are large, and needed only where there is a model.
  const model =
    config.model === undefined ? undefined : (await import("#models/model.ts")).createModel(config.model, clock);
  // Counted from the start, so that a figure of nothing is there to be read.
  const counts = createModelMetrics(metrics);
  const composer =
    model === undefined ? extractiveComposer : createModelComposer({ model, instead: extractiveComposer, log, counts });
  return {
    store,
    secrets,
    documents,
    answerer: createSkilledAnswerer({
      documents: createAnswerer({ index, composer }),
      lookUps: createLookUps({
        store,
        clock,
        guardedFetch,
        seal: (plain) => secrets.seal(plain),
        open: (sealed) => secrets.open(sealed),
      }),
      model,
      clock,
      log,
    }),
    judgeAnger: createAngerJudge({ model, log }),
    modelTrouble: () => model?.trouble(),
    embedderTrouble: () => embedder?.trouble(),
    vectors,
    guardedFetch,
    runLane: runOwnLane,
    search,
    outside,
    knowledge,
    searchTrouble,
    customers: createCustomers({ store, clock, search, files }),
    files,
    disk,
    startIndexRefresh: () =>
      openIndexRefresher({
        indexes: [
          refreshedIndex(store.read, (workspaceId, signal) => byWords.prepare(workspaceId, signal)),
          ...(vectors === undefined
            ? []
            : [refreshedVectors(store.read, (workspaceId) => vectors.prepare(workspaceId))]),
        ],
        clock,
        log,
      }),
    dropKnowledge: async (workspaceId) => index.drop?.(workspaceId),
    async close() {
      const failures: unknown[] = [];
      const ends = [() => guardedFetch.close(), async () => index.close(), () => store.close()];
      for (const end of ends) await endEach([end], (error) => failures.push(error));
      if (failures.length > 0) throw failures[0];
    },
  };
}

/** The folders of files and of the SQLite database. */
export function diskOf({ dataDir, databaseUrl, files }: Config, freeBytes?: FreeBytes): Disk {
  const folders = databaseUrl.startsWith("sqlite:")
    ? [dataDir, dirname(databaseUrl.slice("sqlite:".length))]
    : [dataDir];
  return createDisk(folders, files?.reserveBytes ?? defaultReserveBytes, freeBytes);
}

export interface ChannelCheck {
  readonly name: string;
  readonly ok: boolean;
  /** What the account is called on its platform, or what is wrong and the mend. */
  readonly detail: string;
}

/** Says where the files of messages are stored, or throws an Error that tells the mend. Needs no database. */
export function checkFiles(config: Config, { clock }: Pick<ServicesOptions, "clock">): Promise<string> {
  const secrets = createSecrets(peekSecret(config));
  const { dataDir, publicUrl } = config;
  return openFiles({ config: config.files, dataDir, publicUrl, secrets, clock, disk: diskOf(config) }).check(
    AbortSignal.timeout(channelCheckMs),
  );
}

const channelCheckMs = 10_000;

const nothingReceived = (): never => {
  throw new Error("nothing is received while the channels are checked");
};

/**
 * Asks the platform of every account (or of those that are `wanted`) whether it works. The schema must be up to date.
 * `passing`: the database is thrown away afterwards.
 */
export async function checkChannels(
  config: Config,
  { clock, log }: ServicesOptions,
  wanted: (accountId: string) => boolean = () => true,
  passing = false,
): Promise<readonly ChannelCheck[]> {
  const core = await openServices(config, { clock, log });
  const { store, secrets } = core;
  const fanout = createInProcessFanout(log);
  const channels = createChannels({
    store,
    clock,
    log,
    fanout,
    secrets,
    workspaces: createWorkspaces(store, clock),
    engine: nothingReceived,
    desk: nothingReceived,
    load: loadAdapter,
    metrics: createMetrics(version, clock),
    files: core.files,
    publicUrl: config.publicUrl,
    passing,
  });
  try {
    const accounts = await store.read
      .selectFrom("accounts")
      .select(["id", "name", "channel"])
      .where("enabled", "=", 1)
      .where("managed_by", "!=", "builtin")
      .orderBy("name")
      .execute();
    const checked = await Promise.all(
      accounts
        .filter(({ id }) => wanted(id))
        .map(async ({ id, name, channel }): Promise<readonly ChannelCheck[]> => {
          let opened: Opened | undefined;
          const made = await attempt(`channel ${name}`, async () => {
            opened = await channels.open(id);
            return (await opened?.adapter.check?.(AbortSignal.timeout(channelCheckMs))) ?? channel;
          });
          const desk = opened?.adapter.desk;
          if (desk === undefined) return [made];
          return [made, await attempt(`desk ${name}`, () => desk.check(AbortSignal.timeout(channelCheckMs)))];
        }),
    );
    return checked.flat();
  } finally {
    await channels.close();
    await fanout.close();
    await core.close();
  }
}

async function attempt(name: string, run: () => Promise<string>): Promise<ChannelCheck> {
  try {
    return { name, ok: true, detail: await run() };
  } catch (error) {
    return { name, ok: false, detail: error instanceof Error ? error.message : "unknown failure" };
  }
}
