import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import { openEmbeddedIndex } from "./embedded-index.ts";
import { silentLog } from "#test/support/knowledge/knowledge.ts";
import { openTypesenseIndex } from "#test/support/typesense/typesense-index.ts";
import { startTypesense } from "#test/support/typesense/typesense-server.ts";
import { knowledgeIndexContract } from "#test/support/knowledge/index-suite.ts";

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
