import { writeFileSync } from "node:fs";
import { readResults } from "./results.ts";

/**
 * `node test/support/project/gate/durations.ts RUN.json`: writes how many seconds each test file took in a run of the
 * gate. The longest files start first.
 */
const results = readResults(process.argv[2] ?? "");
if (results === undefined) throw new Error("Name the run.json in the folder that .ci/run prints.");
const seconds = results.files
  .map(({ file, milliseconds }) => [file, Math.round(milliseconds / 1_000)] as const)
  .filter(([file]) => file !== "")
  .toSorted(([a], [b]) => (a < b ? -1 : 1));
const path = new URL("../durations.json", import.meta.url);
writeFileSync(path, `${JSON.stringify(Object.fromEntries(seconds), undefined, 2)}\n`);
