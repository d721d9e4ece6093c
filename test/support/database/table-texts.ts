import { sql } from "kysely";
import type { Reader } from "#database/contract.ts";

/** All rows as text in lower case, by table. */
export type TableTexts = ReadonlyMap<string, readonly string[]>;

/** Returns the program's own tables, without those of kysely and of SQLite's full-text index. */
export async function ownTables(db: Reader) {
  const all = await db.introspection.getTables();
  return all.filter(({ name }) => !/^(kysely_|conversation_fts|sqlite_)/.test(name));
}

export async function textsOf(db: Reader): Promise<TableTexts> {
  const found = new Map<string, readonly string[]>();
  for (const { name, columns } of await ownTables(db)) {
    // The position is a number too large for JavaScript.
    const read = columns.filter((column) => `${name}.${column.name}` !== "conversation_text.position");
    const { rows } = await sql<Record<string, unknown>>`
      select ${sql.join(read.map((column) => sql.ref(column.name)))} from ${sql.table(name)}`.execute(db);
    const texts = rows.map((row) =>
      Object.values(row)
        .map((value) => (value instanceof Uint8Array ? Buffer.from(value).toString() : String(value)))
        .join("\n")
        .toLowerCase(),
    );
    found.set(name, texts);
  }
  return found;
}

export const tablesWith = (texts: TableTexts, word: string): readonly string[] =>
  [...texts].filter(([, rows]) => rows.some((text) => text.includes(word))).map(([name]) => name);
