import type { Block } from "#channels/text/markdown.ts";
import { api } from "#web/dashboard/api.ts";

/** A file, a website or an article. */
export interface KnowledgeDocument {
  readonly id: string;
  readonly kind: "website" | "file" | "article";
  readonly title: string;
  readonly url: string | null;
  readonly file_name: string | null;
  readonly status: "pending" | "processing" | "indexed" | "failed";
  /** With the status `indexed`: why the last crawl failed. */
  readonly error: string | null;
  readonly chunks: number;
  readonly pages: number;
  readonly audience: readonly string[];
  readonly created_at: string;
  readonly indexed_at: string | null;
  /** Null during a crawl. */
  readonly crawled_at?: string | null;
  readonly editable: boolean;
  readonly progress: {
    readonly found: number;
    readonly queued: number;
    readonly kept: number;
    readonly partly: number;
    readonly failed: number;
  } | null;
}

export interface OneDocument {
  readonly document: KnowledgeDocument;
}

/** Whether its state changes by itself. */
export const isBusy = ({ kind, status, crawled_at: crawledAt }: KnowledgeDocument): boolean =>
  kind === "website" ? crawledAt === null : status === "pending" || status === "processing";

export const kindNames = { website: "Website", file: "File", article: "Article" } as const;

/** The second line of a document in lists. */
export const originOf = ({ kind, url, file_name: fileName }: KnowledgeDocument): string =>
  url ?? fileName ?? kindNames[kind];

export const pathOf = (id: string): string => `documents/${encodeURIComponent(id)}`;

export const readDocument = async (id: string): Promise<KnowledgeDocument> =>
  (await api.get<OneDocument>(pathOf(id))).document;

export const parseMarkdown = async (text: string): Promise<readonly Block[]> =>
  text.trim() === "" ? [] : (await api.post<{ readonly blocks: readonly Block[] }>("markdown", { text })).blocks;
