import { isDeepStrictEqual } from "node:util";
import type { Actor } from "#domain/conversation/message.ts";
import { Problem } from "#domain/problem.ts";
import { audienceTags } from "#domain/workspace/audience.ts";
import type { FileArticle, FileWebsite } from "#config/sections/documents.ts";
import type { FileWorkspace } from "#config/workspace.ts";
import type { Store } from "#database/contract.ts";
import { checkCrawl } from "#knowledge/crawl/crawls.ts";
import { checkArticle } from "#knowledge/documents/editing/articles.ts";
import { checkTitle } from "#knowledge/documents/editing/details.ts";
import type { Documents } from "#knowledge/documents/documents.ts";
import type { RecordChange } from "#knowledge/documents/rows.ts";
import type { Clock } from "#runtime/clock.ts";
import { recordChange } from "#admin/audit.ts";
import type { ExportedWebsite, StoredArticle } from "./export-documents.ts";
import { articlesIn, readableContent, websitesIn } from "./export-documents.ts";

interface Applied {
  readonly workspaceId: string;
  readonly documents: Documents;
  readonly record: RecordChange;
}

/** Throws Problem invalid_parameter for a website or an article that cannot be added. */
export function requireDocuments({ name, websites = [], articles = [] }: FileWorkspace): void {
  const check = (what: string, work: () => void): void => {
    try {
      work();
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      throw new Problem("invalid_parameter", `${name}: ${what}: ${error.message}`, { cause: error });
    }
  };
  const named = new Set<string>();
  for (const website of websites) {
    check(website.url, () => {
      const { url } = checkCrawl({ workspaceId: "", ...crawlOf(website) });
      if (website.title !== undefined) checkTitle(website.title);
      if (named.has(url)) throw new Problem("invalid_parameter", "the file names this website twice");
      named.add(url);
    });
  }
  for (const { title, text, audience = [] } of articles) {
    check(title, () => {
      checkArticle({ title, content: text });
      audienceTags(audience);
    });
  }
}

/** Adds and changes the websites and articles of a workspace, each in a transaction of its own. Returns how many. */
export async function applyDocuments(
  { store, clock, documents }: { readonly store: Store; readonly clock: Clock; readonly documents: Documents },
  { workspaceId, by }: { readonly workspaceId: string; readonly by: Actor },
  { websites = [], articles = [] }: FileWorkspace,
): Promise<number> {
  const record: RecordChange = (tx, { verb, title, to = null }) =>
    recordChange(tx, { workspaceId, by, action: `document_${verb}`, subject: title, to, now: clock.now() });
  const applied = { workspaceId, documents, record };
  const sites = websites.length === 0 ? [] : await websitesIn(store.read, workspaceId);
  let changed = 0;
  for (const website of websites) {
    const { url } = checkCrawl({ workspaceId, ...crawlOf(website) });
    const known = sites.find((site) => site.website.url === url);
    if (await applyWebsite(applied, website, known)) changed += 1;
  }
  // Articles may have the same title.
  const waiting = Map.groupBy(
    articles.length === 0 ? [] : await articlesIn(store.read, workspaceId),
    ({ title }) => title,
  );
  for (const article of articles) {
    if (await applyArticle(applied, article, waiting.get(checkTitle(article.title)) ?? [])) changed += 1;
  }
  return changed;
}

const crawlOf = ({ url, max_pages: maxPages, sitemap, audience }: FileWebsite) => ({
  url,
  ...(maxPages === undefined ? {} : { maxPages }),
  ...(sitemap === undefined ? {} : { sitemap }),
  ...(audience === undefined ? {} : { audience }),
});

/** True where something changed. A website is crawled if it is new or its pages are chosen in another way. */
async function applyWebsite(
  { workspaceId, documents, record }: Applied,
  given: FileWebsite,
  known: ExportedWebsite | undefined,
): Promise<boolean> {
  const before = known?.website;
  const website: FileWebsite = { ...before, ...given };
  const { title, audience } = website;
  let id = known?.id;
  const isCrawled = id === undefined || before === undefined || !hasSamePages(website, before);
  if (isCrawled) ({ id } = await documents.crawl({ workspaceId, ...crawlOf(website) }, record));
  const change = {
    ...(title === undefined || checkTitle(title) === known?.title ? {} : { title }),
    ...(isCrawled || isSameAudience(audience, before?.audience) ? {} : { audience: audience ?? [] }),
  };
  if (id === undefined || Object.keys(change).length === 0) return isCrawled;
  await documents.change(workspaceId, id, change, record);
  return true;
}

function hasSamePages(given: FileWebsite, before: FileWebsite): boolean {
  const [now, then] = [given, before].map((each) => checkCrawl({ workspaceId: "", ...crawlOf(each) }));
  return now?.maxPages === then?.maxPages && now?.sitemap === then?.sitemap;
}

/** True where something changed. `waiting`: the stored articles of its title. */
async function applyArticle(
  { workspaceId, documents, record }: Applied,
  { title, text, audience }: FileArticle,
  waiting: StoredArticle[],
): Promise<boolean> {
  const found = await nextReadable(documents, workspaceId, waiting);
  if (found === undefined) {
    await documents.addArticle(workspaceId, { title, content: text, audience: audience ?? [] }, record);
    return true;
  }
  const { known, content } = found;
  const tags = audience === undefined ? {} : { audience };
  if (content.text !== text) {
    const edit = { title, content: text, ...tags, basedOn: content.version };
    await documents.saveArticle(workspaceId, known.id, edit, record);
    return true;
  }
  if (audience === undefined || isSameAudience(audience, known.audience)) return false;
  await documents.change(workspaceId, known.id, tags, record);
  return true;
}

/** Takes articles from `waiting` until one can be read. */
async function nextReadable(documents: Documents, workspaceId: string, waiting: StoredArticle[]) {
  for (let known = waiting.shift(); known !== undefined; known = waiting.shift()) {
    const content = await readableContent(documents, workspaceId, known.id);
    if (content !== undefined) return { known, content };
  }
  return undefined;
}

const isSameAudience = (given: readonly string[] = [], before: readonly string[] = []): boolean =>
  isDeepStrictEqual(audienceTags(given), audienceTags(before));
