import type { Migration } from "kysely/migration";
import { apply } from "./statements.ts";

/** Adds the Typesense collections of a workspace's conversations. */
export const search: Migration = {
  up: (db) =>
    apply(
      db,
      `create table search_collections (
        workspace_id $id not null primary key, live $key, live_version $int not null, building $key,
        built $int not null
      ) $engine`,
    ),
};
