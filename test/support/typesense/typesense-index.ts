import type { Store } from "#database/contract.ts";
import { runLane } from "#queue/worker/run-lane.ts";
import type { KnowledgeIndex } from "#knowledge/index/contract.ts";
import { knowledgeLane, queueKnowledge } from "#knowledge/index/work.ts";
import { createTypesenseIndex } from "#knowledge/typesense/typesense-index.ts";
import { createTypesense } from "#database/search/typesense/client.ts";
import { silentLog } from "../knowledge/knowledge.ts";
import type { TestTypesense } from "./typesense-server.ts";
import { createWorkTable } from "#queue/work-table.ts";

export interface OpenTypesenseIndex extends KnowledgeIndex {
  /** Runs the sync work, as a worker would: sends all changes to the server. */
  settle(workspaceId: string): Promise<void>;
}

/** An index without a fallback: every answer has to come from the server, which is closed with it. */
export async function openTypesenseIndex(store: Store, server: TestTypesense): Promise<OpenTypesenseIndex> {
  const clock = { now: () => Date.now(), timer: () => () => undefined };
  const run = (lane: string): Promise<boolean> => runLane({ store, clock, works: createWorkTable([index.work]) }, lane);
  const index = createTypesenseIndex({
    store,
    typesense: await createTypesense(server.options),
    base: {
      search: () => Promise.reject(new Error("the fallback was used")),
      prepare: async () => undefined,
      close: async () => undefined,
    },
    clock,
    log: silentLog,
    runLane: run,
  });
  return {
    ...index,
    async settle(workspaceId) {
      await store.write((tx) => queueKnowledge(tx, workspaceId, Date.now()));
      while (await run(knowledgeLane(workspaceId)));
    },
    async close() {
      await index.close();
      const violations = server.violations;
      await server.close();
      if (violations.length > 0) throw new Error(`requests that the API does not describe: ${violations.join("; ")}`);
    },
  };
}
