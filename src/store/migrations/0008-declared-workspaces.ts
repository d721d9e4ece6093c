import type { Migration } from "kysely/migration";
import { apply } from "./statements.ts";

/** Which workspace the configuration file made, once for each name: processes that start together cannot both make it. */
export const declaredWorkspaces: Migration = {
  up: (db) =>
    apply(
      db,
      `alter table workspaces add column declared_as $id;
      create unique index workspaces_declared on workspaces (declared_as)`,
    ),
};
