import { getCompileCacheDir } from "node:module";
import { dirname } from "node:path";

/**
 * The environment of a thread: nothing of this program's own, which may hold secrets, but where compiled code is kept.
 * To compile it anew takes most of a thread's start.
 */
export function threadEnvironment(): Readonly<Record<string, string>> {
  const ofThisVersion = getCompileCacheDir();
  return ofThisVersion === undefined ? {} : { NODE_COMPILE_CACHE: dirname(ofThisVersion) };
}
