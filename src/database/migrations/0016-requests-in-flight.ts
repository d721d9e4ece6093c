import type { Migration } from "kysely/migration";
import { apply } from "./statements.ts";

/** Adds the number of requests in flight of each key in each process. */
export const requestsInFlight: Migration = {
  up: (db) =>
    apply(
      db,
      `create table requests_in_flight (
        key_id $id not null, process_id $id not null, count $int not null, primary key (key_id, process_id)
      ) $engine;
      create index requests_in_flight_process on requests_in_flight (process_id)`,
    ),
};
