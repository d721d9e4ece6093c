import type { Migration } from "kysely/migration";
import { apply } from "./statements.ts";

/**
 * Crawls remember that they were requested again while they ran, and whether a run changed anything. A document that
 * answers keeps its status while its website is crawled, so the end of the last crawl has a column of its own.
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
