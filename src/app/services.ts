import type { LookupFunction } from "node:net";
import { dirname } from "node:path";
import type { Logger } from "pino";
import type { Registry } from "prom-client";
import { emitDocumentEvent } from "#conversations/transaction/effects/events.ts";
import { createCustomers } from "#conversations/retention/customers.ts";
import type { Customers } from "#conversations/retention/customers.ts";
import type { Config } from "#config/environment.ts";
import { defaultReserveBytes } from "#config/environment.ts";
import type { OpenStore } from "#database/open.ts";
import { openStore } from "#database/open.ts";
import type { Disk, FreeBytes } from "#files/disk.ts";
import { createDisk } from "#files/disk.ts";
import type { OpenFiles } from "#files/open.ts";
import { openFiles } from "#files/open.ts";
import { createDocuments } from "#knowledge/documents/documents.ts";
import type { Documents } from "#knowledge/documents/documents.ts";
import type { IndexRefresher } from "#knowledge/index/refresher.ts";
import { openIndexRefresher } from "#knowledge/index/refresher.ts";
import type { GuardedFetch } from "#outbound/guarded-fetch.ts";
import { createGuardedLookup, openGuardedFetch } from "#outbound/guarded-fetch.ts";
import type { MailTransport } from "#mail/transport.ts";
import { createMailTransport } from "#mail/transport.ts";
import type { OpenWake } from "#queue/signals/in-process.ts";
import { createWorkTable } from "#queue/work-table.ts";
import { runLane } from "#queue/worker/run-lane.ts";
import type { Clock } from "#runtime/clock.ts";
import { endEach } from "#runtime/closing.ts";
import { makeDataFolder } from "#runtime/data-folder.ts";
import type { Secrets } from "#runtime/secrets.ts";
import { createSecrets, loadSecret } from "#runtime/secrets.ts";
import type { Answering } from "./answering.ts";
import { createAnswering } from "./answering.ts";
import type { Searches } from "./searches.ts";
import { openSearches } from "./searches.ts";

export interface ServicesOptions {
  readonly clock: Clock;
  readonly log: Logger;
  /** Replaces the system's information on free disk space. */
  readonly freeBytes?: FreeBytes;
  /** Replaces the fetch that reaches public addresses only. */
  readonly outbound?: GuardedFetch;
}

/** The services that commands share with the server: the database, the secrets, the documents. */
export interface Services extends Answering, Omit<Searches, "index" | "refreshed"> {
  readonly store: OpenStore;
  /** For connections to servers that administrators have entered. */
  readonly guardedLookup: LookupFunction;
  readonly secrets: Secrets;
  readonly documents: Documents;
  /** Runs what is due in a lane of documents' work. False: nothing is due, or another process has it. */
  runLane(lane: string): Promise<boolean>;
  /** Fetches addresses that users have entered. */
  readonly guardedFetch: GuardedFetch;
  readonly customers: Customers;
  /** Files of customers and agents. */
  readonly files: OpenFiles;
  readonly disk: Disk;
  /** Sends the program's own mails; undefined: no server is configured. */
  readonly mail: MailTransport | undefined;
  /** Keeps the indexes up to date. For processes that answer. */
  startIndexRefresh(): IndexRefresher;
  /** Removes a deleted workspace from the index. */
  dropKnowledge(workspaceId: string): Promise<void>;
  close(): Promise<void>;
}

/** Opens the parts that every command uses. The schema must be up to date. */
export async function openServices(
  config: Config,
  { clock, log, outbound, freeBytes }: ServicesOptions,
  wake?: OpenWake,
  metrics?: Registry,
): Promise<Services> {
  const { dataDir, publicUrl, databaseUrl } = config;
  makeDataFolder(dataDir);
  const secrets = createSecrets(loadSecret(config.secret, dataDir));
  const store = await openStore(databaseUrl);
  const disk = diskOf(config, freeBytes);
  const files = openFiles({ config: config.files, dataDir, publicUrl, secrets, clock, disk });
  const allowPrivate = config.file.allowPrivate ?? false;
  const guardedFetch = outbound ?? openGuardedFetch({ allowPrivate });
  const documents = createDocuments({
    store,
    clock,
    log,
    fetch: guardedFetch,
    onSettled: (tx, { id }) => emitDocumentEvent(tx, id, clock.now()),
    // A database server has its own disk.
    ...(databaseUrl.startsWith("sqlite:") ? { claimRoom: (bytes: number) => disk.claim(bytes) } : {}),
    ...(wake === undefined ? {} : { wake }),
  });
  const runOwnLane = (lane: string): Promise<boolean> => {
    const works = createWorkTable([...documents.work, ...(knowledge === undefined ? [] : [knowledge.work])]);
    return runLane({ store, clock, works }, lane);
  };
  const opened = await openSearches({ config, store, clock, log, wake, metrics, runLane: runOwnLane });
  const { index, refreshed, ...searches } = opened;
  const { knowledge, search } = searches;
  const answering = await createAnswering({ config, store, secrets, guardedFetch, index, clock, log, metrics });
  return {
    ...searches,
    guardedLookup: createGuardedLookup({ allowPrivate }),
    ...answering,
    store,
    secrets,
    documents,
    guardedFetch,
    runLane: runOwnLane,
    customers: createCustomers({ store, clock, search, files }),
    files,
    disk,
    mail: config.mail === undefined ? undefined : createMailTransport(config.mail),
    startIndexRefresh: () => openIndexRefresher({ indexes: refreshed, clock, log }),
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
