import { pino } from "pino";
import { expect, it } from "vitest";
import { inTurns, logOptions } from "#src/log.ts";

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

it("writes the lines of one turn together, and what tells of trouble at once, all in their order", async () => {
  const written: string[] = [];
  const { stream, flush } = inTurns({ write: (text: string) => void written.push(text) });
  const log = pino({ base: null, timestamp: false }, stream);
  const texts = () => written.map((text) => text.match(/(?<="msg":")\w+/g));
  log.info("one");
  log.info("two");
  expect(written).toEqual([]);
  await new Promise((resolve) => setImmediate(resolve));
  expect(texts()).toEqual([["one", "two"]]);
  log.info("three");
  log.warn("four");
  expect(texts().slice(1)).toEqual([["three", "four"]]);
  log.info("five");
  flush();
  await new Promise((resolve) => setImmediate(resolve));
  expect(texts().slice(2)).toEqual([["five"]]);
});
