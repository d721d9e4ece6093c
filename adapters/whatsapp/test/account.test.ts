import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { channelConfigError } from "#channels/config-errors.ts";
import { hostWith } from "#test/support/channels/partial-host.ts";
import { checkNumber } from "../check.ts";
import { createApi } from "../client.ts";
import type { WhatsappConfig } from "../config.ts";
import { settingsOf } from "../config.ts";
import adapter from "../index.ts";
import { register } from "../registration.ts";
import { verifyTokenOf } from "../webhook.ts";
import type { WhatsappBench } from "./support/account.ts";
import { openWhatsapp } from "./support/account.ts";
import type { FakeCloudApi } from "./support/fake-cloud-api.ts";
import { businessAccountId, phoneNumberId, startFakeCloudApi } from "./support/fake-cloud-api.ts";

const configOf = ({ settings }: FakeCloudApi, more: Partial<WhatsappConfig> = {}): WhatsappConfig => ({
  ...(settings as unknown as WhatsappConfig),
  ...more,
});

describe("the settings", () => {
  it("are refused when they contradict each other, with the fix", async () => {
    const meta = await startFakeCloudApi();
    const config = configOf(meta);
    await meta.close();
    expect(adapter.identity?.(config)).toMatchObject({ key: phoneNumberId, setting: "phone_number_id" });
    expect(() => settingsOf({ ...config, template_language: "en" })).toThrow("need `template_name`");
    expect(() => settingsOf({ ...config, template_name: "x", template_variables: { "1": "x" } })).toThrow(
      "has to hold {text}",
    );
    expect(channelConfigError(adapter, { ...config, pin: "12345" })?.setting).toBe("pin");
    expect(channelConfigError(adapter, config)).toBeUndefined();
  });
});

describe("the webhook", () => {
  let at: WhatsappBench;
  afterEach(() => at.close());

  const ask = async (query: Readonly<Record<string, string>>): Promise<readonly [number, string]> => {
    const response = await fetch(`${at.webhookUrl}?${new URLSearchParams(query).toString()}`);
    return [response.status, await response.text()];
  };

  it("is registered at the start with a token that only Meta gets, and repeats its challenge", async () => {
    at = await openWhatsapp({
      config: { pin: "123456", business_account_id: businessAccountId },
      prepare: ({ number }) => Object.assign(number, { status: "PENDING", pin: "123456" }),
    });
    await at.bench.advance(10_000);
    await at.bench.until("the webhook is set", () => at.meta.number.webhook !== undefined);
    expect(at.meta.calls.map(({ path }) => path)).toEqual([
      `${phoneNumberId}/register`,
      `${businessAccountId}/subscribed_apps`,
      phoneNumberId,
    ]);
    expect(at.meta.number).toMatchObject({
      status: "CONNECTED",
      webhook: `http://parley.test/channels/whatsapp/${at.bench.accountId}`,
    });
    const token = at.meta.number.verifyToken ?? "";
    const given = { "hub.mode": "subscribe", "hub.challenge": "1158201444", "hub.verify_token": token };
    expect(await ask(given)).toEqual([200, "1158201444"]);
    expect(await ask({ ...given, "hub.verify_token": `${token.slice(1)}A` })).toEqual([403, ""]);
    expect(await ask({ ...given, "hub.mode": "unsubscribe" })).toEqual([403, ""]);
    expect(await ask({})).toEqual([403, ""]);
  });

  it("tries a wrong PIN once, because Meta locks the number after ten, and still sets the address", async () => {
    at = await openWhatsapp({
      config: { pin: "000000" },
      prepare: ({ number }) => Object.assign(number, { status: "PENDING", pin: "123456" }),
    });
    const calls = (path: string) => at.meta.calls.filter((each) => each.path === path).length;
    await at.bench.until("the address is set again", async () => {
      await at.bench.advance(10_000);
      return calls(phoneNumberId) > 2;
    });
    expect(calls(`${phoneNumberId}/register`)).toBe(1);
  });

  it("refuses deliveries without Meta's signature", async () => {
    at = await openWhatsapp();
    const text = JSON.stringify(at.meta.delivery({ messages: [] }));
    const post = async (headers: Readonly<Record<string, string>>, method = "POST"): Promise<number> =>
      (await fetch(at.webhookUrl, { method, headers, ...(method === "POST" ? { body: text } : {}) })).status;
    for (const signature of ["sha256=", "sha1=00", `sha256=${"0".repeat(64)}`, `sha256=${"z".repeat(64)}`]) {
      expect(await post({ "x-hub-signature-256": signature })).toBe(401);
    }
    expect(await post({})).toBe(401);
    expect(await post({}, "HEAD")).toBe(405);
    expect(await at.meta.post(text, "another secret")).toBe(401);
    expect(await at.meta.post(text)).toBe(200);
  });
});

describe("the check", () => {
  const webhookUrl = "https://help.example/channels/whatsapp/acc_1";
  const { signal } = new AbortController();
  let meta: FakeCloudApi;
  beforeEach(async () => {
    meta = await startFakeCloudApi();
    meta.number.webhook = webhookUrl;
  });
  afterEach(() => meta.close());

  async function check(more: Partial<WhatsappConfig> = {}, at = webhookUrl, isMeta = false): Promise<string> {
    const settings = settingsOf(configOf(meta, more));
    const asked = isMeta ? { ...settings, ownServer: undefined } : settings;
    try {
      return await checkNumber(createApi(settings), asked, { webhookUrl: at }, signal);
    } catch (error) {
      return `✗ ${JSON.stringify(error, Object.getOwnPropertyNames(error))}`;
    }
  }

  it("names the number, its quality and the end of the token", async () => {
    expect(await check()).toBe("Harbour Lamps, +1 555-078-3881");
    Object.assign(meta.number, { quality: "RED", tokenExpiresAt: 1_900_000_000 });
    expect(await check({}, webhookUrl, true)).toBe(
      "Harbour Lamps, +1 555-078-3881; its quality is RED; the access token expires at 2030-03-17T17:46:40.000Z: a token of a system user need not",
    );
  });

  it("gives the token in an address to Meta alone", async () => {
    await check();
    expect(meta.addresses.join("\n")).not.toContain(meta.accessToken);
    await check({}, webhookUrl, true);
    expect(meta.addresses.at(-1)).toContain(`debug_token?input_token=${meta.accessToken}`);
  });

  it("names the fix for an unregistered number, another address, and one that Meta cannot reach", async () => {
    meta.number.status = "PENDING";
    expect(await check()).toContain("has the status PENDING at Meta: set `pin`");
    expect(await check({ pin: "123456" })).toContain("start Parley, which registers the number");
    meta.number.status = "CONNECTED";
    meta.number.webhook = "https://other.example/a-secret-path";
    expect(await check()).toContain("delivers to other.example: start Parley");
    expect(await check()).not.toContain("a-secret-path");
    meta.number.webhook = undefined;
    expect(await check()).toContain("delivers to app.example: start Parley");
    for (const origin of ["http://127.0.0.1:8080", "https://support.local"]) {
      expect(await check({}, `${origin}/channels/whatsapp/a`, true)).toContain(`at ${origin}: set PUBLIC_URL`);
    }
  });

  it("names the fix for wrong credentials and a wrong server, and shows no credential", async () => {
    const wrong = "EAAwrongwrongwrongwrong";
    const [token, secret, id] = [
      await check({ access_token: wrong }),
      await check({ app_secret: "a-secret-of-another-app" }),
      await check({ phone_number_id: "1000000000" }),
    ];
    expect(token).toContain("enter it as `access_token`");
    expect(secret).toContain("`app_secret`");
    expect(id).toContain("check `phone_number_id`");
    await meta.goAway();
    const away = await check();
    expect(away).toMatch(/check .*`base_url`/);
    for (const said of [token, secret, id, away]) {
      for (const hidden of [wrong, meta.accessToken, meta.appSecret, "a-secret-of-another-app"]) {
        expect(said).not.toContain(hidden);
      }
    }
  });

  it("leaves another program's address of the app as it is", async () => {
    meta.number.subscriptions.push({ object: "whatsapp_business_account" });
    const host = hostWith({ webhookUrl, signToken: (value) => `signed ${value}` });
    const settings = { ...settingsOf(configOf(meta)), ownServer: undefined };
    const setUp = () => register(createApi(settings), settings, host, {}, signal);
    await expect(setUp()).rejects.toThrow("Meta refuses it");
    expect(meta.calls.map(({ path }) => path)).toEqual([phoneNumberId]);
    meta.number.subscriptions.pop();
    await expect(setUp()).rejects.toThrow("Meta refuses it");
    expect(meta.calls.map(({ path }) => path)).toContain("670843887433847/subscriptions");
    expect(verifyTokenOf(host)).toMatch(/^[\w-]{43}$/);
  });
});
