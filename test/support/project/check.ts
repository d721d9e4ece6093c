import { spawn } from "node:child_process";
import { delimiter, join } from "node:path";
import { projectDir } from "./source-tree.ts";

/** `npm run check`: runs all static checks at the same time. */
interface Check {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly fix?: string;
}

const checks: readonly Check[] = [
  { name: "types", command: "tsc", args: ["-p", "."] },
  { name: "lint", command: "oxlint", args: ["--type-aware", "--format", "unix", "."] },
  { name: "format", command: "oxfmt", args: ["--check"], fix: "npm run format" },
  { name: "unused", command: "knip", args: ["--no-progress"] },
  { name: "commits", command: "node", args: ["test/support/project/commit-subjects.ts"] },
];

interface CheckResult {
  readonly check: Check;
  readonly passed: boolean;
  readonly seconds: number;
  readonly output: string;
}

function run(check: Check): Promise<CheckResult> {
  const began = performance.now();
  return new Promise((resolve) => {
    const path = `${join(projectDir, "node_modules/.bin")}${delimiter}${process.env["PATH"] ?? ""}`;
    const child = spawn(check.command, check.args, {
      cwd: projectDir,
      env: { ...process.env, PATH: path, NO_COLOR: "1" },
    });
    let output = "";
    const end = (passed: boolean): void => {
      resolve({ check, passed, seconds: (performance.now() - began) / 1_000, output: output.trim() });
    };
    child.stdout.on("data", (data: Buffer) => (output += data.toString()));
    child.stderr.on("data", (data: Buffer) => (output += data.toString()));
    child.once("error", (error) => {
      output += `${check.command} could not be started (${error.message}): run npm ci`;
      end(false);
    });
    child.once("close", (status) => end(status === 0));
  });
}

const outcomes = await Promise.all(checks.map(run));
const failed = outcomes.filter(({ passed }) => !passed);
for (const { check, output } of failed) {
  console.log(`\n── ${check.name}: ${[check.command, ...check.args].join(" ")}\n\n${output}`);
  if (check.fix !== undefined) console.log(`\nTo fix it: ${check.fix}`);
}
console.log("");
for (const { check, passed, seconds } of outcomes) {
  console.log(`${passed ? "✓" : "✗"} ${check.name.padEnd(8)} ${seconds.toFixed(1).padStart(5)} s`);
}
process.exitCode = failed.length === 0 ? 0 : 1;
