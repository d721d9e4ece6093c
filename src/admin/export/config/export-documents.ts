import { Problem } from "#domain/problem.ts";
import type { FileArticle, FileWebsite } from "#config/sections/documents.ts";
import type { Reader } from "#database/contract.ts";
import type { Documents } from "#knowledge/documents/documents.ts";

/** A website in the form of the file, with its document. */
export interface ExportedWebsite {
  readonly id: string;
  /** The one that the dashboard shows. The file has it only if a person chose it. */
  readonly title: string;
  readonly website: FileWebsite;
}

/** The websites of a workspace, oldest first. */
export async function websitesIn(read: Reader, workspaceId: string): Promise<readonly ExportedWebsite[]> {
  const rows = await read
    .selectFrom("documents")
    .innerJoin("crawls", "crawls.document_id", "documents.id")
    .select(["id", "url", "title", "own_title", "audience", "max_pages", "sitemap"])
    .where("workspace_id", "=", workspaceId)
    .where("source", "=", "crawl")
    .where("parent_id", "is", null)
    .orderBy("created_at")
    .orderBy("id")
    .execute();
  return rows.map(({ id, url, title, own_title: ownTitle, audience, max_pages: pages, sitemap }) => ({
    id,
    title,
    website: {
      url: url ?? "",
      ...(ownTitle === 1 ? { title } : {}),
      max_pages: pages,
      ...(sitemap === null ? {} : { sitemap }),
      ...audienceIn(audience),
    },
  }));
}

/** An article without its text. */
export interface StoredArticle {
  readonly id: string;
  readonly title: string;
  readonly audience: FileArticle["audience"];
}

/** The articles of a workspace, oldest first. */
export async function articlesIn(read: Reader, workspaceId: string): Promise<readonly StoredArticle[]> {
  const rows = await read
    .selectFrom("documents")
    .select(["id", "title", "audience"])
    .where("workspace_id", "=", workspaceId)
    .where("article", "=", 1)
    .orderBy("created_at")
    .orderBy("id")
    .execute();
  return rows.map(({ id, title, audience }) => ({ id, title, audience: audienceIn(audience).audience }));
}

/** With their texts. `leftOut`: the titles of those whose text cannot be read. */
export async function exportArticles(
  read: Reader,
  documents: Pick<Documents, "content">,
  workspaceId: string,
): Promise<{ readonly articles: readonly FileArticle[]; readonly leftOut: readonly string[] }> {
  const articles: FileArticle[] = [];
  const leftOut: string[] = [];
  for (const { id, title, audience } of await articlesIn(read, workspaceId)) {
    const content = await readableContent(documents, workspaceId, id);
    if (content === undefined) leftOut.push(title);
    else articles.push({ title, text: content.text, ...(audience === undefined ? {} : { audience }) });
  }
  return { articles, leftOut };
}

/** The text of an article. Undefined where it cannot be read. */
export async function readableContent(documents: Pick<Documents, "content">, workspaceId: string, id: string) {
  try {
    return await documents.content(workspaceId, id);
  } catch (error) {
    if (error instanceof Problem && error.code === "not_editable") return undefined;
    throw error;
  }
}

/** `stored`: a JSON array of tags. */
function audienceIn(stored: string): Pick<FileArticle, "audience"> {
  const tags = JSON.parse(stored) as readonly string[];
  return tags.length === 0 ? {} : { audience: [...tags] };
}
