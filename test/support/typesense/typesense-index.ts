import type { Store } from "#database/contract.ts";
import { runLane } from "#queue/worker/run-lane.ts";
import type { KnowledgeIndex } from "#knowledge/index/contract.ts";
import { knowledgeLane, queueKnowledge } from "#knowledge/index/work.ts";
import { createTypesenseIndex } from "#knowledge/typesense/typesense-index.ts";
import { createTypesense } from "#database/search/typesense/client.ts";
import { silentLog } from "../knowledge/knowledge.ts";
import type { TestTypesense } from "./typesense-server.ts";
import { readsWork } from "#app/work-payloads.ts";

export interface OpenTypesenseIndex extends KnowledgeIndex {
  /** Does what a worker would do: brings all that was added to the server. */
  settle(workspaceId: string): Promise<void>;
}

/** Without anything to fall back to: every answer has to come from the server, which is closed with it. */
export function openTypesenseIndex(store: Store, server: TestTypesense): OpenTypesenseIndex {
  const clock = { now: () => Date.now(), timer: () => () => undefined };
  const run = (lane: string): Promise<boolean> =>
    runLane({ store, clock, handlers: { knowledge: (rows) => index.work(rows) }, reads: readsWork }, lane);
  const index = createTypesenseIndex({
    store,
    typesense: createTypesense(server.options),
    base: {
      search: () => Promise.reject(new Error("the collection was not brought up to date")),
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
      const mistakes = server.mistakes;
      await server.close();
      if (mistakes.length > 0) throw new Error(`requests that the API does not describe: ${mistakes.join("; ")}`);
    },
  };
}
