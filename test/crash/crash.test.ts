import { expect, it } from "vitest";
import { checkpoints } from "#runtime/checkpoints.ts";
import { runCrashTest } from "./run.ts";

it(
  "loses and duplicates nothing when it is killed at each point of a message's path",
  { timeout: 600_000 },
  async () => {
    const lines: string[] = [];
    const report = await runCrashTest({
      kills: checkpoints.length + 3,
      customers: 12,
      apiClients: 4,
      seed: 1,
      progress: (line) => lines.push(line),
    });
    expect(report.violations, lines.join("\n")).toEqual([]);
    expect(report.kills.map(({ at }) => at)).toEqual(expect.arrayContaining([...checkpoints]));
    // A run without work between the kills would test nothing.
    expect(report.messagesAcknowledged).toBeGreaterThan(report.kills.length);
    expect(report.messagesResent).toBeGreaterThan(0);
    expect(report.answersShown).toBeGreaterThan(report.kills.length);
    expect(report.questionsAnswered).toBeGreaterThan(0);
  },
);
