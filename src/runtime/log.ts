import { writeSync } from "node:fs";
import type { DestinationStream, Logger } from "pino";
import { pino } from "pino";
import { requestContext } from "./request-context.ts";

export interface Log {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

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
/** How often a full pipe is tried again, and for how long when the program ends. */
const againMs = 20;
const lastMs = 1_000;

/**
 * Writes each line at once, in their order, and waits for nobody who reads: a full pipe must not hold up customers, nor the
 * program's end. What a pipe does not take is kept until it does. When that is too much, lines are left out, and the log
 * tells how many; so it does after a disk that was full. The file must be open without blocking, as Node.js opens pipes and
 * sockets that are its standard output.
 */
export function openOutput(file: number, bytesMax: number): DestinationStream {
  let kept: Buffer[] = [];
  let keptBytes = 0;
  let leftOut = 0;
  let timer: NodeJS.Timeout | undefined;

  /** What could not be written yet; undefined: it was, or never can be. */
  function rest(text: Buffer): Buffer | undefined {
    let at = 0;
    try {
      while (at < text.length) at += writeSync(file, text, at);
    } catch (error) {
      if (isFull(error)) return text.subarray(at);
      leftOut += 1;
    }
    return undefined;
  }

  /** True: nothing is left. */
  function writeKept(): boolean {
    for (const [at, text] of kept.entries()) {
      const left = rest(text);
      keptBytes -= text.length - (left?.length ?? 0);
      if (left === undefined) continue;
      kept = [left, ...kept.slice(at + 1)];
      return false;
    }
    kept = [];
    if (leftOut === 0) return true;
    const told = { level: warnLevel, time: Date.now(), lines: leftOut, msg: "log: lines dropped" };
    const before = leftOut;
    const left = rest(Buffer.from(`${JSON.stringify(told)}\n`));
    if (left !== undefined) keep(left);
    // A disk that is full still takes this no more than the lines before.
    leftOut = leftOut > before ? before : 0;
    return left === undefined;
  }

  function keep(text: Buffer): void {
    kept.push(text);
    keptBytes += text.length;
    timer ??= setTimeout(writeLater, againMs).unref();
  }

  function writeLater(): void {
    timer = undefined;
    if (!writeKept()) timer ??= setTimeout(writeLater, againMs).unref();
  }

  process.once("exit", () => {
    const until = performance.now() + lastMs;
    while (!writeKept() && performance.now() < until) Atomics.wait(nobody, 0, 0, againMs);
  });
  return {
    write(line) {
      const text = Buffer.from(line);
      if (kept.length === 0 && leftOut > 0) writeKept();
      const left = kept.length === 0 ? rest(text) : text;
      if (left === undefined) return;
      // The end of a line that is half written is kept, however much there is.
      if (left.length === text.length && keptBytes + text.length > bytesMax) leftOut += 1;
      else keep(left);
    },
  };
}

/** Never woken: to be waited for. */
const nobody = new Int32Array(new SharedArrayBuffer(4));

const isFull = (error: unknown): boolean =>
  error instanceof Error && "code" in error && (error.code === "EAGAIN" || error.code === "EBUSY");

/** In pino's numbers. */
const warnLevel = 40;

/** Lines of JSON on the standard output; on a terminal, lines for people. */
export async function createLog(level: string): Promise<Logger> {
  // To ask for it opens it, too: from then on it does not block.
  if (!process.stdout.isTTY) return pino(logOptions(level), openOutput(process.stdout.fd, keptBytesMax));
  const { default: pretty } = await import("pino-pretty");
  return pino(logOptions(level), pretty({ translateTime: "HH:MM:ss", ignore: "pid,hostname" }));
}
