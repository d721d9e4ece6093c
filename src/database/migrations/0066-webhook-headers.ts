import type { Migration } from "kysely/migration";
import { apply } from "./statements.ts";

/** Adds the headers of a webhook's request and response to the log of attempts. */
export const webhookHeaders: Migration = {
  up: (db) =>
    apply(
      db,
      `alter table webhook_attempts add column request_headers $text;
      alter table webhook_attempts add column response_headers $text`,
    ),
};
