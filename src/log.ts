import type { DestinationStream, Logger } from "pino";
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

/** What is kept for a reader who does not keep up; a few minutes under load. */
const keptBytesMax = 8 * 1_048_576;

/**
 * Writes without waiting for whoever reads: a full pipe must not hold up customers. What gathers meanwhile is written
 * together. When too much does, lines are left out, and the log tells how many. What is left at the end of the process is
 * written then.
 */
export function openOutput(to: string | number, bytesMax: number): DestinationStream {
  const output = pino.destination({ dest: to, sync: false, maxLength: bytesMax });
  let leftOut = 0;
  output.on("drop", () => (leftOut += 1));
  output.on("drain", () => {
    if (leftOut === 0) return;
    const told = { level: warnLevel, time: Date.now(), lines: leftOut, msg: "lines were left out of the log" };
    leftOut = 0;
    output.write(`${JSON.stringify(told)}\n`);
  });
  return output;
}

/** In pino's numbers. */
const warnLevel = 40;

/** Lines of JSON on the standard output; on a terminal, lines for people. */
export async function createLog(level: string): Promise<Logger> {
  if (!process.stdout.isTTY) return pino(logOptions(level), openOutput(1, keptBytesMax));
  const { default: pretty } = await import("pino-pretty");
  return pino(logOptions(level), pretty({ translateTime: "HH:MM:ss", ignore: "pid,hostname" }));
}
