import { accessSync, constants, mkdirSync, statSync } from "node:fs";

/** Creates a missing folder, accessible to this user only, since it holds customers' messages. Throws with what to fix. */
export function makeDataFolder(path: string): void {
  orExplain(path, () => mkdirSync(path, { recursive: true, mode: 0o700 }));
}

/** Like {@link makeDataFolder}; also checks that the folder is writable. */
export function makeWritableFolder(path: string): void {
  makeDataFolder(path);
  orExplain(path, () => accessSync(path, constants.W_OK));
}

function orExplain(path: string, work: () => unknown): void {
  try {
    work();
  } catch (error) {
    const fix = "give this user the right, or set PARLEY_DATA_DIR (or DATABASE_URL) to another folder";
    const code = error instanceof Error && "code" in error ? ` (${String(error.code)})` : "";
    throw new Error(`The folder ${path} cannot be written to${code}: ${fix}`, { cause: error });
  }
}

/** Whether other users of this machine can access the folder. */
export function isOpenToOthers(path: string): boolean {
  // On Windows the reported modes are not real.
  return process.platform !== "win32" && (statSync(path).mode & 0o001) !== 0;
}
