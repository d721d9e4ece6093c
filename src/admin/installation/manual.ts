import { readdir, readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { Actor } from "#domain/conversation/message.ts";
import type { Clock } from "#runtime/clock.ts";
import type { Store, Tx } from "#database/contract.ts";
import { recordChange } from "#admin/audit.ts";

type RecordDocumentRemoval = (tx: Tx, change: { readonly title: string }) => Promise<void>;

export interface ManualDependencies {
  readonly store: Store;
  readonly documents: {
    ofFiles(
      workspaceId: string,
      fileNames: readonly string[],
    ): Promise<readonly { readonly id: string; readonly title: string; readonly indexedAt: number | null }[]>;
    remove(workspaceId: string, documentId: string, record: RecordDocumentRemoval): Promise<boolean>;
  };
}

export const manual = new URL("../../../docs/", import.meta.url);

/**
 * The manual's pages as the first start added them, without those replaced since. The first start adds them before it
 * creates the first agent and the first key, which distinguishes them from uploads.
 */
export async function manualDocuments(
  { store, documents }: ManualDependencies,
  workspaceId: string,
  pages: URL = manual,
): Promise<readonly { readonly id: string; readonly title: string }[]> {
  const first = await Promise.all(
    (["agents", "api_keys"] as const).map((table) =>
      store.read
        .selectFrom(table)
        .select((eb) => eb.fn.min("created_at").as("at"))
        .where("workspace_id", "=", workspaceId)
        .executeTakeFirst(),
    ),
  );
  const madeBefore = Math.min(...first.map((row) => (row?.at === null || row === undefined ? 0 : row.at)));
  const known = await documents.ofFiles(workspaceId, await pageNames(pages));
  return known.filter(({ indexedAt }) => indexedAt !== null && indexedAt <= madeBefore);
}

/** Removes these pages and returns their ids. */
export async function removeManual(
  dependencies: ManualDependencies & { readonly clock: Clock },
  { workspaceId, by }: { readonly workspaceId: string; readonly by: Actor },
): Promise<readonly string[]> {
  const { clock, documents } = dependencies;
  const record: RecordDocumentRemoval = (tx, { title: subject }) =>
    recordChange(tx, { workspaceId, by, action: "document_removed", subject, now: clock.now() });
  const removed = [];
  for (const { id } of await manualDocuments(dependencies, workspaceId)) {
    if (await documents.remove(workspaceId, id, record)) removed.push(id);
  }
  return removed;
}

export async function manualPages(
  pages: URL = manual,
): Promise<readonly { readonly fileName: string; readonly bytes: Buffer }[]> {
  const names = await pageNames(pages);
  return Promise.all(names.map(async (fileName) => ({ fileName, bytes: await readFile(new URL(fileName, pages)) })));
}

const pageNames = async (pages: URL): Promise<string[]> =>
  (await readdir(fileURLToPath(pages))).filter((name) => name.endsWith(".md")).toSorted();
