import { readFileSync } from "node:fs";
import { relative } from "node:path";
import type { TestSpecification } from "vitest/node";
import { BaseSequencer } from "vitest/node";
import { projectDir } from "./source-tree.ts";

/** Starts the longest files first, so that no worker is left alone with one at the end. New files come before all. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const text = readFileSync(new URL("./durations.json", import.meta.url), "utf8");
    const seconds = JSON.parse(text) as Readonly<Record<string, number>>;
    const secondsOf = ({ moduleId }: TestSpecification): number =>
      seconds[relative(projectDir, moduleId).replaceAll("\\", "/")] ?? Number.POSITIVE_INFINITY;
    return files.toSorted((a, b) => Math.sign(secondsOf(b) - secondsOf(a)) || 0);
  }
}
