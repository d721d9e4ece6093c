import type { Migration } from "kysely/migration";
import { apply } from "./statements.ts";

/** Which collections of a search engine outside hold a workspace's conversations. */
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
