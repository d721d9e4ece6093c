import { spawn } from "node:child_process";
import { get } from "node:http";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { Installation } from "./installation.ts";

/** The program in a process of its own, which a test may kill. */
export interface Launched {
  readonly pid: number;
  /** Milliseconds from the start of the process to its readiness; undefined if it ended before. */
  readonly ready: Promise<number | undefined>;
  readonly exited: Promise<Exit>;
  /** Log lines of level error and above, and all output on stderr. */
  readonly complaints: readonly string[];
  signal(name: NodeJS.Signals): void;
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface LaunchOptions {
  readonly installation: Pick<Installation, "dataDir" | "databaseUrl">;
  readonly port: number;
  readonly env?: Readonly<Record<string, string>>;
  readonly nodeArguments?: readonly string[];
  /** The processor to pin the process to; needs `taskset`. */
  readonly core?: number | undefined;
}

const folder = fileURLToPath(new URL("../../../", import.meta.url));
const errorLevel = 50;

export function launch({ installation, port, env, nodeArguments = [], core }: LaunchOptions): Launched {
  const command = [process.execPath, ...nodeArguments, "bin/parley.js", "start"];
  const [file = "", ...args] = core === undefined ? command : ["taskset", "-c", String(core), ...command];
  const started = performance.now();
  const child = spawn(file, args, {
    cwd: folder,
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      PATH: process.env["PATH"],
      HOST: "127.0.0.1",
      PORT: String(port),
      PARLEY_DATA_DIR: installation.dataDir,
      DATABASE_URL: installation.databaseUrl,
      LOG_LEVEL: "warn",
      // Encoding the manual would take the processor from what is tested.
      EMBEDDING_PROVIDER: "off",
      ...env,
    },
  });
  const complaints: string[] = [];
  createInterface({ input: child.stdout }).on("line", (line) => {
    const level = /^\{"level":(\d+)/.exec(line)?.[1];
    if (level !== undefined && Number(level) >= errorLevel) complaints.push(line);
  });
  createInterface({ input: child.stderr }).on("line", (line) => complaints.push(line));
  let running = true;
  const exited = new Promise<Exit>((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code, signal) => {
      running = false;
      resolve({ code, signal });
    });
  });
  const ready = untilReady(port, () => running).then((isReady) => (isReady ? performance.now() - started : undefined));
  return { pid: child.pid ?? 0, ready, exited, complaints, signal: (name) => child.kill(name) };
}

async function untilReady(port: number, running: () => boolean): Promise<boolean> {
  while (running()) {
    if ((await statusOf(`http://127.0.0.1:${port}/health/ready`)) === 200) return true;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return false;
}

/** The status of a response; undefined without one. */
function statusOf(url: string): Promise<number | undefined> {
  return new Promise((resolve) => {
    const request = get(url, { agent: false, timeout: 2_000 }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    request.once("timeout", () => request.destroy());
    request.once("error", () => resolve(undefined));
  });
}
