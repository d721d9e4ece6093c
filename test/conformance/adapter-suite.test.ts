import { describe, expect, it } from "vitest";
import type { RuleName } from "../support/channels/conformance-target.ts";
import { newSqlite } from "../support/database/databases.ts";
import type { Fault } from "../support/channels/faulty-adapter.ts";
import { faultyAdapter } from "../support/channels/faulty-adapter.ts";
import sampleAdapter from "../support/channels/sample-adapter/index.ts";
import { sampleTarget } from "../support/channels/sample-platform.ts";
import { openSubject, rules } from "./adapter-suite.ts";

/** Short, because the sample platform delivers synchronously: a missing message is lost, not late. */
const faultPatienceMs = 300;

/** The rules that fail for an adapter with this fault. */
async function brokenBy(fault: Fault | undefined, names: readonly RuleName[]): Promise<readonly RuleName[]> {
  const opened = await openSubject(
    sampleTarget,
    async () => (fault === undefined ? sampleAdapter : faultyAdapter(fault)),
    newSqlite,
  );
  const { bench } = opened;
  const until: typeof bench.until = (what, reached) => bench.until(what, reached, faultPatienceMs);
  const subject = fault === undefined ? opened : { ...opened, bench: { ...bench, until } };
  const broken: RuleName[] = [];
  try {
    for (const rule of rules.filter(({ name }) => names.includes(name))) {
      try {
        await rule.check(subject);
      } catch {
        broken.push(rule.name);
      }
    }
  } finally {
    await subject.close();
  }
  return broken;
}

const faults: Readonly<Record<Fault, RuleName>> = {
  acknowledges_first: "stored-before-acknowledged",
  acknowledges_failures: "stored-before-acknowledged",
  no_dedup: "accepted-once",
  no_signature: "forged",
  changes_text: "to-the-letter",
  takes_echo: "own-echo",
  one_thread_for_all: "same-thread",
  cuts_text: "nothing-cut",
  cuts_signs: "nothing-cut",
  retries_refused_sends: "refused-send",
  ignores_retry_after: "limited-send",
  sends_unknown_again: "unknown-send",
  drops_when_unreachable: "resumes",
  cuts_files: "files-in",
  drops_files: "files-out",
  sends_files_as_nothing: "files-out",
  token_in_errors: "no-secrets",
  token_in_log: "no-secrets",
};

describe("the conformance suite", () => {
  it("finds no fault in an adapter that follows all rules", async () => {
    expect(
      await brokenBy(
        undefined,
        rules.map(({ name }) => name),
      ),
    ).toEqual([]);
  }, 60_000);

  for (const [fault, rule] of Object.entries(faults) as [Fault, RuleName][]) {
    it(`detects an adapter that ${fault.replaceAll("_", " ")}`, async () => {
      expect(await brokenBy(fault, [rule])).toEqual([rule]);
    }, 60_000);
  }
});
