import { spawn, spawnSync } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { accessSync, constants, mkdtempSync, rmSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { createConnection } from "mysql2/promise";
import type { TestProject } from "vitest/node";
import type { ServerState } from "./database/mysql-server.ts";
import { freePort } from "./servers/free-port.ts";

const started: { readonly process: ChildProcess; readonly folder: string }[] = [];

/** Starts the servers that tests use, each in a temporary folder. */
export async function setup(project: TestProject): Promise<void> {
  project.provide("mysql", await mysql());
  project.provide("redis", await redis());
  await typesense();
}

export async function teardown(): Promise<void> {
  await Promise.all(
    started.splice(0).map(async ({ process: server, folder }) => {
      const ended = new Promise((resolve) => server.once("exit", resolve));
      server.kill("SIGKILL");
      await ended;
      rmSync(folder, { recursive: true, force: true });
    }),
  );
}

export async function mysql(): Promise<ServerState> {
  const named = process.env["TEST_MYSQL_URL"];
  if (named !== undefined && named !== "") return { url: named };
  const server = await startMariaDb();
  return server.url === undefined ? server : { url: server.url };
}

export interface OwnServer {
  readonly url: string;
  readonly reason?: undefined;
  /** Kills the process without a shutdown. */
  kill(): Promise<void>;
  /** Starts the server again after `kill`. */
  start(): Promise<void>;
}

/** Starts a server with these settings in addition to those of all tests. */
export async function startMariaDb(
  settings: readonly string[] = [],
): Promise<OwnServer | Extract<ServerState, { readonly url?: undefined }>> {
  const program = find(["mariadbd", "mysqld"]);
  const install = find(["mariadb-install-db"]);
  if (program === undefined || install === undefined) {
    return { reason: "no MariaDB server is installed; install mariadb-server, or name one in TEST_MYSQL_URL" };
  }
  const folder = mkdtempSync(join(tmpdir(), "parley-mariadb-"));
  const user = userInfo().username;
  const made = spawnSync(
    install,
    [
      "--no-defaults",
      `--datadir=${folder}/data`,
      `--user=${user}`,
      "--auth-root-authentication-method=normal",
      "--skip-test-db",
    ],
    { encoding: "utf8" },
  );
  if (made.status !== 0) return { reason: `mariadb-install-db failed: ${made.stderr.trim().slice(-300)}` };
  const port = await freePort();
  const given = [
    "--no-defaults",
    `--datadir=${folder}/data`,
    // A starting server deletes the temporary tables in its folder, another server's included.
    `--tmpdir=${folder}`,
    `--socket=${folder}/socket`,
    `--port=${port}`,
    "--bind-address=127.0.0.1",
    `--user=${user}`,
    // The data need not survive the machine, and tests kill the program, not its database. Syncing the disk at every
    // schema change would take most of a run's time.
    "--innodb-flush-log-at-trx-commit=0",
    "--innodb-flush-method=nosync",
    "--innodb-doublewrite=0",
    "--loose-sync-frm=0",
    "--loose-debug-no-sync",
    "--skip-name-resolve",
    ...settings,
  ];
  const url = `mysql://root@127.0.0.1:${port}/mysql`;
  let running: { process: ChildProcess; readonly folder: string } | undefined;
  const start = async (): Promise<void> => {
    const server = spawn(program, given, { stdio: "ignore" });
    if (running === undefined) started.push((running = { process: server, folder }));
    else running.process = server;
    await until("MariaDB", async () => {
      const connection = await createConnection(url);
      await connection.end();
    });
  };
  await start();
  return {
    url,
    start,
    async kill() {
      const ended = new Promise((resolve) => running?.process.once("exit", resolve));
      running?.process.kill("SIGKILL");
      await ended;
    },
  };
}

export async function redis(): Promise<ServerState> {
  const named = process.env["TEST_REDIS_URL"];
  if (named !== undefined && named !== "") return { url: named };
  const program = find(["redis-server"]);
  if (program === undefined) {
    return { reason: "no Redis server is installed; install redis-server, or name one in TEST_REDIS_URL" };
  }
  const folder = mkdtempSync(join(tmpdir(), "parley-redis-"));
  const port = await freePort();
  const server = spawn(program, ["--port", String(port), "--bind", "127.0.0.1", "--dir", folder, "--save", ""], {
    stdio: "ignore",
  });
  started.push({ process: server, folder });
  const { Redis } = await import("ioredis");
  await until("Redis", async () => {
    const client = new Redis(port, "127.0.0.1", { lazyConnect: true, retryStrategy: () => null });
    client.on("error", () => undefined);
    try {
      await client.connect();
    } finally {
      client.disconnect();
    }
  });
  return { url: `redis://127.0.0.1:${port}` };
}

/** Without the program, tests use an imitation. The tests' processes inherit the environment. */
async function typesense(): Promise<void> {
  const program = find(["typesense-server"]);
  if (program === undefined || (process.env["TEST_TYPESENSE_URL"] ?? "") !== "") return;
  const folder = mkdtempSync(join(tmpdir(), "parley-typesense-"));
  const [port, peeringPort] = [await freePort(), await freePort()];
  const apiKey = "a key for tests";
  const server = spawn(
    program,
    [
      `--data-dir=${folder}`,
      `--api-key=${apiKey}`,
      "--api-address=127.0.0.1",
      `--api-port=${port}`,
      "--peering-address=127.0.0.1",
      `--peering-port=${peeringPort}`,
      "--disk-used-max-percentage=99",
    ],
    { stdio: "ignore" },
  );
  started.push({ process: server, folder });
  const url = `http://127.0.0.1:${port}`;
  await until("Typesense", async () => {
    const { status } = await fetch(`${url}/health`);
    if (status !== 200) throw new Error(`not ready (${status})`);
  });
  process.env["TEST_TYPESENSE_URL"] = url;
  process.env["TEST_TYPESENSE_KEY"] = apiKey;
}

function find(names: readonly string[]): string | undefined {
  for (const name of names) {
    for (const folder of [...(process.env["PATH"] ?? "").split(":"), "/usr/sbin", "/usr/local/sbin"]) {
      try {
        accessSync(join(folder, name), constants.X_OK);
        return join(folder, name);
      } catch {}
    }
  }
  return undefined;
}

async function until(name: string, attempt: () => Promise<void>): Promise<void> {
  const end = Date.now() + 60_000;
  for (;;) {
    try {
      await attempt();
      return;
    } catch (error) {
      if (Date.now() > end) throw new Error(`${name} did not start within a minute`, { cause: error });
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}
