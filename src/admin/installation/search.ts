import type { Clock } from "#runtime/clock.ts";
import type { Store } from "#database/contract.ts";
import { knowledgeBuilds, rebuildKnowledge } from "#knowledge/typesense/collection-state.ts";
import { buildsOf, queueBuild } from "#database/search/typesense/queue.ts";
import type { OpenStore } from "#database/open.ts";
import type { TypesenseOptions } from "#database/search/typesense/client.ts";
import { createTypesense } from "#database/search/typesense/client.ts";
import {
  typesenseRights,
  typesenseState,
  typesenseVersion,
  versionTrouble,
} from "#database/search/typesense/health.ts";

export function searchDoesNotGoOutside(): Error {
  return new Error("there is nothing to rebuild: the database searches by itself, and TYPESENSE_URL is not set");
}

/** Queues a rebuild of the collections of all workspaces or of one. Returns the workspaces' ids. */
export async function rebuildSearch(store: Store, clock: Clock, only: string | undefined): Promise<readonly string[]> {
  let query = store.read.selectFrom("workspaces").select(["id", "knowledge_version"]).where("deleted_at", "is", null);
  if (only !== undefined) query = query.where("id", "=", only);
  const workspaces = await query.execute();
  for (const { id, knowledge_version: version } of workspaces) {
    await store.write(async (tx) => {
      await queueBuild(tx, id, clock.now());
      if (version > 0) await rebuildKnowledge(tx, id, clock.now());
    });
  }
  return workspaces.map(({ id }) => id);
}

const meanwhile = "Until then the embedded index answers questions, and the database searches conversations";

/** Describes the search if it can be used. Otherwise throws an Error with the fix. */
export async function searchEngineState(store: OpenStore, options: TypesenseOptions): Promise<string> {
  const typesense = await createTypesense(options);
  const { trouble } = await typesenseState(typesense);
  if (trouble !== null) throw new Error(`${trouble}. ${meanwhile}`);
  const version = await typesenseVersion(typesense);
  const refused = versionTrouble(version) ?? (await typesenseRights(typesense));
  if (refused !== null) throw new Error(`${refused}. ${meanwhile}`);
  const pending = (await store.pendingMigrations()).length > 0;
  const builds = pending ? [] : await buildsOf(store.read);
  const progress = builds
    .map(({ workspaceId, built }) => `, the conversations of ${workspaceId} are being indexed (${built} so far)`)
    .join("");
  const passages = (pending ? [] : await knowledgeBuilds(store.read))
    .map(({ workspaceId, documents }) => `, the documents of ${workspaceId} are being indexed (${documents} so far)`)
    .join("");
  return `Typesense ${version}, ${options.urls.length} ${options.urls.length === 1 ? "server" : "servers"}${progress}${passages}`;
}
