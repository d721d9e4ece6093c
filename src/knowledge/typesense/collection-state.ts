import { randomBytes } from "node:crypto";
import type { Reader, Store, Tx } from "#database/contract.ts";
import type { KnowledgeCollectionsTable } from "#database/schema/knowledge.ts";
import { everyWorkspace, knowledgeKind, queueKnowledge } from "#knowledge/index/work.ts";
import { passagesForm } from "./passage-documents.ts";
import type { Searched } from "./search-scope.ts";

// Each workspace has one row: the live collection, which is searched, and the one in build, which replaces it when full.

export const aliasPrefix = "parley_knowledge_";
export const aliasOf = (workspaceId: string): string => `${aliasPrefix}${workspaceId}`;

/** Older forms are searched until a collection of the present form is full. A later form belongs to a newer program. */
const formsServed = [1, 3, 5, passagesForm];
/** The first form that also holds the passages' words. */
export const wordsFrom = 2;
/** The first form with a mark of the last write. */
const marksFrom = 4;

export interface KnowledgeState {
  /** The version that the collection should have. */
  readonly version: number;
  readonly collections: KnowledgeCollectionsTable | undefined;
}

/** Undefined for a workspace that was deleted. */
export async function knowledgeState(read: Reader, workspaceId: string): Promise<KnowledgeState | undefined> {
  const workspace = await read
    .selectFrom("workspaces")
    .select("knowledge_version as version")
    .where("id", "=", workspaceId)
    .where("deleted_at", "is", null)
    .executeTakeFirst();
  if (workspace === undefined) return undefined;
  return { version: workspace.version, collections: await collectionsOf(read, workspaceId) };
}

export const liveOf = (collections: KnowledgeCollectionsTable | undefined): string | null =>
  collections !== undefined && formsServed.includes(collections.live_form) ? collections.live : null;

export const searchedIn = ({ live_form: form, version }: KnowledgeCollectionsTable, live: string): Searched => ({
  collection: live,
  version: form < marksFrom ? null : version,
});

const presentForm = (workspaceId: string): string => `${aliasOf(workspaceId)}_v${passagesForm}_`;
export const newCollection = (workspaceId: string): string =>
  `${presentForm(workspaceId)}${randomBytes(5).toString("hex")}`;
export const isPresentForm = (workspaceId: string, name: string): boolean => name.startsWith(presentForm(workspaceId));

export function collectionsOf(db: Pick<Tx, "selectFrom">, workspaceId: string) {
  return db.selectFrom("knowledge_collections").selectAll().where("workspace_id", "=", workspaceId).executeTakeFirst();
}

export async function ensureCollections(tx: Tx, workspaceId: string): Promise<KnowledgeCollectionsTable> {
  const existing = await collectionsOf(tx, workspaceId);
  if (existing !== undefined) return existing;
  const row = { workspace_id: workspaceId, live: null, live_form: 0, building: null, version: -1, chunks: 0, terms: 0 };
  await tx.insertInto("knowledge_collections").values(row).execute();
  return row;
}

/** Does nothing while another collection is in build. */
export async function setBuilding(tx: Tx, workspaceId: string, building: string): Promise<void> {
  await tx
    .updateTable("knowledge_collections")
    .set({ building })
    .where("workspace_id", "=", workspaceId)
    .where("building", "is", null)
    .execute();
}

export async function forgetCollection(tx: Tx, workspaceId: string, name: string): Promise<void> {
  const update = () => tx.updateTable("knowledge_collections").where("workspace_id", "=", workspaceId);
  await update().set({ live: null, live_form: 0, version: -1, chunks: 0, terms: 0 }).where("live", "=", name).execute();
  await update().set({ building: null }).where("building", "=", name).execute();
  await tx.deleteFrom("knowledge_written").where("collection", "=", name).execute();
}

/** Queues a new collection for the workspace; the live one is searched until the new one is full. */
export async function rebuildKnowledge(tx: Tx, workspaceId: string, now: number): Promise<void> {
  await ensureCollections(tx, workspaceId);
  await setBuilding(tx, workspaceId, newCollection(workspaceId));
  await queueKnowledge(tx, workspaceId, now);
}

/** Workspaces with a collection in build, and the number of documents written to it. */
export async function knowledgeBuilds(
  read: Reader,
): Promise<readonly { readonly workspaceId: string; readonly documents: number }[]> {
  const rows = await read
    .selectFrom("knowledge_collections")
    .leftJoin("knowledge_written", "knowledge_written.collection", "knowledge_collections.building")
    .select((eb) => ["workspace_id as workspaceId", eb.fn.count("knowledge_written.document_id").as("documents")])
    .where("building", "is not", null)
    .groupBy("workspace_id")
    .execute();
  return rows.map(({ workspaceId, documents }) => ({ workspaceId, documents: Number(documents) }));
}

/** Ids of workspaces whose collection is missing, behind, or of another form than the present one. */
export async function outdatedWorkspaces(store: Store): Promise<string[]> {
  const rows = await store.read
    .selectFrom("workspaces")
    .leftJoin("knowledge_collections", "knowledge_collections.workspace_id", "workspaces.id")
    .select(["workspaces.id", "knowledge_version", "deleted_at", "live", "live_form", "version"])
    .execute();
  const isOutdated = (row: (typeof rows)[number]): boolean => {
    if (row.deleted_at !== null) return row.version !== null;
    const isCurrent = row.live !== null && row.live_form === passagesForm && row.version === row.knowledge_version;
    return !isCurrent && row.knowledge_version > 0;
  };
  return rows.filter(isOutdated).map(({ id }) => id);
}

/** Live collections that are not among these names. */
export async function missingCollections(read: Reader, names: readonly string[]) {
  const onServer = new Set(names);
  const rows = await read
    .selectFrom("knowledge_collections")
    .select(["workspace_id", "live"])
    .where("live", "is not", null)
    .$narrowType<{ live: string }>()
    .execute();
  return rows.filter(({ live }) => !onServer.has(live));
}

/** The number of workspaces without a live collection of the present form. */
export async function unfinishedCount(read: Reader): Promise<number> {
  const { count } = await read
    .selectFrom("knowledge_collections")
    .innerJoin("workspaces", "workspaces.id", "knowledge_collections.workspace_id")
    .select((eb) => eb.fn.countAll().as("count"))
    .where("deleted_at", "is", null)
    .where((eb) => eb.or([eb("live", "is", null), eb("live_form", "<>", passagesForm)]))
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** Applies to workspaces that are created later. */
export async function recordEveryWorkspace(store: Store): Promise<void> {
  await store.write((tx) => ensureCollections(tx, everyWorkspace));
}

/** Called by a start without Typesense, so that changes are no longer queued for it. */
export async function leaveTypesenseIndex(store: Store): Promise<void> {
  const left = await store.read.selectFrom("knowledge_collections").select("workspace_id").limit(1).executeTakeFirst();
  if (left === undefined) return;
  await store.write(async (tx) => {
    await tx.deleteFrom("knowledge_collections").execute();
    await tx.deleteFrom("knowledge_written").execute();
    await tx.deleteFrom("outbox").where("kind", "=", knowledgeKind.kind).execute();
  });
}
