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

/** In pino's numbers. */
const warnLevel = 40;

/**
 * Writes the lines of one turn of the event loop together: each write costs more than making the line. What tells of
 * trouble is written at once, with what came before it.
 */
export function inTurns(output: DestinationStream): { readonly stream: DestinationStream; flush(): void } {
  let lines = "";
  function flush(): void {
    const all = lines;
    lines = "";
    if (all !== "") output.write(all);
  }
  const stream = {
    // Asks for `lastLevel` to be kept up to date.
    [Symbol.for("pino.metadata")]: true,
    lastLevel: 0,
    write(line: string): void {
      if (lines === "") setImmediate(flush);
      lines += line;
      if (stream.lastLevel >= warnLevel) flush();
    },
  };
  return { stream, flush };
}

/** Lines of JSON on the standard output; on a terminal, lines for people. */
export async function createLog(level: string): Promise<Logger> {
  if (!process.stdout.isTTY) {
    const { stream, flush } = inTurns(pino.destination(1));
    process.once("exit", flush);
    return pino(logOptions(level), stream);
  }
  const { default: pretty } = await import("pino-pretty");
  return pino(logOptions(level), pretty({ translateTime: "HH:MM:ss", ignore: "pid,hostname" }));
}
