import type { CompiledQuery, Kysely, Transaction } from "kysely";
import type { Database } from "./schema/tables.ts";

export type Reader = Kysely<Database>;

export type Tx = Transaction<Database>;

/** The database. The schema and its queries are shared by both dialects; what differs is behind this. */
export interface Store {
  readonly dialect: "sqlite" | "mysql";
  /** For reading what is committed. Refuses to write, and refuses use inside {@link write}. */
  readonly read: Reader;
  /** Runs a statement that {@link read} has compiled; under the same rules, and past what builds statements. */
  select<R>(query: CompiledQuery<R>): Promise<readonly R[]>;
  /**
   * Runs `work` in a transaction and resolves when it is on the disk, or as its options say. Works that wait at the same
   * time share a transaction, a savepoint each: the failure of one undoes that one alone. `work` may run again when the
   * database asks for it, so it has no effect but on `tx`; it must not await anything but `tx`.
   */
  write<T>(work: (tx: Tx) => Promise<T>, options?: WriteOptions): Promise<T>;
  /**
   * For what ends a lease or refunds a count. Resolves after the first attempt. If the database failed, further attempts
   * follow in the background until one succeeds or `ms` are over. `work` may be done twice.
   */
  writeWhenBack(work: (tx: Tx) => Promise<void>, options: WhenBackOptions): Promise<void>;
  /** Whether nothing is written, or waits to be. */
  isCalm(): boolean;
  close(): Promise<void>;
}

export interface WriteOptions {
  /**
   * False: resolves before the disk has it. It outlives this process, but a loss of power may take what was written in
   * the last seconds. For what is then done again, or found out. Database servers flush as they are set to.
   */
  readonly flush?: boolean;
}

export interface WhenBackOptions {
  readonly ms: number;
  /** Called when it was not written in that time. */
  readonly failed: (error: unknown) => void;
}
