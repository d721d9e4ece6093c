import type { Clock, Store } from "#engine/ports.ts";
import { buildsOf, queueBuild } from "#store/conversation-search-typesense.ts";
import type { OpenStore } from "#store/open.ts";
import type { TypesenseOptions } from "#store/typesense-client.ts";
import { createTypesense } from "#store/typesense-client.ts";
import { typesenseTrouble, typesenseVersion } from "#store/typesense-conversations.ts";

export function searchDoesNotGoOutside(): Error {
  return new Error("there is nothing to rebuild: the database searches by itself, and TYPESENSE_URL is not set");
}

/** Queues new collections of all workspaces, or of one; their ids. */
export async function rebuildSearch(store: Store, clock: Clock, only: string | undefined): Promise<readonly string[]> {
  let query = store.read.selectFrom("workspaces").select("id").where("deleted_at", "is", null);
  if (only !== undefined) query = query.where("id", "=", only);
  const ids = (await query.execute()).map(({ id }) => id);
  for (const id of ids) await store.write((tx) => queueBuild(tx, id, clock.now()));
  return ids;
}

/** In words, when it can be used. Throws an Error with the mend when it cannot. */
export async function searchEngineState(store: OpenStore, options: TypesenseOptions): Promise<string> {
  const typesense = createTypesense(options);
  const trouble = await typesenseTrouble(typesense);
  if (trouble !== null) {
    throw new Error(
      `${trouble}; until it answers, only lists with q fail. Check TYPESENSE_URL and that the server runs`,
    );
  }
  const version = await typesenseVersion(typesense);
  const pending = (await store.pendingMigrations()).length > 0;
  const builds = pending ? [] : await buildsOf(store.read);
  const progress = builds
    .map(({ workspaceId, built }) => `, ${workspaceId} is being indexed (${built} so far)`)
    .join("");
  return `Typesense ${version}, ${options.urls.length} ${options.urls.length === 1 ? "server" : "servers"}${progress}`;
}
