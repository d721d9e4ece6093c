import { Type } from "typebox";
import * as schemas from "#http/v1/schemas.ts";

export const documentParams = Type.Object({ document_id: Type.String() });

export const documentKind = Type.Enum(["website", "file", "article"], {
  description: "`article`: written in the dashboard",
});

const progress = Type.Object(
  {
    found: Type.Integer({ description: "Addresses found so far" }),
    queued: Type.Integer({ description: "Addresses not visited yet in this crawl" }),
    kept: Type.Integer({ description: "Pages in use" }),
    partly: Type.Integer({ description: "Pages in use of which little was read" }),
    skipped: Type.Integer({ description: "Addresses without a page of their own" }),
    failed: Type.Integer({ description: "Pages that could not be read, or are gone" }),
  },
  { title: "CrawlProgress" },
);

/** A document as administrators see it. */
export const adminDocument = Type.Object(
  {
    ...schemas.document.properties,
    kind: documentKind,
    file_name: schemas.nullable(Type.String()),
    media_type: Type.String(),
    content_version: schemas.nullable(
      Type.String({ description: "Names the present content; a new version of an article names what it is based on" }),
    ),
    editable: Type.Boolean({ description: "Whether its text can be read and edited here" }),
    progress: schemas.nullable(progress),
  },
  { title: "AdminDocument" },
);

export const oneAdminDocument = Type.Object({ document: adminDocument }, { title: "AdminDocumentResult" });

export const documentTitle = Type.String({
  minLength: 1,
  maxLength: 300,
  pattern: "\\S",
  allowed: "a title of 1 to 300 characters",
});

export const searchText = Type.Optional(
  Type.String({ minLength: 1, maxLength: 200, description: "A text that the entries contain" }),
);
