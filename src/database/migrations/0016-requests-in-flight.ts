import type { Migration } from "kysely/migration";
import { apply } from "./statements.ts";

/** What the processes on one database tell each other of the requests that each key has in flight. */
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
