import { hostWith } from "#test/support/channels/partial-host.ts";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { channelConfigError } from "#channels/config-errors.ts";
import { createHandMovedClock } from "#test/support/hand-moved-clock.ts";
import { checkWorkspace } from "../check.ts";
import { createApi } from "../client.ts";
import adapter from "../index.ts";
import { renderParts } from "../render.ts";
import { removePart } from "../send.ts";
import type { IntercomConfig } from "../config.ts";
import { settingsOf } from "../config.ts";
import { neededTopics } from "../webhook-topics.ts";
import type { FakeIntercom } from "./support/fake-intercom.ts";
import { startFakeIntercom } from "./support/fake-intercom.ts";

const signal = AbortSignal.timeout(60_000);
const clock = createHandMovedClock(Date.UTC(2031, 4, 14));
let intercom: FakeIntercom;
beforeEach(async () => {
  intercom = await startFakeIntercom();
});
afterEach(() => intercom.close());

const configOf = (more: Partial<IntercomConfig> = {}): IntercomConfig => ({
  access_token: intercom.token,
  client_secret: intercom.clientSecret,
  app_id: intercom.appId,
  admin_id: intercom.bot.id,
  base_url: intercom.url,
  ...more,
});

describe("the settings", () => {
  it("are refused when they are wrong, and select the server of the region", () => {
    expect(channelConfigError(adapter, configOf())).toBeUndefined();
    expect(channelConfigError(adapter, configOf({ admin_id: "anna" }))?.setting).toBe("admin_id");
    expect(channelConfigError(adapter, { ...configOf(), region: "jp" })?.setting).toBe("region");
    const { base_url: _, ...hosted } = configOf();
    expect(settingsOf(hosted).baseUrl).toBe("https://api.intercom.io");
    expect(settingsOf({ ...hosted, region: "eu" }).baseUrl).toBe("https://api.eu.intercom.io");
    expect(settingsOf({ ...hosted, region: "au" }).baseUrl).toBe("https://api.au.intercom.io");
  });

  it("identify the workspace, so that two accounts cannot share it", () => {
    expect(adapter.identity?.(configOf())).toEqual({
      key: intercom.appId,
      name: `the Intercom workspace ${intercom.appId}`,
      setting: "app_id",
    });
  });
});

describe("the check", () => {
  const webhookUrl = "https://help.example/channels/intercom/acc_1";
  const kept = new Map<string, string>();
  const check = async (more: Partial<IntercomConfig> = {}, url = webhookUrl): Promise<string> => {
    const settings = settingsOf(configOf(more));
    const host = hostWith({ webhookUrl: url, clock, state: { get: async (key) => kept.get(key) ?? null } });
    return checkWorkspace(createApi(settings, host), settings, host, signal);
  };
  afterEach(() => kept.clear());

  it("names the workspace and the teammate, and shows how deliveries arrive", async () => {
    expect(await check()).toContain(`Shop, as Parley; nothing was delivered yet: enter ${webhookUrl}`);
    kept.set("delivered", String(clock.now() - 60_000));
    expect(await check()).toContain("delivered last at 2031-05-13T23:59:00.000Z");
    kept.set("missed", String(clock.now() - 30_000));
    expect(await check()).toContain("messages came that were not delivered");
    expect(await check({}, "http://localhost:8080/x")).toContain("set PUBLIC_URL");
    expect(await check()).toContain("all customers are taken as unverified");
    intercom.workspace.identityVerification = true;
    expect(await check()).not.toContain("unverified");
  });

  it("names the fix for each failure", async () => {
    await expect(check({ access_token: "a".repeat(40) })).rejects.toThrow("Intercom refuses the access token");
    await expect(check({ app_id: "other1" })).rejects.toThrow(`is of the workspace Shop (${intercom.appId})`);
    await expect(check({ region: "eu" })).rejects.toThrow("is hosted in US: set `region: us`");
    await expect(check({ admin_id: "12" })).rejects.toThrow("there is no teammate 12 in Shop");
    await expect(check({ handover_to_team: "13" })).rejects.toThrow(
      "there is no team 13 in Shop: set `handover_to_team`",
    );
    await expect(check({ handover_to_admin: "14" })).rejects.toThrow("there is no teammate 14 in Shop");
    await expect(check({ handover_to_admin: intercom.bot.id })).rejects.toThrow("is Parley's own teammate");
    const { carla, team } = intercom;
    expect(await check({ handover_to_team: team.id, handover_to_admin: carla.id })).toContain("Shop, as Parley");
    intercom.workspace.seat = false;
    await expect(check()).rejects.toThrow("has no seat in the inbox");
    await intercom.goAway();
    await expect(check()).rejects.toThrow(
      /^(?:Intercom cannot be reached|the connection to Intercom broke) .*: check .*`base_url`/,
    );
    await intercom.comeBack();
  });
});

describe("a reply", () => {
  const render = (markdown: string, more: object = {}) =>
    renderParts({ role: "assistant", authorName: "Bot", markdown, sources: [], ...more }).map(
      ({ payload }) => (payload as { readonly html: string }).html,
    );

  it("is HTML without active content", () => {
    expect(render("**Hi** <script>alert(1)</script> [a](https://shop.example/?a=1&b=2) `x<y`")).toEqual([
      '<p><strong>Hi</strong> &lt;script&gt;alert(1)&lt;/script&gt; <a href="https://shop.example/?a=1&amp;b=2">a</a> <code>x&lt;y</code></p>',
    ]);
    expect(render("[a](javascript:alert(1))").join()).not.toContain("href");
  });

  it("shows what is quoted", () => {
    expect(render("> **Can** I?\n\nNo.")).toEqual(["<p>&gt; <strong>Can</strong> I?<br><br>No.</p>"]);
  });

  it("carries files, ten at a time, with the end of the text", () => {
    const files = Array.from({ length: 12 }, (_, i) => ({ id: `f${i}`, name: `${i}.pdf`, mediaType: "a/b", bytes: 9 }));
    const parts = renderParts({ role: "agent", authorName: "Anna", markdown: "Here", sources: [], files });
    expect(parts.map(({ payload }) => (payload as { readonly files: readonly object[] }).files.length)).toEqual([
      10, 2,
    ]);
  });

  it("is redacted when an agent deletes it", async () => {
    intercom.connect({ webhookUrl: "", now: () => clock.now() });
    const { conversation } = intercom.write({ contact: "ada", text: "Hello" });
    intercom.teammate(intercom.bot, conversation, { type: "comment", body: "A mistake" });
    const part = intercom.conversations.get(conversation)?.parts.at(-1);
    const settings = settingsOf(configOf());
    const sending = { settings, api: createApi(settings, { clock }), host: hostWith({ clock }) };
    const context = { thread: conversation, key: "k", messageId: "m", signal };
    await removePart(sending, part?.id ?? "", context);
    expect(part).toMatchObject({ redacted: true, body: null });
    // A part that is already gone is no error.
    await expect(removePart(sending, "999999999999", context)).resolves.toBeUndefined();
  });
});

describe("the README", () => {
  it("lists every topic that Intercom must deliver", async () => {
    const { readFile } = await import("node:fs/promises");
    const text = await readFile(new URL("../README.md", import.meta.url), "utf8");
    for (const topic of neededTopics) expect(text).toContain(`\`${topic}\``);
  });
});
