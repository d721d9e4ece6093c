function errorCode(error: unknown): number {
  const { errcode } = (error ?? {}) as { readonly errcode?: unknown };
  return typeof errcode === "number" ? errcode & 0xff : 0;
}

/** SQLITE_CORRUPT, SQLITE_NOTADB, and SQLITE_ERROR for a missing table. */
export function isDamage(error: unknown): boolean {
  const code = errorCode(error);
  return (
    code === 11 ||
    code === 26 ||
    (code === 1 && /no such (?:fts5 )?table|vtable constructor failed/.test(String(error)))
  );
}

/** SQLITE_BUSY, SQLITE_LOCKED, SQLITE_FULL, SQLITE_IOERR: a later attempt may succeed. */
export function isBusy(error: unknown): boolean {
  return [5, 6, 10, 13].includes(errorCode(error));
}
