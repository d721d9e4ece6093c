import type { Chunk } from "#knowledge/documents/chunk.ts";
import type { ReadableType } from "#knowledge/documents/file-types.ts";
import type { Sitemap } from "#knowledge/crawl/sitemap.ts";
import type { PageHead } from "./html/page-head.ts";

export interface ParseTask {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly type: ReadableType;
  /** Used where the document has no title. */
  readonly title: string;
  /** True: `title` is used even if the document has a title. */
  readonly hasOwnTitle?: boolean;
  /** True: the document's title is a heading like others, because an article has its title beside its text. */
  readonly isArticle?: boolean;
  /** The charset of the declared media type. */
  readonly charset?: string;
}

/** The parsed document, cut into chunks. */
export interface ReadDocument {
  readonly title: string;
  readonly chunks: readonly Chunk[];
  /** Why little of a page was read, for the person who added it. */
  readonly note: string | null;
}

/** A page of a website, with its links. */
export interface ReadPage {
  /** Null where the page has no text. */
  readonly document: ReadDocument | null;
  /** Why `document` is null. */
  readonly reason: string;
  /** SHA-256 of its text. */
  readonly textHash: string;
  readonly head: PageHead;
}

export type Job =
  | { readonly kind: "document"; readonly task: ParseTask }
  | { readonly kind: "page"; readonly task: ParseTask; readonly url: string }
  | { readonly kind: "sitemap"; readonly bytes: Uint8Array<ArrayBuffer> };

/** The result of each kind of {@link Job}. */
export interface Results {
  readonly document: ReadDocument;
  readonly page: ReadPage;
  readonly sitemap: Sitemap;
}

export type ParseReply =
  /** Sent when the thread has started; the time limit begins. */
  | { readonly kind: "begun" }
  | { readonly kind: "done"; readonly result: Results[Job["kind"]] }
  | { readonly kind: "unreadable"; readonly reason: string };

export interface ParseLimits {
  /** Documents up to this size are parsed on the calling thread, which is faster than starting another. */
  readonly inPlaceBytesMax: number;
  readonly timeMs: number;
  readonly heapMb: number;
}
