import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { LongestFirst } from "./test/support/project/longest-first.ts";
import { recycledWorkers } from "./test/support/project/recycled-workers.ts";
import { temporaryFolder } from "./test/support/temporary-folder.ts";

// Before anything is put there: workers and the programs that they start inherit it.
const folder = temporaryFolder();
if (folder !== undefined) process.env["TMPDIR"] = folder;
// Threads of the program then have it too. What comes from there has no exact coverage.
if (!process.argv.some((argument) => argument.startsWith("--coverage"))) {
  process.env["NODE_COMPILE_CACHE"] ??= fileURLToPath(new URL("./node_modules/.cache/parley", import.meta.url));
}

export default defineConfig(({ mode }) => ({
  test: {
    include: ["{src,adapters,test}/**/*.test.ts"],
    globalSetup: ["test/support/services.ts"],
    // `npm test` is the short tier, `npm run test:full` the full one: test/support/tier.ts.
    env: { TEST_TIER: mode === "full" ? "full" : "short" },
    // What is waited for comes as fast as the machine allows, and a machine that others use too may need ten times as long:
    // these limits end what never comes.
    testTimeout: 60_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 40_000 } },
    maxWorkers: 2,
    // To load the program anew for each file takes a fifth of the time. No file changes what another one imports.
    isolate: false,
    pool: recycledWorkers(),
    sequence: { sequencer: LongestFirst },
    coverage: { include: ["{src,adapters}/**/*.{ts,tsx}"], exclude: ["**/*.test.ts", "adapters/**/test/**"] },
  },
}));
