/** A connection that an adapter keeps to its platform, as one process sees it. */
export interface ConnectionState {
  readonly accountId: string;
  /** The account's name, for people. */
  readonly name: string;
  /** `elsewhere`: another process runs it. `broken`: it ended, and is begun again after a while. */
  readonly state: "running" | "elsewhere" | "broken";
  /** Why it is broken, in words for the operator. */
  readonly cause: string | null;
}
