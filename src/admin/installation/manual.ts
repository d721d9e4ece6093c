import { readdir, readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { Store } from "#database/contract.ts";

export interface ManualDependencies {
  readonly store: Store;
  readonly documents: {
    ofFiles(
      workspaceId: string,
      fileNames: readonly string[],
    ): Promise<readonly { readonly id: string; readonly title: string; readonly indexedAt: number | null }[]>;
    remove(workspaceId: string, documentId: string): Promise<boolean>;
  };
}

export const manual = new URL("../../../docs/", import.meta.url);

/**
 * The manual's pages that the first start has added, as far as nobody has replaced them since: it adds them before it
 * makes the first operator and the first key.
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

/** Removes them, and tells which are gone. */
export async function removeManual(shelf: ManualDependencies, workspaceId: string): Promise<readonly string[]> {
  const removed = [];
  for (const { id } of await manualDocuments(shelf, workspaceId)) {
    if (await shelf.documents.remove(workspaceId, id)) removed.push(id);
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
