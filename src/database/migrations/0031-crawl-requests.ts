import type { Migration } from "kysely/migration";
import { apply } from "./statements.ts";

/**
 * Records requests during a crawl, and whether a run has changed anything. An answering document keeps its status
 * during a crawl, so the end of the last crawl has a column of its own.
 */
export const crawlRequests: Migration = {
  up: (db) =>
    apply(
      db,
      `alter table crawls add column requested $flag not null default 0;
      alter table crawls add column changed $flag not null default 0;
      alter table documents add column crawled_at $time;
      update documents set crawled_at = (select finished_at from crawls where crawls.document_id = documents.id)
        where source = 'crawl' and parent_id is null`,
    ),
};
