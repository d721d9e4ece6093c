import type { Migration } from "kysely/migration";
import { apply } from "./statements.ts";

/** Which collections of a search engine outside hold a workspace's passages, and of which documents. */
export const knowledgeCollections: Migration = {
  up: (db) =>
    apply(
      db,
      `create table knowledge_collections (
        workspace_id $id not null primary key, live $key, live_form $int not null, building $key,
        version $int not null, chunks $int not null, terms $int not null
      ) $engine;
      create table knowledge_written (
        collection $key not null, document_id $id not null, version $int not null, audience $text not null,
        chunks $int not null, terms $int not null, primary key (collection, document_id)
      ) $engine`,
    ),
};
