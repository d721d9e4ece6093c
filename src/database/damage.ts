/** The database file is damaged. */
export class DamagedDatabase extends Error {
  constructor(path: string, found: string, cause?: unknown) {
    super(
      `${path} is damaged (${found}): stop Parley and restore the newest backup; without one, save what can be read with: sqlite3 ${path} .recover | sqlite3 recovered.sqlite`,
      cause === undefined ? undefined : { cause },
    );
    this.name = "DamagedDatabase";
  }
}

/** A newer version of the program has changed the schema. */
export class NewerDatabase extends Error {
  constructor(unknown: readonly string[]) {
    super(
      `this database was made by a newer version of Parley (it has ${unknown.join(", ")}): run that version, or restore a backup from before the update`,
    );
    this.name = "NewerDatabase";
  }
}

/** SQLITE_CORRUPT and SQLITE_NOTADB, including their extended codes. */
const damageCodes: ReadonlySet<number> = new Set([11, 26]);

/** SQLite's message, if this error or one of its causes reports a damaged file. */
export function damageIn(error: unknown): string | undefined {
  for (let at = error, depth = 0; at instanceof Error && depth < 6; depth += 1) {
    if ("errcode" in at && typeof at.errcode === "number" && damageCodes.has(at.errcode & 0xff)) return at.message;
    at = at.cause;
  }
  return undefined;
}
