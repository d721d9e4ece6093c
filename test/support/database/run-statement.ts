import { createConnection } from "mysql2/promise";
import { openDatabase } from "#database/dialects/sqlite.ts";

/** Runs a statement on a separate connection, as an administrator would, also one that transactions do not allow. */
export async function runStatement(url: string, statement: string): Promise<void> {
  if (url.startsWith("sqlite:")) {
    const database = openDatabase(url.slice("sqlite:".length), { readOnly: false });
    try {
      database.exec(statement);
    } finally {
      database.close();
    }
    return;
  }
  const connection = await createConnection(url);
  try {
    await connection.query(statement);
  } finally {
    await connection.end();
  }
}
