/** Whether an insert failed because a row with its key exists. */
export function isDuplicate(error: unknown): boolean {
  const { code, errcode } = (error ?? {}) as { readonly code?: unknown; readonly errcode?: unknown };
  // SQLITE_CONSTRAINT_PRIMARYKEY and SQLITE_CONSTRAINT_UNIQUE.
  return code === "ER_DUP_ENTRY" || errcode === 1555 || errcode === 2067;
}
