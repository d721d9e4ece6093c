import { dirname } from "node:path";
import type { Logger } from "pino";
import { openStore } from "#database/open.ts";
import type { App } from "#app/app.ts";
import type { Config } from "#config/environment.ts";
import { createApp } from "#app/app.ts";
import { hasDemo } from "#app/demo.ts";
import { systemClock } from "#runtime/clock.ts";
import { makeWritableFolder } from "#runtime/data-folder.ts";
import { createLog } from "#runtime/log.ts";
import { becomeOnlyServer } from "#runtime/only-server.ts";
import { firstStart } from "#app/first-start.ts";
import { readArguments } from "./terminal/arguments.ts";
import type { Command } from "./command.ts";
import type { Stopping } from "./documents/retry-on-return.ts";
import { onceBack } from "./documents/retry-on-return.ts";
import { bold, dim } from "./terminal/output.ts";

export const migrate: Command = async ({ argv, output, config }) => {
  readArguments(argv, []);
  const store = await openStore(config.databaseUrl);
  try {
    const applied = await store.migrate();
    output.result({ applied }, [
      applied.length === 0 ? "The schema was up to date." : `Applied ${applied.join(", ")}.`,
    ]);
    return 0;
  } finally {
    await store.close();
  }
};

/** Runs the server until a signal stops it. */
export const start: Command = async ({ argv, config }) => {
  readArguments(argv, []);
  const log = await createLog(config.logLevel);
  const release = await refuseSecondServer(config);
  try {
    return await run(config, log);
  } finally {
    release();
  }
};

async function run(config: Config, log: Logger): Promise<number> {
  const killAt = config.killAt;
  const app = await createApp(config, {
    clock: systemClock,
    log,
    ...(killAt === undefined ? {} : { checkpoint: createKiller(killAt) }),
  });
  // A signal now closes everything in order, also during the first start.
  const { stopped, isStopping } = untilStopped(app, log);
  try {
    const address = await app.listen();
    log.info({ address, role: config.role }, "start: listening");
    const welcome = await firstStart(app, config, systemClock, {
      retrying: (step) => onceBack(step, { clock: systemClock, log, stopping: { stopped, isStopping } }),
      reading: () =>
        process.stdout.write("\n  Getting ready: Parley is reading its manual, which it will answer from.\n\n"),
    });
    process.stdout.write(welcome === null ? notice(config) : greeting(config, welcome));
  } catch (error) {
    // Work that a stop aborts is not an error.
    if (isStopping()) return stopped;
    // Without this the process would keep working without serving requests.
    await app.close().catch((err: unknown) => log.error({ err }, "start: closing failed"));
    throw error;
  }
  return stopped;
}

/** Without Redis, two servers of one SQLite file would not tell each other of messages. */
async function refuseSecondServer({ databaseUrl, redisUrl, role }: Config): Promise<() => void> {
  if (!databaseUrl.startsWith("sqlite:") || redisUrl !== undefined || role !== "all") return () => undefined;
  const file = databaseUrl.slice("sqlite:".length);
  makeWritableFolder(dirname(file));
  return becomeOnlyServer(file);
}

function untilStopped(app: App, log: Logger): Stopping {
  let stopping = false;
  const stopped = new Promise<number>((resolve) => {
    const stop = (signal: string): void => {
      // A second signal comes from a person who does not want to wait.
      if (stopping) process.exit(1);
      stopping = true;
      log.info({ signal }, "stop: begun");
      setTimeout(() => process.exit(1), 10_000).unref();
      app.close().then(
        () => resolve(0),
        (error: unknown) => {
          log.error({ err: error }, "stop: failed");
          resolve(1);
        },
      );
    };
    process.on("SIGTERM", () => stop("SIGTERM"));
    process.on("SIGINT", () => stop("SIGINT"));
  });
  return { stopped, isStopping: () => stopping };
}

/** For tests: `POINT:N` kills the process when it passes the checkpoint for the Nth time. */
function createKiller(spec: string) {
  const [point, count = "1"] = spec.split(":");
  let left = Number(count);
  return (passed: string): void => {
    if (passed !== point) return;
    left -= 1;
    if (left === 0) process.kill(process.pid, "SIGKILL");
  };
}

function notice(config: Config): string {
  return process.stdout.isTTY ? `\n  ${bold("Parley")} runs at ${config.publicUrl}\n\n` : "";
}

function greeting(
  config: Config,
  { key, workspaceId, loginLink, readsManual }: NonNullable<Awaited<ReturnType<typeof firstStart>>>,
): string {
  const { publicUrl } = config;
  return `
  ${bold("Parley is running.")}

  Ask it something    ${publicUrl}/${hasDemo(config) ? "demo" : `chat/${workspaceId}`}
  Answer as an agent  ${loginLink}
                      ${dim("(signs in once, within 24 hours)")}
  Set it up           ${publicUrl}/dashboard
                      ${dim("(after signing in: documents, channels, colleagues)")}
  API reference       ${publicUrl}/docs
  API key             ${bold(key)}
                      ${dim("(shown this once)")}
  Workspace           ${workspaceId}

  ${readsManual ? "It answers from its own manual, until you add your documents." : "It answers from the documents that you add."}

`;
}
