import { Type } from "typebox";
import type { Static } from "typebox";
import type { App } from "#http/app-type.ts";
import type { Resources } from "#http/v1/resources.ts";
import { callerOf } from "#http/v1/resources.ts";
import * as schemas from "#http/v1/schemas.ts";
import { documentNotFound, findDocument } from "./find.ts";

export const crawlFields = {
  url: Type.String({ minLength: 1, maxLength: 2_000, description: "Address of the website's first page" }),
  max_pages: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 1_000, default: 50, description: "Maximum number of pages" }),
  ),
  audience: Type.Optional(schemas.audience),
  sitemap: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 2_000,
      description: "Address of the sitemap; default: from robots.txt, else /sitemap.xml",
    }),
  ),
};

const crawlBody = Type.Object({ ...crawlFields, workspace_id: Type.Optional(Type.String()) }, { title: "NewWebsite" });

type CrawlRequest = Static<Type.TObject<typeof crawlFields>>;

/** The site that a request names. */
export function siteOf(workspaceId: string, { url, max_pages: maxPages, audience, sitemap }: CrawlRequest) {
  return {
    workspaceId,
    url,
    ...(maxPages === undefined ? {} : { maxPages }),
    ...(audience === undefined ? {} : { audience }),
    ...(sitemap === undefined ? {} : { sitemap }),
  };
}

const crawlSchema = {
  tags: ["Documents"],
  operationId: "crawlWebsite",
  summary: "Add a website to the knowledge base",
  description:
    "Crawls the pages of one site in the background, as its robots.txt allows. Sources of answers name the page. A known website is crawled again.",
  body: crawlBody,
  response: schemas.responses({ 202: schemas.oneDocument }, [
    ...schemas.withBody,
    ...schemas.withWorkspaceId,
    "invalid_audience",
  ]),
};

const recrawlSchema = {
  tags: ["Documents"],
  operationId: "recrawlWebsite",
  summary: "Go through a website again",
  description:
    "Its pages stay in use meanwhile. Any number of requests during a crawl start one more crawl when it ends.",
  response: schemas.responses({ 202: schemas.oneDocument }, [
    ...schemas.withBody,
    ...schemas.withWorkspaceId,
    "document_not_found",
    "not_a_website",
  ]),
};

export function crawlRoutes(app: App, { store, documents, representation }: Resources): void {
  const shown = async (workspaceId: string, id: string) => ({
    document: representation.document(await findDocument(store.read, workspaceId, id)),
  });

  app.post<{ Body: Static<typeof crawlBody> }>(
    "/documents/crawl",
    { config: { workspaceId: "optional" }, schema: crawlSchema },
    async (request, reply) => {
      const { workspaceId } = callerOf(request);
      const { id } = await documents.crawl(siteOf(workspaceId, request.body));
      return reply.code(202).send(await shown(workspaceId, id));
    },
  );

  app.post<{ Params: { document_id: string } }>(
    "/documents/:document_id/recrawl",
    { config: { workspaceId: "optional" }, schema: recrawlSchema },
    async (request, reply) => {
      const { workspaceId } = callerOf(request);
      const recrawled = await documents.recrawl(workspaceId, request.params.document_id);
      if (recrawled === undefined) throw documentNotFound();
      return reply.code(202).send(await shown(workspaceId, recrawled.id));
    },
  );
}
