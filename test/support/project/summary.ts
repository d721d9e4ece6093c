import { readFileSync } from "node:fs";

/**
 * `node test/support/project/summary.ts FILE`: prints "N passed, N failed" of vitest's JSON report. Fails if a test
 * failed, a file could not run, or no test passed.
 */
interface Report {
  readonly success: boolean;
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numPendingTests: number;
  readonly testResults: readonly { readonly status: string; readonly assertionResults: readonly unknown[] }[];
}

function read(path: string): Report | undefined {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as Report;
  } catch {
    return undefined;
  }
}

const report = read(process.argv[2] ?? "");
if (report === undefined) {
  console.log("0 passed, 1 failed (the tests ended without a report)");
  process.exitCode = 1;
} else {
  const { success, numPassedTests, numFailedTests, numPendingTests, testResults } = report;
  const brokenFiles = testResults.filter(
    ({ status, assertionResults }) => status === "failed" && assertionResults.length === 0,
  );
  const failed = numFailedTests + brokenFiles.length;
  console.log(`${numPassedTests} passed, ${failed} failed${numPendingTests > 0 ? `, ${numPendingTests} skipped` : ""}`);
  process.exitCode = success && failed === 0 && numPassedTests > 0 ? 0 : 1;
}
