import type { Logger } from "pino";
import { pino } from "pino";
import type { Core } from "../app.ts";
import { openCore } from "../app.ts";
import { systemClock } from "../clock.ts";
import type { Config } from "../config.ts";
import { requireOwnSecret } from "../operator/own-secret.ts";

/** Lines of JSON; on a terminal, lines for people. Never holds a secret: what could is left out by name. */
export async function createLog(level: string): Promise<Logger> {
  const options = {
    level,
    redact: {
      paths: [
        "req.headers.authorization",
        "headers.authorization",
        "password",
        "token",
        "secret",
        "*.password",
        "*.secret",
      ],
      censor: "[hidden]",
    },
  };
  if (!process.stdout.isTTY) return pino(options);
  const { default: pretty } = await import("pino-pretty");
  return pino(options, pretty({ translateTime: "HH:MM:ss", ignore: "pid,hostname" }));
}

/** Runs `work` on the installation that the configuration names, and closes it. A command line logs warnings at most. */
export async function withCore<T>(config: Config, work: (core: Core) => Promise<T>): Promise<T> {
  const log = pino({ level: config.logLevel === "info" ? "warn" : config.logLevel }, pino.destination(2));
  const core = await openCore(config, { clock: systemClock, log });
  try {
    await core.store.migrate();
    await requireOwnSecret(core.store, core.secrets);
    return await work(core);
  } finally {
    await core.close();
  }
}
