import type { Migration } from "kysely/migration";
import { apply } from "./statements.ts";

/**
 * Which workspace the configuration file made, once for each name: processes that start together cannot both make it.
 * And where a website is that its given address leads to.
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
