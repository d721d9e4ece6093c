// Prints "N passed, N failed" of vitest's JSON report, and fails where a test failed or none ran.
import { readFileSync } from "node:fs";

const path = process.argv[2] ?? "";
let report;
try {
  report = JSON.parse(readFileSync(path, "utf8"));
} catch {
  process.stdout.write("0 passed, 1 failed (the tests ended without a report)\n");
  process.exit(1);
}
const { numPassedTests, numFailedTests, numPendingTests, numFailedTestSuites, success } = report;
const brokenFiles = report.testResults.filter((file) => file.status === "failed" && file.assertionResults.length === 0).length;
const failed = numFailedTests + brokenFiles;
process.stdout.write(`${numPassedTests} passed, ${failed} failed${numPendingTests > 0 ? `, ${numPendingTests} skipped` : ""}\n`);
process.exit(success && failed === 0 && numFailedTestSuites === 0 && numPassedTests > 0 ? 0 : 1);
