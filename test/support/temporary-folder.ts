import { mkdirSync, readdirSync, readFileSync, rmSync, statfsSync } from "node:fs";
import { join } from "node:path";

const memory = "/dev/shm";
const prefix = "parley-tests-";
const tmpfs = 0x01_02_19_94;
/** Twice what a run of all tests needs. */
const leastBytes = 8 * 1024 ** 3;

/**
 * A folder in memory for the files and databases of a test run. On a disk, every schema change would be synced several
 * times. It is removed when the process ends. Undefined if `TMPDIR` names another folder or memory is short.
 */
export function temporaryFolder(): string | undefined {
  if (process.env["TMPDIR"] !== undefined || !hasRoom()) return undefined;
  // Removes the folders of runs that were killed.
  for (const name of readdirSync(memory)) {
    if (name.startsWith(prefix) && !isRunning(name.slice(prefix.length))) {
      rmSync(join(memory, name), { recursive: true, force: true });
    }
  }
  const folder = join(memory, `${prefix}${process.pid}`);
  // Servers that run as other users need access.
  mkdirSync(folder, { recursive: true, mode: 0o711 });
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function hasRoom(): boolean {
  try {
    const { type, bavail, bsize } = statfsSync(memory);
    const [, available] = /^MemAvailable:\s+(\d+) kB$/m.exec(readFileSync("/proc/meminfo", "utf8")) ?? [];
    return type === tmpfs && bavail * bsize >= leastBytes && Number(available) * 1024 >= leastBytes;
  } catch {
    // /dev/shm is missing: not Linux.
    return false;
  }
}

function isRunning(pid: string): boolean {
  try {
    process.kill(Number(pid), 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
