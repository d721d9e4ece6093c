import type { Connections } from "#channel-host/connections.ts";
import type { IndexRefresher } from "#knowledge/index/refresher.ts";
import type { Services } from "./services.ts";
import type { Signals } from "./signals.ts";
import { sizeText } from "#domain/files.ts";
import type { DependencyState } from "#http/dependencies.ts";
import type { ProcessLease } from "#queue/process-lease.ts";
import type { OpenStore } from "#database/open.ts";
import type { Disk } from "#files/disk.ts";

export interface WatchedParts {
  readonly services: Services;
  readonly process: Pick<ProcessLease, "writes">;
  readonly signals: Signals;
  readonly refresher: Pick<IndexRefresher, "trouble">;
  readonly connections: Pick<Connections, "states"> | undefined;
}

/** States of everything that the program depends on. */
export async function dependencyStates(parts: WatchedParts): Promise<readonly DependencyState[]> {
  const { services, process, signals, refresher, connections } = parts;
  return [
    ...(await storageStates(services.store, process, signals.state)),
    await diskState(services.disk),
    ...(services.outside === undefined ? [] : [degradedBy("search engine", await services.searchTrouble())]),
    ...modelState("documents", refresher.trouble() ?? undefined),
    ...modelState("model", services.modelTrouble()),
    ...modelState("reranker", services.rerankerTrouble()),
    ...modelState("embedding server", await services.embedderTrouble()),
    ...(connections?.states() ?? []).map(({ name, state, cause }): DependencyState => ({
      name: `channel ${name}`,
      // The other channels work, so the process stays in service.
      state: state === "broken" ? "degraded" : "ready",
      cause,
    })),
  ];
}

/** Below the reserve, messages are still accepted and answered. */
async function diskState({ freeBytes, reserveBytes }: Disk): Promise<DependencyState> {
  let free: number;
  try {
    free = await freeBytes();
  } catch (error) {
    return degradedBy("disk", `free space is unknown: ${error instanceof Error ? error.message : "unknown failure"}`);
  }
  const cause = `${sizeText(free)} are free and ${sizeText(reserveBytes)} are kept (FILES_RESERVE_MB): no files are taken until there is room`;
  return degradedBy("disk", free < reserveBytes ? cause : null);
}

async function storageStates(
  store: OpenStore,
  process: Pick<ProcessLease, "writes">,
  signalState: (() => Promise<string | null>) | undefined,
): Promise<readonly DependencyState[]> {
  const states: DependencyState[] = [];
  try {
    await store.read.selectFrom("workspaces").select("id").limit(1).execute();
    states.push(
      process.writes()
        ? { name: "database", state: "ready", cause: null }
        : {
            name: "database",
            state: "failed",
            cause: "the database cannot be written to, perhaps because its disk is full; see the log",
          },
    );
  } catch {
    states.push({
      name: "database",
      state: "failed",
      cause: "the database does not answer; see DATABASE_URL and the log",
    });
  }
  if (signalState !== undefined) {
    const cause = await signalState();
    // The database is the queue, so work continues without Redis, with a delay.
    states.push(degradedBy("redis", cause));
  }
  return states;
}

/** State of a dependency that the program does not need. */
const degradedBy = (name: string, cause: string | null): DependencyState => ({
  name,
  state: cause === null ? "ready" : "degraded",
  cause,
});

/** Without models the bot still answers: from passages that words find and order, in the documents' sentences. */
function modelState(name: string, trouble: string | null | undefined): readonly DependencyState[] {
  return trouble === undefined ? [] : [degradedBy(name, trouble)];
}
