import { mkdirSync, statSync } from "node:fs";

/** Makes the folder where there is none, for this user alone: what customers have written is in it. */
export function makeDataFolder(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
}

/** Whether other users of this machine get at what is in the folder. */
export function isOpenToOthers(path: string): boolean {
  // Windows has no such rights, and tells some that it makes up.
  return process.platform !== "win32" && (statSync(path).mode & 0o001) !== 0;
}
