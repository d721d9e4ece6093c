import { fork, spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { CommandLine } from "./command-host.ts";

const main = fileURLToPath(new URL("../../../bin/parley.js", import.meta.url));
const host = fileURLToPath(new URL("./command-host.ts", import.meta.url));

export interface CommandResult {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Passes only the test's variables: the machine's own configuration must not reach the program. */
function environment(env: Readonly<Record<string, string>>): Record<string, string> {
  const { PATH = "", HOME = "" } = process.env;
  return { PATH, HOME, NO_COLOR: "1", LOG_LEVEL: "warn", EMBEDDING_PROVIDER: "off", ...env };
}

/** Runs a command line in a process of its own, to its end. */
export async function parley(args: readonly string[], env: Readonly<Record<string, string>>): Promise<CommandResult> {
  const child = spawn(process.execPath, [main, ...args], { env: environment(env) });
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  const [status] = (await once(child, "close")) as [number | null];
  return { status, stdout, stderr };
}

/** Runs command lines in one process, which is started once. */
export interface CommandHost {
  parley(args: readonly string[], env: Readonly<Record<string, string>>): Promise<CommandResult>;
  close(): Promise<void>;
}

export async function openCommandHost(): Promise<CommandHost> {
  const child = fork(host, { env: environment({}), stdio: ["ignore", "pipe", "pipe", "ipc"], execArgv: [] });
  const ended = once(child, "close");
  let stdout = "";
  let stderr = "";
  let look = (): void => undefined;
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
    look();
  });
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
    look();
  });
  let failed: (() => void) | undefined;
  void ended.then(() => failed?.());
  await Promise.race([once(child, "message"), ended]);
  let last: Promise<unknown> = Promise.resolve();

  function execute(line: CommandLine): Promise<CommandResult> {
    return new Promise((resolve, reject) => {
      failed = () => reject(new Error(`the command host exited:\n${stdout}${stderr}`));
      look = () => {
        const [said, status, ...behind] = stdout.split("\0");
        const complaint = stderr.split("\0", 1)[0] ?? "";
        if (behind.length === 0 || complaint === stderr) return;
        stdout = behind.join("\0");
        stderr = stderr.slice(complaint.length + 1);
        look = () => undefined;
        resolve({ status: Number(status), stdout: said ?? "", stderr: complaint });
      };
      child.send(line, (error) => {
        if (error !== null) reject(error);
      });
    });
  }

  return {
    parley(args, env) {
      const ran = last.then(() => execute({ args, env: environment(env) }));
      last = ran.catch(() => undefined);
      return ran;
    },
    async close() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}

export interface Gateway {
  readonly url: string;
  readonly child: ChildProcess;
  /** The output so far. */
  printed(): string;
  /** Sends SIGTERM and returns the exit status. */
  stop(): Promise<number | null>;
}

/** Starts the gateway on a free port and waits until it is ready. */
export async function startGateway(env: Readonly<Record<string, string>>): Promise<Gateway> {
  const child = spawn(process.execPath, [main, "start"], {
    env: environment({ PORT: "0", LOG_LEVEL: "info", ...env }),
  });
  let printed = "";
  const collect = (text: string): void => {
    printed += text;
  };
  child.stdout.setEncoding("utf8").on("data", collect);
  child.stderr.setEncoding("utf8").on("data", collect);
  const ended = once(child, "close") as Promise<[number | null]>;
  const url = await new Promise<string>((resolve, reject) => {
    const look = (): void => {
      const address = /"address":"(http:[^"]+)"/.exec(printed)?.[1];
      if (address !== undefined) resolve(address);
    };
    child.stdout.on("data", look);
    void ended.then(() => reject(new Error(`the gateway exited before it was ready:\n${printed}`)));
  });
  return {
    url,
    child,
    printed: () => printed,
    async stop() {
      child.kill("SIGTERM");
      const [status] = await ended;
      return status;
    },
  };
}
