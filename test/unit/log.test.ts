import { execFileSync } from "node:child_process";
import { createReadStream } from "node:fs";
import { mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { pino } from "pino";
import { expect, it } from "vitest";
import { logOptions, openOutput } from "#src/log.ts";

function lineOf(err: Error): string {
  const lines: string[] = [];
  pino(logOptions("info"), { write: (line: string) => void lines.push(line) }).error({ err }, "it failed");
  return lines.join("");
}

it("leaves out the values of a statement that failed", () => {
  const error = Object.assign(new Error("Lock wait timeout exceeded"), {
    code: "ER_LOCK_WAIT_TIMEOUT",
    sql: "insert into messages (content) values ('My card is 4111 1111')",
  });
  const line = lineOf(error);
  expect(line).toContain("ER_LOCK_WAIT_TIMEOUT");
  expect(line).not.toContain("4111");
});

it("leaves out the password of an address that cannot be read", () => {
  let thrown: unknown;
  try {
    thrown = new URL("mysql://parley:hunter2@host:port/db");
  } catch (error) {
    thrown = error;
  }
  if (!(thrown instanceof Error)) throw new Error("the address could be read");
  const line = lineOf(thrown);
  expect(line).toContain("ERR_INVALID_URL");
  expect(line).not.toContain("hunter2");
});

it("does not wait for a reader who does not keep up, and tells of what it left out", async () => {
  const folder = await mkdtemp(join(tmpdir(), "parley-log-"));
  const pipe = join(folder, "pipe");
  execFileSync("mkfifo", [pipe]);
  // Open on both sides, and read by nobody yet.
  const handle = await open(pipe, "r+");
  const log = pino({ base: null }, openOutput(handle.fd, 100_000));
  for (let n = 0; n < 3_000; n += 1) log.info({ n, text: "x".repeat(100) }, "line");
  const lines: { readonly n?: number; readonly lines?: number }[] = [];
  const reader = createInterface({ input: createReadStream(pipe) });
  reader.on("line", (line) => lines.push(JSON.parse(line) as (typeof lines)[number]));
  await expect.poll(() => lines.find((line) => line.lines !== undefined), { timeout: 20_000 }).toBeDefined();
  const kept = lines.flatMap(({ n }) => n ?? []);
  expect(kept).toEqual(kept.map((_, at) => at));
  expect(kept.length + (lines.at(-1)?.lines ?? 0)).toBe(3_000);
  expect(kept.length).toBeLessThan(2_000);
  reader.close();
  await handle.close();
  await rm(folder, { recursive: true });
});
