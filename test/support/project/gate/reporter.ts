import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, relative } from "node:path";
import type { SerializedError } from "vitest";
import type { Reporter, TestModule, Vitest } from "vitest/node";
import { projectDir } from "../source-tree.ts";
import type { Failure, FileResult, RunResults } from "./results.ts";

/**
 * Writes the results of a run to the file that `TEST_RESULTS` names. Unlike vitest's JSON report, they hold unhandled
 * errors, as failures of the file that ran when they were thrown.
 */
export default class ResultsReporter implements Reporter {
  #vitest: Vitest | undefined;

  onInit(vitest: Vitest): void {
    this.#vitest = vitest;
  }

  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly SerializedError[]): void {
    const path = process.env["TEST_RESULTS"];
    if (path === undefined || path === "") throw new Error("Set TEST_RESULTS to the file for the results.");
    const unhandled = unhandledErrors.map((error) => ({
      file: relativeTo(error["VITEST_TEST_PATH"]),
      failure: { test: "outside of a test", message: `unhandled error: ${error.message}` },
    }));
    const files = modules.map((module) => {
      const file = relativeTo(module.moduleId);
      return fileResult(
        module,
        file,
        unhandled.filter((error) => error.file === file).map(({ failure }) => failure),
      );
    });
    const known = new Set(files.map(({ file }) => file));
    const homeless = unhandled.filter(({ file }) => !known.has(file)).map(({ failure }) => failure);
    if (homeless.length > 0) files.push({ file: "", passed: 0, skipped: 0, milliseconds: 0, failures: homeless });
    const results: RunResults = { seed: this.#vitest?.config.sequence.seed ?? 0, files };
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, JSON.stringify(results, undefined, 1));
  }
}

const relativeTo = (path: unknown): string => (typeof path === "string" ? relative(projectDir, path) : "");

function fileResult(module: TestModule, file: string, unhandled: readonly Failure[]): FileResult {
  const tests = [...module.children.allTests()];
  const states = tests.map((test) => test.result().state);
  const suites = [module, ...module.children.allSuites()];
  return {
    file,
    passed: states.filter((state) => state === "passed").length,
    skipped: states.filter((state) => state === "skipped").length,
    milliseconds: Math.round(module.diagnostic().duration),
    failures: [
      ...suites.flatMap((suite) =>
        suite
          .errors()
          .map((error) => ({ test: "fullName" in suite ? suite.fullName : "file", message: error.message })),
      ),
      ...tests.flatMap((test) =>
        // A test without a result was cut off by the end of its worker.
        test.result().state === "pending"
          ? [{ test: test.fullName, message: "did not end" }]
          : (test.result().errors ?? []).map(({ message }) => ({ test: test.fullName, message })),
      ),
      ...unhandled,
    ],
  };
}
