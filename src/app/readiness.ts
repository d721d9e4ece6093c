import { sizeText } from "#domain/files.ts";
import type { DependencyState } from "#http/dependencies.ts";
import type { ProcessLease } from "#queue/process-lease.ts";
import type { OpenStore } from "#database/open.ts";
import type { Disk } from "#files/disk.ts";

/** Below the reserve, messages are still taken and answered. */
export async function diskState({ freeBytes, reserveBytes }: Disk): Promise<DependencyState> {
  let free: number;
  try {
    free = await freeBytes();
  } catch (error) {
    return degradedBy("disk", `free space is unknown: ${error instanceof Error ? error.message : "unknown failure"}`);
  }
  const cause = `${sizeText(free)} are free and ${sizeText(reserveBytes)} are kept (FILES_RESERVE_MB): no files are taken until there is room`;
  return degradedBy("disk", free < reserveBytes ? cause : null);
}

export async function readiness(
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
    // Without it everything goes on, more slowly: the database is the queue.
    states.push(degradedBy("redis", cause));
  }
  return states;
}

/** State of a dependency that the program can do without. */
export const degradedBy = (name: string, cause: string | null): DependencyState => ({
  name,
  state: cause === null ? "ready" : "degraded",
  cause,
});

/** Without it questions are still answered: in the documents' own sentences, by their words, from what is indexed. */
export function modelState(name: string, trouble: string | null | undefined): readonly DependencyState[] {
  return trouble === undefined ? [] : [degradedBy(name, trouble)];
}
