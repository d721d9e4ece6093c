import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { cpus } from "node:os";

/** Servers run on one processor and the load on another, so that they do not share time. */
export interface Cores {
  readonly server: number | undefined;
  readonly pinned: boolean;
}

/** Pins this process to the second processor, where the system allows it. */
export function pinGenerator(): Cores {
  if (cpus().length < 2) return { server: undefined, pinned: false };
  const { status } = spawnSync("taskset", ["-acp", "1", String(process.pid)], { stdio: "ignore" });
  return status === 0 ? { server: 0, pinned: true } : { server: undefined, pinned: false };
}

const ticksPerSecond = 100;

/** Seconds of processor time so far: of the whole machine, and of these processes. Undefined without /proc. */
export interface ProcessorTime {
  readonly busy: number;
  readonly own: number;
  readonly at: number;
}

export function processorTime(pids: readonly number[]): ProcessorTime | undefined {
  try {
    const [, ...fields] = (readFileSync("/proc/stat", "utf8").split("\n", 1)[0] ?? "").trim().split(/\s+/);
    const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0, steal = 0] = fields.map(Number);
    const own = pids.reduce((total, pid) => total + ticksOf(pid), 0);
    return {
      busy: (user + nice + system + irq + softirq + steal) / ticksPerSecond,
      own: own / ticksPerSecond,
      at: performance.now() / 1_000,
    };
  } catch {
    return undefined;
  }
}

/** Milliseconds of processor time that a process has used so far; unlike a rate, hardly affected by others. */
export function usedMs(pid: number): number {
  try {
    return (ticksOf(pid) / ticksPerSecond) * 1_000;
  } catch {
    return Number.NaN;
  }
}

function ticksOf(pid: number): number {
  // The program's name, in brackets, may contain spaces.
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return Number(fields[11]) + Number(fields[12]);
}

/** The share of the machine that others used between the two times, 0 to 1. */
export function foreignShare(before: ProcessorTime | undefined, after: ProcessorTime | undefined): number {
  if (before === undefined || after === undefined) return Number.NaN;
  const foreign = after.busy - before.busy - (after.own - before.own);
  return Math.max(0, foreign / ((after.at - before.at) * cpus().length));
}

/** Resident memory of a process in megabytes; NaN where the system does not report it. */
export function residentMb(pid: number): number {
  try {
    return Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1_024;
  } catch {
    return Number.NaN;
  }
}
