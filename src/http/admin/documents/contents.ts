import { Type } from "typebox";
import type { Reader } from "#database/contract.ts";
import { administratorOf } from "#http/admin/administrator.ts";
import { adminResponses } from "#http/admin/schemas.ts";
import type { App } from "#http/app-type.ts";
import { createCursors } from "#http/v1/cursor.ts";
import { findDocument } from "#http/v1/documents/find.ts";
import { contains } from "#database/dialects/contains.ts";
import type { Resources } from "#http/v1/resources.ts";
import * as schemas from "#http/v1/schemas.ts";
import { documentParams, searchText } from "./schemas.ts";

const pageStates = ["queued", "kept", "skipped", "failed", "gone"] as const;

const page = Type.Object(
  {
    url: Type.String(),
    state: Type.Enum([...pageStates]),
    reason: schemas.nullable(Type.String({ description: "Why the page is not in use, or why little of it was read" })),
    title: schemas.nullable(Type.String()),
    passages: Type.Integer(),
  },
  { title: "WebsitePage" },
);

const passage = Type.Object(
  {
    id: Type.String(),
    title: Type.String({ description: "The document's title and the headings above the passage" }),
    text: Type.String(),
    url: schemas.nullable(Type.String()),
    position: Type.Integer({ description: "Place in the document, from 0" }),
  },
  { title: "Passage" },
);

const pagesSchema = {
  tags: ["Administration"],
  operationId: "listPages",
  summary: "List the pages of a website in the order in which they were found",
  params: documentParams,
  querystring: Type.Object({
    state: Type.Optional(Type.Enum([...pageStates], { description: "Only pages in this state" })),
    limit: schemas.listLimit(50),
    cursor: schemas.listCursor,
  }),
  response: adminResponses(
    { 200: Type.Object({ pages: Type.Array(page), pagination: schemas.pagination }, { title: "WebsitePageList" }) },
    ["document_not_found", "invalid_cursor"],
  ),
};

const passagesSchema = {
  tags: ["Administration"],
  operationId: "listPassages",
  summary: "List the passages of a document as the bot sees them",
  params: documentParams,
  querystring: Type.Object({ q: searchText, limit: schemas.listLimit(20), cursor: schemas.listCursor }),
  response: adminResponses(
    { 200: Type.Object({ passages: Type.Array(passage), pagination: schemas.pagination }, { title: "PassageList" }) },
    ["document_not_found", "invalid_cursor"],
  ),
};

/** After the last page or passage; `documentId` is that of a website's page. */
const position = Type.Object({ at: Type.Number(), documentId: Type.String() });

/** Shows the pages and the passages of a document. */
export function documentContentRoutes(app: App, { store, cursorKey }: Resources): void {
  const pageCursors = createCursors(cursorKey, "pages", position);
  const passageCursors = createCursors(cursorKey, "passages", position);

  app.get("/documents/:document_id/pages", { config: { least: "viewer" }, schema: pagesSchema }, async (request) => {
    const { state, limit = 50, cursor } = request.query;
    const { id } = await findDocument(store.read, administratorOf(request).workspaceId, request.params.document_id);
    const list = { id, state };
    const after = cursor === undefined ? start : pageCursors.read(list, cursor);
    const rows = await pageRows(store.read, list, after.at, limit + 1);
    const shown = rows.slice(0, limit);
    return {
      pages: shown.map(({ url, state: is, reason, note, title, chunks }) => ({
        url,
        state: is,
        reason: reason ?? note,
        title,
        passages: chunks ?? 0,
      })),
      pagination: {
        next_cursor: pageCursors.issue(list, { ...start, at: shown.at(-1)?.position ?? after.at }),
        has_more: rows.length > limit,
      },
    };
  });

  app.get(
    "/documents/:document_id/passages",
    { config: { least: "viewer" }, schema: passagesSchema },
    async (request) => {
      const { q: text, limit = 20, cursor } = request.query;
      const { id } = await findDocument(store.read, administratorOf(request).workspaceId, request.params.document_id);
      const list = { id, text };
      const after = cursor === undefined ? start : passageCursors.read(list, cursor);
      const rows = await passageRows(store.read, list, after, limit + 1);
      const shown = rows.slice(0, limit);
      const last = shown.at(-1);
      const next = last === undefined ? after : { at: last.position, documentId: last.document_id };
      return {
        passages: shown.map(({ document_id: _, ...row }) => row),
        pagination: { next_cursor: passageCursors.issue(list, next), has_more: rows.length > limit },
      };
    },
  );
}

const start = { at: -1, documentId: "" };

function pageRows(
  db: Reader,
  { id, state }: { readonly id: string; readonly state: (typeof pageStates)[number] | undefined },
  after: number,
  limit: number,
) {
  let query = db
    .selectFrom("crawl_pages")
    .leftJoin("documents", "documents.id", "crawl_pages.page_id")
    .select(["crawl_pages.url", "state", "reason", "note", "position", "documents.title", "documents.chunks"])
    .where("document_id", "=", id)
    .where("position", ">", after);
  if (state !== undefined) query = query.where("state", "=", state);
  return query.orderBy("position").limit(limit).execute();
}

/** Passages of the version that answers. Those of a website are in the order of its pages' ids. */
function passageRows(
  db: Reader,
  { id, text }: { readonly id: string; readonly text: string | undefined },
  after: typeof start,
  limit: number,
) {
  let query = db
    .selectFrom("documents")
    .innerJoin("chunks", (join) =>
      join.onRef("chunks.document_id", "=", "documents.id").onRef("chunks.version", "=", "documents.indexed_version"),
    )
    .select(["chunks.id", "chunks.title", "chunks.text", "chunks.url", "chunks.position", "chunks.document_id"])
    .where((eb) => eb.or([eb("documents.id", "=", id), eb("documents.parent_id", "=", id)]))
    .where((eb) =>
      eb.or([
        eb("documents.id", ">", after.documentId),
        eb.and([eb("documents.id", "=", after.documentId), eb("chunks.position", ">", after.at)]),
      ]),
    );
  if (text !== undefined) {
    query = query.where((eb) => eb.or([contains("chunks.title", text), contains("chunks.text", text)]));
  }
  return query.orderBy("documents.id").orderBy("chunks.position").limit(limit).execute();
}
