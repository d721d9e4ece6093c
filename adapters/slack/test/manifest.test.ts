import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { scopes } from "../check.ts";
import { readManifests } from "../install/manifest.ts";
import { config, secrets } from "../config.ts";
import { deskScopes } from "../desk/check.ts";

const read = (name: string): string => readFileSync(new URL(`../${name}`, import.meta.url), "utf8");
const listed = (name: string, manifest = "manifest.yaml"): readonly string[] => {
  const [, list = ""] = new RegExp(`\\n *${name}:\\n((?: +- [^\\n]+\\n)+)`).exec(read(manifest)) ?? [];
  return list
    .trim()
    .split(/\s*- /)
    .filter((each) => each !== "");
};

const redirect = "https://parley.example/dashboard/channels/slack/installed";

describe("the manifest of the Slack app", () => {
  it("requests each scope that the check requires, and only the optional ones besides", () => {
    const optional = ["users:read.email", "assistant:write", "reactions:read", "reactions:write"];
    const needed = [...scopes.map(([scope]) => scope), ...optional];
    expect(listed("bot").toSorted((a, b) => a.localeCompare(b))).toEqual(needed.toSorted((a, b) => a.localeCompare(b)));
  });

  it("subscribes to the events that the README lists as handled", () => {
    expect(listed("bot_events")).toEqual([
      "app_mention",
      "app_uninstalled",
      "assistant_thread_context_changed",
      "assistant_thread_started",
      "message.channels",
      "message.groups",
      "message.im",
      "message.mpim",
      "reaction_added",
      "reaction_removed",
      "tokens_revoked",
    ]);
    expect(read("manifest.yaml")).toContain("messages_tab_read_only_enabled: false");
    expect(read("manifest.yaml")).toMatch(/\n {2}interactivity:\n {4}is_enabled: true\n/);
  });

  it("and the README name every scope and every setting", () => {
    const readme = read("README.md");
    for (const scope of listed("bot")) expect(readme).toContain(`\`${scope}\``);
    for (const setting of Object.keys(config.properties)) expect(readme).toContain(`| \`${setting}\` |`);
    for (const secret of secrets) expect(readme).toMatch(new RegExp(`\\| \`${secret}\` \\|[^\\n]*stored encrypted`));
  });

  it("has the account's address for deliveries where the account has one", async () => {
    const url = "https://parley.example/channels/slack/acc_1";
    const [sockets, webhooks] = await Promise.all([readManifests(null, redirect), readManifests(url, redirect)]);
    expect(sockets.map(({ label }) => label)).toEqual(["App manifest", "App manifest with the agents' desk"]);
    for (const { text } of sockets) {
      expect(text).toContain("socket_mode_enabled: true");
      expect(text).not.toMatch(/#|[^_]url:/);
    }
    for (const { text } of webhooks) {
      expect(text).toContain("socket_mode_enabled: false");
      expect(text).toMatch(new RegExp(`event_subscriptions:\\n +request_url: ${url}\\n`));
    }
    expect(webhooks.map(({ text }) => text.split(url).length - 1)).toEqual([2, 3]);
  });

  it("has the redirect URL of an installation, which Slack takes only with https", async () => {
    for (const { text } of await readManifests(null, redirect)) {
      expect((parse(text) as { readonly oauth_config: unknown }).oauth_config).toMatchObject({
        redirect_urls: [redirect],
      });
    }
    for (const { text } of await readManifests(null, redirect.replace("https", "http"))) {
      expect(text).not.toContain("redirect");
    }
  });

  it("is in the address of Slack's page for a new app", async () => {
    for (const { text, link } of await readManifests("https://parley.example/channels/slack/acc_1", redirect)) {
      const { origin, pathname, searchParams } = new URL(link.url);
      expect([origin, pathname, searchParams.get("new_app")]).toEqual(["https://api.slack.com", "/apps", "1"]);
      expect(JSON.parse(searchParams.get("manifest_json") ?? "")).toEqual(parse(text));
      expect(link.url.length).toBeLessThan(4_000);
    }
  });

  it("has the desk's scopes in the manifest with a desk", () => {
    const more = new Set([...listed("bot"), ...deskScopes.map(([scope]) => scope)]);
    expect(new Set(listed("bot", "manifest-desk.yaml"))).toEqual(more);
    expect(listed("bot_events", "manifest-desk.yaml")).toEqual(listed("bot_events"));
    const manifest = read("manifest-desk.yaml");
    for (const part of [
      "callback_id: parley_message",
      "callback_id: parley_reply",
      "command: /parley",
      "is_enabled: true",
    ]) {
      expect(manifest).toContain(part);
    }
    for (const [scope] of deskScopes) expect(read("README.md")).toContain(`\`${scope}\``);
  });
});
