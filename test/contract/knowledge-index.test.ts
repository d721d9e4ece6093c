import { openEmbeddedIndex } from "#knowledge/embedded-index.ts";
import { silentLog } from "../support/knowledge.ts";
import { knowledgeIndexContract } from "./knowledge-index.ts";

knowledgeIndexContract("the embedded index", async (store) =>
  openEmbeddedIndex({ store, path: ":memory:", log: silentLog }),
);
