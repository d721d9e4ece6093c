/** Since the start of the process: calls of `store.write`, transactions, and those of SQLite that wait for the disk. */
export const counts = { writes: 0, transactions: 0, flushes: 0 };
