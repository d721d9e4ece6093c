import { readFileSync } from "node:fs";

/** One failed test, or one error outside of every test of a file. */
export interface Failure {
  readonly test: string;
  readonly message: string;
}

export interface FileResult {
  /** Relative to the project. Empty for errors that belong to no file. */
  readonly file: string;
  readonly passed: number;
  readonly skipped: number;
  readonly milliseconds: number;
  readonly failures: readonly Failure[];
}

export interface RunResults {
  readonly seed: number;
  readonly files: readonly FileResult[];
}

/** Returns undefined for a run that ended without a report. */
export function readResults(path: string): RunResults | undefined {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as RunResults;
  } catch {
    return undefined;
  }
}

export const failedFiles = (results: RunResults): readonly FileResult[] =>
  results.files.filter(({ failures }) => failures.length > 0);
