import type { Logger } from "pino";
import { pino } from "pino";
import { requestContext } from "./request-context.ts";

/** What could hold a secret, or what a customer wrote, is left out by name. */
const redact = {
  paths: [
    "req.headers.authorization",
    "headers.authorization",
    "password",
    "token",
    "secret",
    "*.password",
    "*.secret",
    // The statement that failed, with all its values, as the driver of MySQL adds it to its errors.
    "err.sql",
    // The address that could not be read, with its password, as Node.js adds it to its errors.
    "err.input",
  ],
  censor: "[hidden]",
};

/** What a request causes is found by its id, whichever part of the program logs it. */
function mixin(): object {
  const requestId = requestContext.getStore();
  return requestId === undefined ? {} : { requestId };
}

export const logOptions = (level: string) => ({ level, redact, mixin });

/** Lines of JSON on the standard output; on a terminal, lines for people. */
export async function createLog(level: string): Promise<Logger> {
  if (!process.stdout.isTTY) return pino(logOptions(level));
  const { default: pretty } = await import("pino-pretty");
  return pino(logOptions(level), pretty({ translateTime: "HH:MM:ss", ignore: "pid,hostname" }));
}
