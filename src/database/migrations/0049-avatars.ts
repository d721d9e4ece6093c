import type { Migration } from "kysely/migration";
import { apply } from "./statements.ts";

/** Adds pictures of agents, which customers see. */
export const avatars: Migration = {
  up: (db) =>
    apply(
      db,
      `alter table agents add column avatar $id;
      alter table agents add column avatar_type $short;
      create index agents_avatar on agents (avatar)`,
    ),
};
