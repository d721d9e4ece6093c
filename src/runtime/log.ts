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

/** Fields that can hold secrets or customers' messages. */
const redact = {
  paths: [
    "req.headers.authorization",
    "headers.authorization",
    "password",
    "token",
    "secret",
    "*.password",
    "*.secret",
    // MySQL's driver adds the failed statement with its values.
    "err.sql",
    // Node.js adds the invalid URL, including its password.
    "err.input",
  ],
  censor: "[hidden]",
};

/** Adds the request's id to every line. */
function mixin(): object {
  const requestId = requestContext.getStore();
  return requestId === undefined ? {} : { requestId };
}

export const logOptions = (level: string) => ({ level, redact, mixin });

/** Buffer for a slow reader; enough for a few minutes under load. */
const keptBytesMax = 8 * 1_048_576;
/** Interval of retries of a full pipe, and their duration at the program's end. */
const againMs = 20;
const lastMs = 1_000;

/**
 * Writes each line at once, in order, and never waits for a reader: a full pipe must delay neither customers nor the
 * program's end. Lines that the pipe does not accept are buffered. When the buffer is full, or the disk was full, lines are
 * dropped, and the log says how many. The file must be open in non-blocking mode, as Node.js opens pipes and sockets of its
 * standard output.
 */
export function openOutput(file: number, bytesMax: number): DestinationStream {
  let kept: Buffer[] = [];
  let keptBytes = 0;
  let leftOut = 0;
  let timer: NodeJS.Timeout | undefined;

  /** The unwritten rest; undefined where everything was written, or never can be. */
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

  /** True when the buffer is empty. */
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
    const notice = { level: warnLevel, time: Date.now(), lines: leftOut, msg: "log: lines dropped" };
    const before = leftOut;
    const left = rest(Buffer.from(`${JSON.stringify(notice)}\n`));
    if (left !== undefined) keep(left);
    // A disk that is still full rejects this line too.
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
      // The rest of a partly written line is always buffered.
      if (left.length === text.length && keptBytes + text.length > bytesMax) leftOut += 1;
      else keep(left);
    },
  };
}

/** Never notified; used to wait synchronously. */
const nobody = new Int32Array(new SharedArrayBuffer(4));

const isFull = (error: unknown): boolean =>
  error instanceof Error && "code" in error && (error.code === "EAGAIN" || error.code === "EBUSY");

/** Pino's number of the level. */
const warnLevel = 40;

/** Lines of JSON on the standard output; on a terminal, lines for people. */
export async function createLog(level: string): Promise<Logger> {
  // Reading the property opens the stream in non-blocking mode.
  if (!process.stdout.isTTY) return pino(logOptions(level), openOutput(process.stdout.fd, keptBytesMax));
  const { default: pretty } = await import("pino-pretty");
  return pino(logOptions(level), pretty({ translateTime: "HH:MM:ss", ignore: "pid,hostname" }));
}
