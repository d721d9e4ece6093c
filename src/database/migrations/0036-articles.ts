import type { Migration } from "kysely/migration";
import { apply } from "./statements.ts";

/** Adds file names, titles given by people, and articles. */
export const articles: Migration = {
  up: (db) =>
    apply(
      db,
      `alter table documents add column file_name $text;
      alter table documents add column own_title $flag;
      alter table documents add column article $flag`,
    ),
};
