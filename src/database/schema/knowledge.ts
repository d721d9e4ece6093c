import type { Generated } from "kysely";

export interface DocumentsTable {
  id: string;
  workspace_id: string;
  source: "crawl" | "upload";
  title: string;
  url: string | null;
  /** Identifies a document that is added again: the URL, or the file's name. */
  origin_key: string;
  media_type: string;
  status: "pending" | "processing" | "indexed" | "failed";
  error: string | null;
  /** JSON array of tags; empty: for everyone. */
  audience: string;
  /** SHA-256 of the content, hex. */
  content_hash: string | null;
  chunks: number;
  pages: number;
  /** The version whose chunks are used for answers. */
  indexed_version: number;
  created_at: number;
  indexed_at: number | null;
  /** When the website was last crawled to the end; null during a crawl, and for an upload. */
  crawled_at: number | null;
  /** The bytes of an upload. */
  body_id: string | null;
  /** The website of a page. Pages are not listed. */
  parent_id: string | null;
  /** Name of the uploaded file. */
  file_name: string | null;
  /** 1: people gave the title, so indexing keeps it. */
  own_title: number | null;
  /** 1: written in the dashboard. */
  article: number | null;
}

/** Bytes of an upload, which arrive before their document is created. */
export interface DocumentBodiesTable {
  id: string;
  /** Null during the upload, and after an upload that was aborted. */
  document_id: string | null;
  created_at: number;
}

/** Stored in parts, since a database limits a statement to a few megabytes. Kept for a later re-indexing. */
export interface DocumentBodyPartsTable {
  body_id: string;
  /** Starts at 0. */
  part: number;
  body: Uint8Array;
}

/** A website as a document. Its pages are documents of their own. */
export interface CrawlsTable {
  document_id: string;
  max_pages: number;
  /** The site's own start address, if the given one redirects to it, such as with `www` or over TLS. */
  home: Generated<string | null>;
  /** The sitemap's address, if one was given. */
  sitemap: string | null;
  /** Number of crawls so far. */
  run: number;
  state: "new" | "running" | "done";
  /** Requests, bytes and addresses of this run, each limited. */
  fetches: number;
  bytes: number;
  discovered: number;
  /** The site's robots.txt in this run; null until it was read. */
  robots: string | null;
  started_at: number;
  finished_at: number | null;
  /** 1: crawl again after this run, because of a request during it. */
  requested: number;
  /** 1: this run has changed passages. */
  changed: number;
}

export interface CrawlPagesTable {
  document_id: string;
  /** SHA-256 of the address. */
  url_hash: string;
  url: string;
  /** The order of discovery. */
  position: number;
  /** The page's document, a child of the website's document. */
  page_id: string | null;
  state: "queued" | "kept" | "skipped" | "failed" | "gone";
  /** The reason why the page is not kept, for people. */
  reason: string | null;
  /** Why little of a kept page was read, for people. */
  note: string | null;
  attempts: number;
  etag: string | null;
  last_modified: string | null;
  /** SHA-256 of the bytes of which the document was made. */
  fetched_hash: string | null;
  /** Hash of the page's canonical address. */
  canonical_hash: string | null;
}

export interface ChunksTable {
  id: string;
  workspace_id: string;
  document_id: string;
  version: number;
  position: number;
  /** Document title and heading path. */
  title: string;
  text: string;
  url: string | null;
}

/** A workspace's passages in Typesense. */
export interface KnowledgeCollectionsTable {
  workspace_id: string;
  /** The collection in use; null until the first one is complete. */
  live: string | null;
  /** The form of the live collection's content. */
  live_form: number;
  /** The collection that is being filled as the next live one. */
  building: string | null;
  /** The workspace's `knowledge_version` that the live collection has reached. */
  version: number;
  /** Passages in the live collection, and the sum of their terms. */
  chunks: number;
  terms: number;
}

/** A document whose passages are in a collection. */
export interface KnowledgeWrittenTable {
  collection: string;
  document_id: string;
  version: number;
  audience: string;
  chunks: number;
  terms: number;
}

/** The model that makes the vectors of a workspace's passages. */
export interface VectorModelsTable {
  workspace_id: string;
  model: string;
  /** Increases with every change of the workspace's vectors. */
  stamp: number;
  /** JSON: what was found out about the encoder of an embedding server, see `vectors/encoder-state.ts`. */
  calibration: Generated<string | null>;
}

/** The vector of a passage. */
export interface ChunkVectorsTable {
  chunk_id: string;
  workspace_id: string;
  model: string;
  /** Digest of the embedded text. A passage with the same text keeps its vector. */
  digest: string;
  /** A byte for each number of each part's vector, see `vectors/packed.ts`; empty for a text that the model refuses. */
  vector: Uint8Array;
}
