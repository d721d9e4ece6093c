import { afterAll, beforeAll } from "vitest";
import { createExtractiveAnswerer } from "./answerer.ts";
import { defaultSettings } from "#domain/workspace/settings.ts";
import type { Store } from "#database/contract.ts";
import { openEmbeddedIndex } from "#knowledge/index/embedded-index.ts";
import type { KnowledgeIndex } from "#knowledge/index/contract.ts";
import { newSqlite, openTestStore } from "#test/support/database/databases.ts";
import { newWorkspace, silentLog, testKnowledge } from "#test/support/knowledge/knowledge.ts";
import { openTypesenseIndex } from "#test/support/typesense/typesense-index.ts";
import { startTypesense } from "#test/support/typesense/typesense-server.ts";
import type { LanguageSet } from "#test/support/knowledge/language-suite.ts";
import { languageContract } from "#test/support/knowledge/language-suite.ts";

inEvery("the embedded index", async (store) => openEmbeddedIndex({ store, path: ":memory:", log: silentLog }));
inEvery("Typesense", async (store) => openTypesenseIndex(store, await startTypesense()));

function inEvery(name: string, openIndex: (store: Store) => Promise<KnowledgeIndex>): void {
  let opened: Awaited<ReturnType<typeof openTestStore>>;
  let index: KnowledgeIndex;
  beforeAll(async () => {
    opened = await openTestStore(newSqlite);
    index = await openIndex(opened.store);
  });
  afterAll(async () => {
    await index.close();
    await opened.close();
  });

  languageContract(name, async () => {
    const workspaces = new Map<string, string>();
    const answerer = createExtractiveAnswerer({ index });
    const workspaceOf = async (set: LanguageSet): Promise<string> => {
      const known = workspaces.get(set.language);
      if (known !== undefined) return known;
      const workspaceId = await newWorkspace(opened.store);
      workspaces.set(set.language, workspaceId);
      const { add } = testKnowledge(opened.store);
      for (const [at, [title, text]] of set.documents.entries()) {
        await add(workspaceId, `d${at}.md`, `# ${title}\n\n${text}`);
      }
      return workspaceId;
    };
    return {
      async ask(set, text, before) {
        const history = before === undefined ? [] : [{ role: "user" as const, content: before }];
        const workspaceId = await workspaceOf(set);
        const { sources, answered } = await answerer.answer(
          { workspaceId, text, history, strictness: "helpful", topK: 5, audience: [], settings: defaultSettings },
          new AbortController().signal,
        );
        return { title: sources[0]?.title, answered };
      },
    };
  });
}
