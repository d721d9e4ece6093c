import { openEmbeddedIndex } from "#knowledge/embedded-index.ts";
import { silentLog } from "../support/knowledge.ts";
import { openTypesenseIndex } from "../support/typesense-index.ts";
import { imitation, namedTypesense } from "../support/typesense-server.ts";
import { knowledgeIndexContract } from "./knowledge-index.ts";

knowledgeIndexContract("the embedded index", async (store) =>
  openEmbeddedIndex({ store, path: ":memory:", log: silentLog }),
);

knowledgeIndexContract("Typesense, imitated", async (store) => openTypesenseIndex(store, await imitation()));

const named = namedTypesense();
if (named !== undefined) knowledgeIndexContract("Typesense itself", async (store) => openTypesenseIndex(store, named));
