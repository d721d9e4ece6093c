/** Which process runs the connection of an account: one at a time. */
export interface ConnectionLeasesTable {
  account_id: string;
  /** Id of a process. */
  holder: string;
  lease_until: number;
}

/** Running processes; a lease whose process is gone can be taken at once. */
export interface ProcessesTable {
  id: string;
  host: string;
  pid: number;
  started_at: number;
  heartbeat_at: number;
}

/** Requests of an API key that are in flight at a process, while more than one process runs. */
export interface RequestsInFlightTable {
  key_id: string;
  process_id: string;
  count: number;
}

/** The last transactions of processes on MySQL, by which one whose COMMIT got no answer is found out about. */
export interface CommitMarksTable {
  id: string;
  value: number;
  written_at: number;
}
