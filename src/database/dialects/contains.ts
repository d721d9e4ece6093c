import { sql } from "kysely";

const escaped = (text: string): string => text.replaceAll(/[!%_]/g, "!$&");

/** Whether a column contains the text; the case of ASCII letters is ignored. */
export function contains(column: string, text: string) {
  return sql<boolean>`lower(${sql.ref(column)}) like lower(${`%${escaped(text)}%`}) escape '!'`;
}
