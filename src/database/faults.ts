/** No connection to the database can be had. */
export class DatabaseAway extends Error {
  /** The driver's, such as ECONNREFUSED. */
  readonly code: unknown;

  constructor(cause: unknown) {
    super(`no connection to the database: ${cause instanceof Error ? cause.message : "unknown failure"}`, { cause });
    this.name = "DatabaseAway";
    this.code = propertiesOf(cause).code;
  }
}

/** The answer to a COMMIT was lost, and whether it took effect is not known. */
export class OutcomeUnknown extends Error {
  constructor(cause: unknown) {
    super("the answer to a COMMIT was lost: it is not known whether the transaction took effect", { cause });
    this.name = "OutcomeUnknown";
  }
}

/** A statement was not answered in time. */
export class StatementTimeout extends Error {
  readonly code = "PROTOCOL_SEQUENCE_TIMEOUT";

  constructor(ms: number) {
    super(`the database did not answer a statement within ${ms} ms`);
    this.name = "StatementTimeout";
  }
}

interface Properties {
  readonly code?: unknown;
  readonly errno?: unknown;
  readonly sqlState?: unknown;
  readonly fatal?: unknown;
  readonly errcode?: unknown;
  readonly cause?: unknown;
}

const propertiesOf = (error: unknown): Properties => error ?? {};

/** The network's, when it is the database's or another server's that we depend on. */
const networkCodes: ReadonlySet<unknown> = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "ETIMEDOUT",
  "EPIPE",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
]);

/**
 * SQLite's result codes for a file that is locked, read-only, damaged, not a database, on a full or broken disk, or cannot
 * be opened, and for a lack of memory or rights.
 */
const sqliteFaults: ReadonlySet<number> = new Set([3, 5, 6, 7, 8, 9, 10, 11, 13, 14, 15, 26]);

/** Classes of SQL states that tell of a mistake in a statement or its values: cardinality, data, constraint, syntax. */
const mistakes: ReadonlySet<string> = new Set(["21", "22", "23", "42"]);

/** Errors of such a class that are the server's set-up: no access, no such database or table, too many of the user. */
const setUpErrors: ReadonlySet<unknown> = new Set([1044, 1049, 1142, 1143, 1146, 1203, 1226, 1227]);

/** ER_NO_DEFAULT_FOR_FIELD and ER_TRUNCATED_WRONG_VALUE_FOR_FIELD, which have the general state on one of the servers. */
const mistakesOfNoClass: ReadonlySet<unknown> = new Set([1364, 1366]);

const causesMax = 5;

/** Whether the database failed, and not what was asked of it: worth another try, later. */
export function isDatabaseFault(error: unknown, depth = 0): boolean {
  if (error instanceof DatabaseAway || error instanceof OutcomeUnknown || error instanceof StatementTimeout)
    return true;
  const { code, errno, sqlState, fatal, errcode, cause } = propertiesOf(error);
  // The low byte names the kind of failure, the others a variant.
  if (typeof errcode === "number") return sqliteFaults.has(errcode & 0xff);
  if (typeof sqlState === "string") {
    return setUpErrors.has(errno) || !(mistakes.has(sqlState.slice(0, 2)) || mistakesOfNoClass.has(errno));
  }
  if (fatal === true || networkCodes.has(code)) return true;
  return cause !== undefined && depth < causesMax && isDatabaseFault(cause, depth + 1);
}

/** ER_OPTION_PREVENTS_STATEMENT, ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION and ER_READ_ONLY_MODE. */
const readOnlyErrors: ReadonlySet<unknown> = new Set([1290, 1792, 1836]);

/** Whether the server takes no changes: after a failover the connections lead to the wrong one. */
export const isReadOnly = (error: unknown): boolean => readOnlyErrors.has(propertiesOf(error).errno);

/** ER_SERVER_SHUTDOWN, ER_CONNECTION_KILLED of MariaDB, ER_NET_PACKET_TOO_LARGE: the server ends the connection too. */
const endingErrors: ReadonlySet<unknown> = new Set([1053, 1927, 1153]);

/** Whether a connection that was there has ended, and its transaction with it. */
export function isConnectionLost(error: unknown): boolean {
  if (error instanceof DatabaseAway || error instanceof OutcomeUnknown) return false;
  const { code, errno, fatal } = propertiesOf(error);
  return fatal === true || code === "PROTOCOL_CONNECTION_LOST" || endingErrors.has(errno);
}

/** Whether it is not known that the session of a transaction has ended. */
export const isSessionLost = (error: unknown): boolean => error instanceof StatementTimeout || isConnectionLost(error);
