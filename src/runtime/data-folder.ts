import { accessSync, constants, mkdirSync, statSync } from "node:fs";

/**
 * Makes the folder where there is none, for this user alone: what customers have written is in it. Throws with the mend
 * where that cannot be.
 */
export function makeDataFolder(path: string): void {
  orExplain(path, () => mkdirSync(path, { recursive: true, mode: 0o700 }));
}

/** The same for a folder that is written to at once. */
export function makeWritableFolder(path: string): void {
  makeDataFolder(path);
  orExplain(path, () => accessSync(path, constants.W_OK));
}

function orExplain(path: string, work: () => unknown): void {
  try {
    work();
  } catch (error) {
    const mend = "give this user the right, or set PARLEY_DATA_DIR (or DATABASE_URL) to another folder";
    const code = error instanceof Error && "code" in error ? ` (${String(error.code)})` : "";
    throw new Error(`The folder ${path} cannot be written to${code}: ${mend}`, { cause: error });
  }
}

/** Whether other users of this machine get at what is in the folder. */
export function isOpenToOthers(path: string): boolean {
  // Windows has no such rights, and tells some that it makes up.
  return process.platform !== "win32" && (statSync(path).mode & 0o001) !== 0;
}
