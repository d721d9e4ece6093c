import type { Store } from "#engine/ports.ts";
import { runLane } from "#jobs/run-lane.ts";
import { openEmbeddedIndex } from "#knowledge/embedded-index.ts";
import type { KnowledgeIndex } from "#knowledge/index-port.ts";
import { createTypesenseIndex } from "#knowledge/typesense/typesense-index.ts";
import { createTypesense } from "#store/typesense-client.ts";
import { silentLog } from "../support/knowledge.ts";
import type { TypesenseServer } from "../support/typesense-server.ts";
import { imitation, namedTypesense } from "../support/typesense-server.ts";
import { knowledgeIndexContract } from "./knowledge-index.ts";

knowledgeIndexContract("the embedded index", async (store) =>
  openEmbeddedIndex({ store, path: ":memory:", log: silentLog }),
);

knowledgeIndexContract("Typesense, imitated", async (store) => inTypesense(store, await imitation()));

const named = namedTypesense();
if (named !== undefined) knowledgeIndexContract("Typesense itself", async (store) => inTypesense(store, named));

/** Without anything to fall back to: every answer has to come from the server. */
function inTypesense(store: Store, server: TypesenseServer): KnowledgeIndex {
  const clock = { now: () => Date.now(), timer: () => () => undefined };
  const index = createTypesenseIndex({
    store,
    typesense: createTypesense(server.options),
    base: {
      search: () => Promise.reject(new Error("the collection was not brought up to date")),
      close: async () => undefined,
    },
    clock,
    log: silentLog,
    runLane: (lane) => runLane({ store, clock, handlers: { knowledge: (rows) => index.work(rows) } }, lane),
  });
  return {
    ...index,
    async close() {
      await index.close();
      const mistakes = server.mistakes();
      await server.close();
      if (mistakes.length > 0) throw new Error(`requests that the API does not describe: ${mistakes.join("; ")}`);
    },
  };
}
