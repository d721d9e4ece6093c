import type { Migration } from "kysely/migration";
import { apply } from "./statements.ts";

/** Adds what is known about the encoder of an embedding server. */
export const encoderCalibration: Migration = {
  up: (db) => apply(db, `alter table vector_models add column calibration $text`),
};
