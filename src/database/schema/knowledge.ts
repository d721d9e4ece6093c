import type { Generated } from "kysely";

export interface DocumentsTable {
  id: string;
  workspace_id: string;
  source: "crawl" | "upload";
  title: string;
  url: string | null;
  /** What makes a re-added document the same one: the URL, or the file's name. */
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
  /** Chunks of this version are the ones that answer. */
  indexed_version: number;
  created_at: number;
  indexed_at: number | null;
  /** When the website was last crawled to the end; null while it is crawled, and for an upload. */
  crawled_at: number | null;
  /** Of an upload: its bytes. */
  body_id: string | null;
  /** Of a page: the document of its website. Such documents are not listed. */
  parent_id: string | null;
}

/** Bytes of an upload, which arrive before their document is made of them. */
export interface DocumentBodiesTable {
  id: string;
  /** Null while they arrive; what stays so belonged to an upload that broke off. */
  document_id: string | null;
  created_at: number;
}

/** In parts, since a database takes statements of a few megabytes at most. Kept, so that it can be indexed anew. */
export interface DocumentBodyPartsTable {
  body_id: string;
  /** From 0, in order. */
  part: number;
  body: Uint8Array;
}

/** A website as a document; its pages are documents of their own, below it. */
export interface CrawlsTable {
  document_id: string;
  max_pages: number;
  /** Its own start address, where the given one leads there: with `www`, or over TLS. */
  home: Generated<string | null>;
  /** Where its sitemap is, when that was given. */
  sitemap: string | null;
  /** Counts the times that it was gone through. */
  run: number;
  state: "new" | "running" | "done";
  /** Requests, bytes and addresses of this run, which are bounded. */
  fetches: number;
  bytes: number;
  discovered: number;
  /** The site's robots.txt as of this run; null until it was read. */
  robots: string | null;
  started_at: number;
  finished_at: number | null;
  /** 1: crawl it once more when this run has ended, because that was requested meanwhile. */
  requested: number;
  /** 1: this run has changed what answers. */
  changed: number;
}

export interface CrawlPagesTable {
  document_id: string;
  /** SHA-256 of the address. */
  url_hash: string;
  url: string;
  /** Order in which they were found. */
  position: number;
  /** The document below the crawl's that holds the page. */
  page_id: string | null;
  state: "queued" | "kept" | "skipped" | "failed" | "gone";
  /** Why it is not kept, for people. */
  reason: string | null;
  attempts: number;
  etag: string | null;
  last_modified: string | null;
  /** SHA-256 of the bytes that it was made of. */
  fetched_hash: string | null;
  /** The address that the page says is its own. */
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

/** A workspace's passages in a search engine outside. */
export interface KnowledgeCollectionsTable {
  workspace_id: string;
  /** The collection that answers; null: none is full yet. */
  live: string | null;
  /** The form of what it holds. */
  live_form: number;
  /** The one that is being filled to take its place. */
  building: string | null;
  /** The workspace's `knowledge_version` up to which the live one was written. */
  version: number;
  /** Passages in the live one, and the terms in all of them together. */
  chunks: number;
  terms: number;
}

/** A document whose passages a collection has. */
export interface KnowledgeWrittenTable {
  collection: string;
  document_id: string;
  version: number;
  audience: string;
  chunks: number;
  terms: number;
}

/** That a workspace's passages are given vectors, by which model. */
export interface VectorModelsTable {
  workspace_id: string;
  model: string;
  /** Rises with every change of the workspace's vectors. */
  stamp: number;
}

/** What a passage means. */
export interface ChunkVectorsTable {
  chunk_id: string;
  workspace_id: string;
  model: string;
  /** Of the text that it was made of, by which a passage that stays as it was keeps its vector. */
  digest: string;
  /** 32-bit floats, little end first, of length 1; empty for what the model does not take. */
  vector: Uint8Array;
}
