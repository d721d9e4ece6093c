import { execFileSync, spawnSync } from "node:child_process";
import { constants, createReadStream } from "node:fs";
import { mkdtemp, open, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { pino } from "pino";
import { afterAll, beforeAll, expect, it } from "vitest";
import { logOptions, openOutput } from "./log.ts";

function lineOf(err: Error): string {
  const lines: string[] = [];
  pino(logOptions("info"), { write: (line: string) => void lines.push(line) }).error({ err }, "it failed");
  return lines.join("");
}

it("omits the values of a failed statement", () => {
  const error = Object.assign(new Error("Lock wait timeout exceeded"), {
    code: "ER_LOCK_WAIT_TIMEOUT",
    sql: "insert into messages (content) values ('My card is 4111 1111')",
  });
  const line = lineOf(error);
  expect(line).toContain("ER_LOCK_WAIT_TIMEOUT");
  expect(line).not.toContain("4111");
});

it("omits the password of an invalid address", () => {
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

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "parley-log-"));
});
afterAll(() => rm(folder, { recursive: true }));

let pipes = 0;
/** A pipe that is open on both sides, and not read yet. */
function makePipe(): string {
  const pipe = join(folder, `pipe-${(pipes += 1)}`);
  execFileSync("mkfifo", [pipe]);
  return pipe;
}

it("does not wait for a slow reader, and logs the number of dropped lines", async () => {
  const pipe = makePipe();
  const handle = await open(pipe, constants.O_RDWR | constants.O_NONBLOCK);
  const log = pino({ base: null }, openOutput(handle.fd, 100_000));
  for (let n = 0; n < 3_000; n += 1) log.info({ n, text: "x".repeat(100) }, "line");
  const lines: { readonly n?: number; readonly lines?: number }[] = [];
  const reader = createInterface({ input: createReadStream(pipe) });
  reader.on("line", (line) => lines.push(JSON.parse(line) as (typeof lines)[number]));
  await expect.poll(() => lines.find((line) => line.lines !== undefined)).toBeDefined();
  const kept = lines.flatMap(({ n }) => n ?? []);
  expect(kept).toEqual(kept.map((_, at) => at));
  expect(kept.length + (lines.at(-1)?.lines ?? 0)).toBe(3_000);
  expect(kept.length).toBeLessThan(2_000);
  reader.close();
  await handle.close();
});

/** Runs a program in a child process, for at most 30 seconds. */
function run(program: string, stdout: number | "pipe" = "pipe") {
  const head = `import { createLog, openOutput } from ${JSON.stringify(new URL("./log.ts", import.meta.url).href)};
    import { pino } from ${JSON.stringify(import.meta.resolve("pino"))};
    import fs from "node:fs";`;
  const child = spawnSync(process.execPath, ["--input-type=module", "--eval", head + program], {
    stdio: ["ignore", stdout, "pipe"],
    encoding: "utf8",
    timeout: 30_000,
    killSignal: "SIGKILL",
  });
  const texts = (child.stdout ?? "")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as { readonly msg: string; readonly lines?: number });
  return { status: child.status, errors: child.stderr, texts };
}

it.each([
  ["exit", "process.exit(3)", 3],
  ["uncaught error", "throw new Error('it broke')", 1],
])("writes all lines in order before an %s", (_, end, status) => {
  const child = run(`import { pbkdf2 } from "node:crypto";
    const log = await createLog("info");
    // Keeps all background threads busy.
    for (let n = 0; n < 4; n += 1) pbkdf2("a", "b", 200_000, 64, "sha512", () => {});
    setTimeout(() => { for (const text of ["one", "two", "last"]) log.info(text); ${end}; }, 1);`);
  expect(child.texts.map(({ msg }) => msg)).toEqual(["one", "two", "last"]);
  expect(child.status).toBe(status);
});

it("does not keep the program from ending when no one reads", async () => {
  const handle = await open(makePipe(), "r+");
  const child = run(
    `const log = await createLog("info");
    for (let n = 0; n < 3_000; n += 1) log.info({ text: "x".repeat(100) }, "line");
    process.exit(3);`,
    handle.fd,
  );
  expect([child.errors, child.status]).toEqual(["", 3]);
  await handle.close();
});

it("logs the dropped lines at the end of the program", () => {
  // The program reads its own pipe when it ends, and again after the log's last write.
  const child = run(`
    const file = fs.openSync(${JSON.stringify(makePipe())}, fs.constants.O_RDWR | fs.constants.O_NONBLOCK);
    const read = () => {
      const piece = Buffer.alloc(1_000_000);
      for (;;) {
        try { fs.writeSync(1, piece.subarray(0, fs.readSync(file, piece))); }
        catch (error) { if (error.code === "EAGAIN") return; throw error; }
      }
    };
    process.once("exit", read);
    const log = pino({ base: null }, openOutput(file, 1_000));
    process.once("exit", read);
    for (let n = 0; n < 2_000; n += 1) log.info({ text: "x".repeat(100) }, "line");
    process.exit(3);`);
  const lines = child.texts.filter(({ msg }) => msg === "line").length;
  expect([child.errors, child.status]).toEqual(["", 3]);
  expect(lines).toBeLessThan(1_900);
  expect(child.texts.at(-1)).toMatchObject({ msg: "log: lines dropped", lines: 2_000 - lines });
});

it("continues after a full disk, and logs the number of dropped lines", async () => {
  const file = join(folder, "log");
  const child = run(`
    const file = fs.openSync("/dev/full", "w");
    const log = pino({ base: null }, openOutput(file, 1_000));
    log.info("lost"); log.info("lost");
    // Simulates free space.
    fs.closeSync(file);
    if (fs.openSync(${JSON.stringify(file)}, "w") !== file) throw new Error("another number");
    log.info("kept");`);
  expect([child.errors, child.status]).toEqual(["", 0]);
  const lines = (await readFile(file, "utf8")).trimEnd().split("\n");
  expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([{ lines: 2 }, { msg: "kept" }]);
});
