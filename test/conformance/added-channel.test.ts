import { execFile } from "node:child_process";
import { cp, mkdtemp, rename, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { projectDir } from "../support/project/source-tree.ts";
import { isFullTier } from "../support/tier.ts";

const run = promisify(execFile);
const copied = [
  "src",
  "adapters",
  "test",
  "config",
  "docs",
  "bin",
  "bench",
  "package.json",
  "tsconfig.json",
  "vitest.config.ts",
];
const sample = join(projectDir, "test/support/channels/sample-adapter");

/** In a copy: tests that run at the same time must not see another channel. */
it.runIf(isFullTier)(
  "supports a new channel in every part of the program once its folder exists",
  async () => {
    const project = await mkdtemp(join(tmpdir(), "parley-added-channel-"));
    try {
      await Promise.all(copied.map((name) => cp(join(projectDir, name), join(project, name), { recursive: true })));
      await symlink(join(projectDir, "node_modules"), join(project, "node_modules"));
      await cp(sample, join(project, "adapters/sample"), { recursive: true });
      const tests = join(project, "adapters/sample/test");
      await rename(join(tests, "known-everywhere.ts"), join(tests, "known-everywhere.test.ts"));

      const node = async (...args: readonly string[]): Promise<string> => {
        const { stdout } = await run(process.execPath, args, { cwd: project, env: { ...process.env, NO_COLOR: "1" } });
        return stdout;
      };
      await node("config/generate.ts");
      const vitest = "node_modules/vitest/vitest.mjs";
      const known = await node(vitest, "run", "adapters/sample", "test/conformance/source-rules.test.ts");
      expect(known).toMatch(/Test Files +2 passed \(2\)/);
      const suite = await node(
        vitest,
        "run",
        "test/conformance/adapters.test.ts",
        "-t",
        "sample",
        "--reporter=verbose",
      );
      expect(suite).toContain("adapters/sample");
      expect(suite).toMatch(/Tests +\d+ passed/);
      expect(suite).toContain("stores a message once, however often and concurrently it is delivered");
    } finally {
      await rm(project, { recursive: true, force: true });
    }
  },
  240_000,
);
