import type { Migration } from "kysely/migration";
import { apply } from "./statements.ts";

/** Gives stored numbers of Brazil and Mexico the spelling by which they are searched from now on. */
export const oneSpellingOfNumbers: Migration = {
  up: (db) =>
    apply(
      db,
      `update contacts set phone_key = concat(substr(phone_key, 1, 5), '9', substr(phone_key, 6))
        where phone_key like '+55__________' and substr(phone_key, 6, 1) in ('6', '7', '8', '9');
      update contacts set phone_key = concat('+52', substr(phone_key, 5)) where phone_key like '+521__________'`,
    ),
};
