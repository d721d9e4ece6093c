import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { scopes } from "../check.ts";
import { config, secrets } from "../config.ts";
import { deskScopes } from "../desk/desk.ts";

const read = (name: string): string => readFileSync(new URL(`../${name}`, import.meta.url), "utf8");
const listed = (name: string, manifest = "manifest.yaml"): readonly string[] => {
  const [, list = ""] = new RegExp(`\\n *${name}:\\n((?: +- [^\\n]+\\n)+)`).exec(read(manifest)) ?? [];
  return list
    .trim()
    .split(/\s*- /)
    .filter((each) => each !== "");
};

describe("the manifest of the Slack app", () => {
  it("asks for every scope that the account is checked for, and for no other but the one that can be left out", () => {
    const needed = [...scopes.map(([scope]) => scope), "users:read.email"];
    expect(listed("bot").toSorted((a, b) => a.localeCompare(b))).toEqual(needed.toSorted((a, b) => a.localeCompare(b)));
  });

  it("subscribes to what the README tells to be handled", () => {
    expect(listed("bot_events")).toEqual([
      "app_mention",
      "message.channels",
      "message.groups",
      "message.im",
      "message.mpim",
    ]);
    expect(read("manifest.yaml")).toContain("messages_tab_read_only_enabled: false");
  });

  it("and the README name every scope and every setting", () => {
    const readme = read("README.md");
    for (const scope of listed("bot")) expect(readme).toContain(`\`${scope}\``);
    for (const setting of Object.keys(config.properties)) expect(readme).toContain(`| \`${setting}\` |`);
    for (const secret of secrets) expect(readme).toMatch(new RegExp(`\\| \`${secret}\` \\|[^\\n]*stored encrypted`));
  });

  it("has what the desk needs besides in the manifest with a desk", () => {
    const more = new Set([...listed("bot"), ...deskScopes.map(([scope]) => scope)]);
    expect(new Set(listed("bot", "manifest-desk.yaml"))).toEqual(more);
    expect(listed("bot_events", "manifest-desk.yaml")).toEqual(listed("bot_events"));
    const manifest = read("manifest-desk.yaml");
    for (const part of ["callback_id: parley_message", "command: /parley", "is_enabled: true"]) {
      expect(manifest).toContain(part);
    }
    for (const [scope] of deskScopes) expect(read("README.md")).toContain(`\`${scope}\``);
  });
});
