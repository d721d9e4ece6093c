import { join, relative } from "node:path";
import { expect } from "vitest";

/** `npm test` runs the short tier, which is the gate's. `npm run test:full` runs every test. */
export const isFullTier = process.env["TEST_TIER"] === "full";

/** The short tier has a share of the random cases; the full tier has all of them. */
export const randomCases = (count: number): number => (isFullTier ? count : Math.ceil(count / 8));

/** Random cases are the same at each run of the gate, whose outcome then depends on the change alone. */
export const seeded = process.env["CI"] === undefined ? {} : { seed: 20_261_127 };

/** Subjects whose SQL or transactions differ between the databases. */
const differsByDatabase =
  /^src\/(?:database|queue|conversations|webhooks)\/|idempotency|^test\/conformance\/(?:list|patch|adapters)\./;

/** The short tier tests both databases only where they differ. Must be called while tests are collected. */
export const hasBothDatabases = (): boolean => isFullTier || differsByDatabase.test(testFile());

const projectDir = join(import.meta.dirname, "../..");
const testFile = (): string => relative(projectDir, expect.getState().testPath ?? "");
