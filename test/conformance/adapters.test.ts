import { existsSync, globSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { AdapterModule } from "#channels/contract.ts";
import type { ChannelDescriptions } from "#channels/catalog.ts";
import { adapterFolder, channelLabel } from "#channels/catalog.ts";
import { loadAdapter } from "#channels/load-adapter.ts";
import type { ConformanceTarget } from "../support/channels/conformance-target.ts";
import { ruleNames } from "../support/channels/conformance-target.ts";
import { eachDatabase, onSqlite } from "../support/database/databases.ts";
import { skipped } from "../support/skipped.ts";
import type { Subject } from "./adapter-suite.ts";
import { openSubject, rules } from "./adapter-suite.ts";
import { isFullTier } from "../support/tier.ts";

const folder = new URL("../../adapters/", import.meta.url);
const names = globSync("{*,*/*}/index.ts", { cwd: fileURLToPath(folder) }).map((path) =>
  path.slice(0, -"/index.ts".length),
);

const targets = await Promise.all(
  names.map(async (name) => {
    const path = new URL(`${name}/test/conformance.ts`, folder);
    if (!existsSync(path)) return { name, target: undefined, variants: {} };
    const { default: target, variants = {} } = (await import(path.href)) as {
      readonly default: ConformanceTarget;
      /** Other ways to connect the same platform, which have to follow the same rules. */
      readonly variants?: Readonly<Record<string, ConformanceTarget>>;
    };
    return { name, target, variants };
  }),
);

describe("the adapters", () => {
  it("are found", () => {
    expect(names).toContain("widget");
  });

  it("are checked by every rule exactly once", () => {
    expect(rules.map(({ name }) => name).toSorted()).toEqual([...ruleNames].toSorted());
  });

  for (const { name, target, variants } of targets) {
    it(`${name} has a conformance target, with a reason for every rule that it cannot follow`, () => {
      if (target === undefined)
        throw new Error(`adapters/${name}/test/conformance.ts is missing: it exports a ConformanceTarget as default`);
      const reasons = [target, ...Object.values(variants)].flatMap(({ cannot }) => Object.entries(cannot));
      for (const [rule, reason] of reasons) {
        expect(ruleNames).toContain(rule);
        expect(reason.length, `the reason for not keeping "${rule}" says nothing`).toBeGreaterThan(20);
      }
    });

    it(`${name} serves its target's channel, for which the program loads it`, async () => {
      const { default: module } = (await import(new URL(`${name}/index.ts`, folder).href)) as {
        readonly default: AdapterModule;
      };
      const { channels: declared } = (await import(new URL(`${name}/channels.ts`, folder).href)) as {
        readonly channels: ChannelDescriptions;
      };
      expect(Object.keys(declared)).toContain(target?.channel);
      for (const [channel, { provider }] of Object.entries(declared)) {
        const settings = { provider: provider?.name };
        expect(adapterFolder(channel, settings)).toBe(name);
        expect(await loadAdapter(channel, settings)).toBe(module);
        expect(module.config.properties.provider !== undefined).toBe(provider !== undefined);
        expect(channelLabel(channel)).not.toBe(channel);
      }
    });
  }
});

const checked = targets.flatMap(({ name, target, variants }) => [
  { name, target },
  ...Object.entries(variants).map(([variant, other]) => ({ name: `${name} (${variant})`, target: other })),
]);

/** The store below the adapters is the same for all, so the short tier tests these on both databases. */
const onBoth: ReadonlySet<string> = new Set(["telegram", "widget"]);

for (const { name, target } of checked) {
  if (target === undefined) continue;
  if (target.missing !== undefined) {
    skipped(`adapters/${name}`, target.missing);
    continue;
  }
  const each = isFullTier || onBoth.has(name) ? eachDatabase : onSqlite;
  each(`adapters/${name}`, (open) => {
    let subject: Subject;
    beforeAll(async () => {
      subject = await openSubject(target, loadAdapter, open);
    });
    afterAll(() => subject.close());

    for (const rule of rules) {
      const reason = target.cannot[rule.name];
      if (reason === undefined) it(rule.sentence, () => rule.check(subject), 60_000);
      else it.skip(`${rule.sentence} (cannot: ${reason})`, () => undefined);
    }
  });
}
