import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts", "adapters/*/test/**/*.test.ts"],
    globalSetup: ["test/support/services.ts"],
    testTimeout: 20_000,
    hookTimeout: 60_000,
    // What is waited for comes as fast as the machine allows; the test's own limit ends what never comes.
    expect: { poll: { timeout: 15_000 } },
    maxWorkers: 2,
    coverage: { include: ["src/**/*.ts", "adapters/*/*.ts"] },
  },
});
