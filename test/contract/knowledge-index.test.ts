import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import { openEmbeddedIndex } from "#knowledge/index/embedded-index.ts";
import { silentLog } from "../support/knowledge.ts";
import { openTypesenseIndex } from "../support/typesense-index.ts";
import { startTypesense } from "../support/typesense-server.ts";
import { knowledgeIndexContract } from "./knowledge-index.ts";

knowledgeIndexContract("the embedded index", async (store) =>
  openEmbeddedIndex({ store, path: ":memory:", log: silentLog }),
);

const folder = mkdtempSync(join(tmpdir(), "parley-index-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;

knowledgeIndexContract("the embedded index in a thread of its own", async (store) => {
  files += 1;
  return openEmbeddedIndex({ store, path: join(folder, `${files}.sqlite`), log: silentLog, threadFrom: 0 });
});

knowledgeIndexContract("Typesense", async (store) => openTypesenseIndex(store, await startTypesense()));
