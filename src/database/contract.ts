import type { CompiledQuery, Kysely, Transaction } from "kysely";
import type { Database } from "./schema/tables.ts";

export type Reader = Kysely<Database>;

export type Tx = Transaction<Database>;

/** The database. Schema and queries are shared by both dialects; their differences are behind this interface. */
export interface Store {
  readonly dialect: "sqlite" | "mysql";
  /** Reads committed data. Rejects writes, and use inside {@link write}. */
  readonly read: Reader;
  /** Runs a statement compiled by {@link read}, under the same rules, without building it again. */
  select<R>(query: CompiledQuery<R>): Promise<readonly R[]>;
  /**
   * Runs `work` in a transaction, and resolves when it is on disk, see {@link WriteOptions}. Concurrent calls share a
   * transaction, with a savepoint each, so that one failure undoes only its own work. The database may require `work` to
   * run again, so it must have no effect outside of `tx`, and must await nothing but `tx`.
   */
  write<T>(work: (tx: Tx) => Promise<T>, options?: WriteOptions): Promise<T>;
  /**
   * Called to end a lease or to refund a count. Resolves after the first attempt. If the database failed, further attempts
   * follow in the background until one succeeds or `ms` are over. `work` may run twice.
   */
  writeWhenBack(work: (tx: Tx) => Promise<void>, options: WhenBackOptions): Promise<void>;
  /** Whether no write is running or queued. */
  isCalm(): boolean;
  close(): Promise<void>;
}

export interface WriteOptions {
  /**
   * False: resolves before the data is on disk. The data survives the process, but a power failure may lose the last
   * seconds. Allowed only for data that is then written or found out again. Database servers flush by their own settings.
   */
  readonly flush?: boolean;
}

export interface WhenBackOptions {
  readonly ms: number;
  /** Called when the work did not succeed in that time. */
  readonly failed: (error: unknown) => void;
}

/** The load that this process puts on the database. */
export interface StoreLoad {
  readonly writesWaiting: number;
  /** Transactions that are open now. */
  readonly transactions: number;
  /** Connections of the pool in use; null where there is no pool. */
  readonly connections: number | null;
  /** Since the start: statements, with those that begin and end transactions, and transactions. */
  readonly statementsRun: number;
  readonly transactionsRun: number;
}
