import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { projectDir } from "../source-tree.ts";
import { failedFiles, readResults } from "./results.ts";
import type { Failure, RunResults } from "./results.ts";

/**
 * `node test/support/project/gate/closing.ts FOLDER`: decides over the run of all tests, whose results are in
 * FOLDER/run.json. Failed files run again, twice, each time in a process of its own: a file that passes both times is
 * flaky, any other failure closes the gate. Prints "N passed, N failed" and a line for each flaky test.
 */
const filesRunAgainMax = 5;
const rounds = 2;
const roundMillisecondsMax = 15 * 60_000;

/** Their outcome depends on nothing but the sources. */
const neverAgain = /^test\/conformance\/(?:documentation|source-rules|structure|wording)\.test\.ts$/;

const folder = process.argv[2] ?? "";
const first = readResults(join(folder, "run.json"));
if (first === undefined) {
  close(0, 0, [{ file: "all tests", test: "the run", message: "ended without a report" }]);
} else {
  decide(first);
}

function decide(results: RunResults): void {
  console.log(`== seed ${results.seed}`);
  const failed = failedFiles(results);
  const runAgain =
    failed.length <= filesRunAgainMax && failed.every(({ file }) => file !== "" && !neverAgain.test(file));
  let passed = results.files.reduce((sum, file) => sum + file.passed, 0);
  const skipped = results.files.reduce((sum, file) => sum + file.skipped, 0);
  const flaky: NamedFailure[] = [];
  const real: NamedFailure[] = [];
  for (const { file, failures, passed: passedBefore } of failed) {
    const named = failures.map((failure) => ({ file, ...failure }));
    const again = runAgain ? passesAgain(file) : undefined;
    if (again === undefined) {
      real.push(...named);
    } else {
      flaky.push(...named);
      passed += again - passedBefore;
    }
  }
  for (const failure of flaky) console.log(`flaky: ${lineOf(failure)}`);
  if (real.length > 0 || passed === 0) close(passed, skipped, real);
  else console.log(`${passed} passed, 0 failed${skipped > 0 ? `, ${skipped} skipped` : ""}`);
}

/** Returns how many tests passed in the last round, or undefined if one round failed. */
function passesAgain(file: string): number | undefined {
  let passed: number | undefined;
  for (let round = 1; round <= rounds; round++) {
    const results = join(folder, `again-${file.replaceAll("/", "_")}-${round}.json`);
    console.log(`== ${file} runs again (${round} of ${rounds})`);
    const temporary = mkdtempSync(join(tmpdir(), "parley-again-"));
    // Servers that run as other users need access.
    chmodSync(temporary, 0o711);
    const { status } = spawnSync(
      join(projectDir, "node_modules/.bin/vitest"),
      [
        "run",
        file,
        "--maxWorkers=1",
        "--isolate",
        "--reporter=default",
        `--reporter=${import.meta.dirname}/reporter.ts`,
      ],
      {
        cwd: projectDir,
        stdio: "inherit",
        timeout: roundMillisecondsMax,
        env: { ...process.env, TMPDIR: temporary, TEST_RESULTS: results },
      },
    );
    rmSync(temporary, { recursive: true, force: true });
    const report = readResults(results);
    if (status !== 0 || report === undefined || failedFiles(report).length > 0) return undefined;
    passed = report.files.reduce((sum, result) => sum + result.passed, 0);
    if (passed === 0) return undefined;
  }
  return passed;
}

interface NamedFailure extends Failure {
  readonly file: string;
}

function lineOf({ file, test, message }: NamedFailure): string {
  return `${file} > ${test}: ${message.split("\n")[0] ?? ""}`;
}

function close(passed: number, skipped: number, failures: readonly NamedFailure[]): void {
  for (const failure of failures) console.log(`FAIL ${lineOf(failure)}`);
  console.log(`${passed} passed, ${Math.max(failures.length, 1)} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`);
  process.exitCode = 1;
}
