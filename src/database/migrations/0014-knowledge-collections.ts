import type { Migration } from "kysely/migration";
import { apply } from "./statements.ts";

/** Adds the Typesense collections of a workspace's passages, and the vectors of passages. */
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
      ) $engine;
      create table vector_models (
        workspace_id $id not null primary key, model $key not null, stamp $int not null
      ) $engine;
      create table chunk_vectors (
        chunk_id $id not null primary key, workspace_id $id not null, model $key not null, digest $key not null,
        vector $blob not null
      ) $engine;
      create index chunk_vectors_digest on chunk_vectors (workspace_id, digest)`,
    ),
};
