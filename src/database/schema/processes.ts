import type { Generated } from "kysely";

/** The process that runs the connection of an account; at most one. */
export interface ConnectionLeasesTable {
  account_id: string;
  /** Id of a process. */
  holder: string;
  lease_until: number;
}

/** Running processes. A lease of a process that is gone can be taken over at once. */
export interface ProcessesTable {
  id: string;
  host: string;
  pid: number;
  started_at: number;
  heartbeat_at: number;
  /** Null: a version that did not store it. */
  version: Generated<string | null>;
}

/** Requests of an API key that are in flight at a process, while more than one process runs. */
export interface RequestsInFlightTable {
  key_id: string;
  process_id: string;
  count: number;
}

/** The last transactions of processes on MySQL; show whether a transaction whose COMMIT got no answer was committed. */
export interface CommitMarksTable {
  id: string;
  value: number;
  written_at: number;
}
