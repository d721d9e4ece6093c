/** No connection to the database is available. */
export class DatabaseAway extends Error {
  /** Code of the driver's error, such as ECONNREFUSED. */
  readonly code: unknown;

  constructor(cause: unknown) {
    super(`no connection to the database: ${cause instanceof Error ? cause.message : "unknown failure"}`, { cause });
    this.name = "DatabaseAway";
    this.code = propertiesOf(cause).code;
  }
}

/** The answer to a COMMIT was lost, so its outcome is unknown. */
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

/** Network errors of connections to the database and to other servers that the program depends on. */
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
 * SQLite's result codes for a file that is locked, read-only, damaged, not a database, on a full or broken disk, or
 * cannot be opened, and for missing memory or rights.
 */
const sqliteFaults: ReadonlySet<number> = new Set([3, 5, 6, 7, 8, 9, 10, 11, 13, 14, 15, 26]);

/** Classes of SQL states for wrong statements or values: cardinality, data, constraint, syntax. */
const statementErrorClasses: ReadonlySet<string> = new Set(["21", "22", "23", "42"]);

/** Errors of these classes caused by the server's setup: no access, no such database or table, too many connections. */
const setUpErrors: ReadonlySet<unknown> = new Set([1044, 1049, 1142, 1143, 1146, 1203, 1226, 1227]);

/** ER_NO_DEFAULT_FOR_FIELD and ER_TRUNCATED_WRONG_VALUE_FOR_FIELD, which one of the servers reports with the general state. */
const statementErrors: ReadonlySet<unknown> = new Set([1364, 1366]);

const causesMax = 5;

/** Whether the database failed, rather than the statement; a later attempt may succeed. */
export function isDatabaseFault(error: unknown, depth = 0): boolean {
  if (error instanceof DatabaseAway || error instanceof OutcomeUnknown || error instanceof StatementTimeout)
    return true;
  const { code, errno, sqlState, fatal, errcode, cause } = propertiesOf(error);
  // The low byte names the kind of failure, the others a variant.
  if (typeof errcode === "number") return sqliteFaults.has(errcode & 0xff);
  if (typeof sqlState === "string") {
    return setUpErrors.has(errno) || !(statementErrorClasses.has(sqlState.slice(0, 2)) || statementErrors.has(errno));
  }
  if (fatal === true || networkCodes.has(code)) return true;
  return cause !== undefined && depth < causesMax && isDatabaseFault(cause, depth + 1);
}

/** ER_OPTION_PREVENTS_STATEMENT, ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION and ER_READ_ONLY_MODE. */
const readOnlyErrors: ReadonlySet<unknown> = new Set([1290, 1792, 1836]);

/** SQLITE_READONLY and SQLITE_FULL. */
const sqliteRefusals: ReadonlySet<number> = new Set([8, 13]);
/** ER_DISK_FULL and ER_RECORD_FILE_FULL. */
const fullErrors: ReadonlySet<unknown> = new Set([1021, 1114]);

/** Whether the database takes no changes, while reads may succeed: it is read-only, or its disk is full. */
export function refusesChanges(error: unknown): boolean {
  const { errno, errcode } = propertiesOf(error);
  if (typeof errcode === "number") return sqliteRefusals.has(errcode & 0xff);
  return readOnlyErrors.has(errno) || fullErrors.has(errno);
}

/** Whether the server rejects changes. After a failover the connections lead to the wrong server. */
export const isReadOnly = (error: unknown): boolean => readOnlyErrors.has(propertiesOf(error).errno);

/** ER_SERVER_SHUTDOWN, ER_CONNECTION_KILLED of MariaDB, ER_NET_PACKET_TOO_LARGE: the server also ends the connection. */
const endingErrors: ReadonlySet<unknown> = new Set([1053, 1927, 1153]);

/** Whether the connection, and with it the transaction, has ended. */
export function isConnectionLost(error: unknown): boolean {
  if (error instanceof DatabaseAway || error instanceof OutcomeUnknown) return false;
  const { code, errno, fatal } = propertiesOf(error);
  return fatal === true || code === "PROTOCOL_CONNECTION_LOST" || endingErrors.has(errno);
}

/** Whether the transaction's session may still be open. */
export const isSessionLost = (error: unknown): boolean => error instanceof StatementTimeout || isConnectionLost(error);
