import type { Migration } from "kysely/migration";
import { apply } from "./statements.ts";

/**
 * Adds the unique name by which the configuration file declares a workspace, so that processes that start together
 * cannot both create it; and the address to which a website redirects.
 */
export const declaredWorkspaces: Migration = {
  up: (db) =>
    apply(
      db,
      `alter table workspaces add column declared_as $id;
      create unique index workspaces_declared on workspaces (declared_as);
      alter table crawls add column home $text`,
    ),
};
