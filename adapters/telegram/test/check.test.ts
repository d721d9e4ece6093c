import { Api } from "grammy";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { hostWith } from "#test/support/channels/partial-host.ts";
import type { BotCheck } from "../check.ts";
import { checkBot } from "../check.ts";
import type { FakeTelegram } from "./support/fake-telegram.ts";
import { startFakeTelegram } from "./support/fake-telegram.ts";

let telegram: FakeTelegram;
let api: Api;
beforeEach(async () => {
  telegram = await startFakeTelegram();
  api = new Api(telegram.token, { apiRoot: telegram.url });
});
afterEach(() => telegram.close());

const webhookUrl = "https://parley.test/channels/telegram/acc_1";

async function doctor(given: Partial<BotCheck> = {}): Promise<string> {
  const { state } = hostWith({ state: { get: async () => null } });
  const account = { api, token: telegram.token, webhookUrl, state, permitted: new Set<number>() };
  const asked = { ...account, transport: "webhook", isOwnServer: false, ...given } as const;
  try {
    return await checkBot(asked, AbortSignal.timeout(5_000));
  } catch (error) {
    return `✗ ${String(error)}`;
  }
}

const deliverTo = (url: string) => api.setWebhook(url, { secret_token: "of-the-other" });

describe("doctor's check of a bot", () => {
  it("names only the host of another program's webhook", async () => {
    await deliverTo("https://old.example:8443/hook/a-secret-path");
    const said = await doctor();
    expect(said).toContain("delivers to another address, at old.example:8443: start Parley, which sets it to");
    expect(said).not.toContain("a-secret-path");
    await deliverTo(webhookUrl);
    expect(await doctor()).toBe("@parley_test_bot, webhook");
  });

  it("reports that polling is impossible while a webhook is set", async () => {
    await deliverTo("https://old.example/hook");
    expect(await doctor({ transport: "polling" })).toContain("still delivers to old.example: start Parley");
    await api.deleteWebhook();
    expect(await doctor({ transport: "polling" })).toBe("@parley_test_bot, polling");
  });

  it("reports Business Mode that is off only where an account has connected the bot", async () => {
    await deliverTo(webhookUrl);
    const { state } = hostWith({ state: { get: async (key) => (key === "business" ? "used" : null) } });
    expect(await doctor()).toBe("@parley_test_bot, webhook");
    expect(await doctor({ state })).toContain("Business Mode is off, so Telegram accounts cannot connect the bot");
    telegram.businessMode = true;
    expect(await doctor({ state })).toBe("@parley_test_bot, webhook");
  });

  it("names the last account that has connected the bot without permission", async () => {
    await deliverTo(webhookUrl);
    const refused = JSON.stringify({ id: 666, name: "Eve" });
    const { state } = hostWith({ state: { get: async (key) => (key === "business refused" ? refused : null) } });
    expect(await doctor({ state })).toContain(
      "the Telegram account Eve has connected the bot: to answer for it, add 666",
    );
    expect(await doctor({ state, permitted: new Set([666]) })).toBe("@parley_test_bot, webhook");
  });

  it("lists the ports that Telegram delivers to, for Telegram's own server", async () => {
    const elsewhere = { webhookUrl: webhookUrl.replace("parley.test", "parley.test:9443") };
    expect(await doctor(elsewhere)).toContain("the ports 443, 80, 88 and 8443 only; set PUBLIC_URL");
    expect(await doctor({ ...elsewhere, isOwnServer: true })).toContain("has no webhook yet: start Parley");
    expect(await doctor({ webhookUrl: webhookUrl.replace("parley.test", "parley.test:8443") })).toContain(
      "has no webhook yet: start Parley",
    );
  });

  it("reports that Telegram cannot reach a private address", async () => {
    for (const host of ["192.168.0.9", "10.1.2.3:8443", "[fd00::1]", "localhost", "parley.lan"]) {
      const at = { webhookUrl: webhookUrl.replace("parley.test", host) };
      expect(await doctor(at)).toContain("which is an address within your own network: set PUBLIC_URL");
      expect(await doctor({ ...at, isOwnServer: true })).toContain("has no webhook yet");
    }
  });

  it("reports a rate limit with its time, and a failure of Telegram", async () => {
    const parameters = { retry_after: 17 };
    telegram.fail("getMe", { kind: "error", code: 429, description: "Too Many Requests: retry after 17", parameters });
    expect(await doctor()).toContain("no more calls of this bot for 17 s: ask again then");
    telegram.fail("getMe", { kind: "error", code: 500, description: "Internal Server Error: restart" });
    expect(await doctor()).toContain("Telegram failed (Internal Server Error: restart): ask again in a few minutes");
    telegram.fail("getMe", { kind: "html", status: 502 });
    expect(await doctor()).toContain("if Telegram itself has trouble, ask again later");
  });
});
