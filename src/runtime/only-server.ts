import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";

/** A server that is being stopped ends within this time, or soon after. */
const waitMs = 3_000;
const againMs = 200;

/**
 * Makes this process the only server of a SQLite file, until the returned function is called. Throws if another one runs
 * after a short wait. The lock is the operating system's: it ends with the process, however that ends.
 */
export async function becomeOnlyServer(file: string, patienceMs = waitMs): Promise<() => void> {
  const lock = new DatabaseSync(`${file}-server`, { timeout: 0 });
  for (const end = performance.now() + patienceMs; ; await sleep(againMs)) {
    try {
      lock.exec("pragma locking_mode = exclusive; begin exclusive; commit");
      return () => lock.close();
    } catch (error) {
      const isHeld = (error as { readonly errcode?: unknown }).errcode === 5;
      if (isHeld && performance.now() < end) continue;
      lock.close();
      if (!isHeld) throw error;
      const fix =
        "stop it, give this one another folder by PARLEY_DATA_DIR (or DATABASE_URL), or set REDIS_URL for both";
      throw new Error(`Another server uses the database ${file}: ${fix}.`, { cause: error });
    }
  }
}
