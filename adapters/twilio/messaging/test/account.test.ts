import { randomBytes } from "node:crypto";
import { buffer } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { DeliveryError } from "#channels/errors.ts";
import { channelConfigError } from "#channels/config-errors.ts";
import { checkAccount } from "../check.ts";
import { createClient } from "../../shared/client.ts";
import { fetchMedia, isStorage } from "../files.ts";
import twilioAdapter from "../index.ts";
import type { TwilioConfig } from "../config.ts";
import { settingsOf } from "../config.ts";
import { openElsewhere } from "../../shared/test/elsewhere.ts";
import type { FakeTwilio } from "../../shared/test/fake-twilio.ts";
import { startFakeTwilio } from "../../shared/test/fake-twilio.ts";

const webhookUrl = "https://help.example/channels/sms/acc_1";
const own = "+15550001111";
let twilio: FakeTwilio;
beforeEach(async () => {
  twilio = await startFakeTwilio();
});
afterEach(() => twilio.close());

const configOf = (more: Partial<TwilioConfig> = {}): TwilioConfig => ({
  ...twilio.settings,
  from: own,
  ...more,
});
const signal = AbortSignal.timeout(10_000);

describe("the settings", () => {
  it("name what two accounts cannot both have: the number, or the messaging service", () => {
    const service = `MG${"1".repeat(32)}`;
    const { from: _, ...neither } = configOf();
    expect(twilioAdapter.identity?.(configOf())).toEqual({ key: own, name: `the number ${own}`, setting: "from" });
    expect(twilioAdapter.identity?.({ ...neither, messaging_service_sid: service })).toEqual({
      key: service,
      name: `the messaging service ${service}`,
      setting: "messaging_service_sid",
    });
  });

  it("are refused when they contradict each other, with the fix", () => {
    const { from: _, ...neither } = configOf();
    const service = `MG${"1".repeat(32)}`;
    const template = `HX${"1".repeat(32)}`;
    expect(() => settingsOf("sms", neither)).toThrow("set either `from`");
    expect(() => settingsOf("sms", configOf({ messaging_service_sid: service }))).toThrow("set either `from`");
    expect(() => settingsOf("sms", configOf({ template_sid: template }))).toThrow("of the channel whatsapp");
    expect(() => settingsOf("whatsapp", configOf({ template_variables: { "1": "{text}" } }))).toThrow("needs");
    expect(() => settingsOf("sms", configOf({ quick_reply_sid: template }))).toThrow("of the channel whatsapp");
    expect(() => settingsOf("whatsapp", configOf({ quick_reply_variables: { "1": "{text}" } }))).toThrow(
      "`quick_reply_variables` needs `quick_reply_sid`",
    );
    expect(() =>
      settingsOf("whatsapp", configOf({ template_sid: template, template_variables: { "1": "x" } })),
    ).toThrow("has to hold {text}");
    expect(channelConfigError(twilioAdapter, configOf({ from: "Parley" }))?.setting).toBe("from");
    expect(channelConfigError(twilioAdapter, configOf())).toBeUndefined();
  });
});

describe("the check", () => {
  const check = (config: TwilioConfig, channel: "sms" | "whatsapp" = "sms"): Promise<string> => {
    const settings = settingsOf(channel, config);
    return checkAccount(createClient(settings), settings, webhookUrl, signal);
  };

  it("names the account and the number, and the fix for a wrong webhook", async () => {
    await expect(check(configOf())).rejects.toThrow("has no number +15550001111");
    twilio.setup.numbers.push({ number: own, smsUrl: "https://elsewhere.example/", smsMethod: "POST" });
    await expect(check(configOf())).rejects.toThrow(webhookUrl);
    twilio.setup.numbers.splice(0, 1, { number: own, smsUrl: `${webhookUrl}#rc=3&rp=all`, smsMethod: "POST" });
    expect(await check(configOf())).toBe("Test account, +15550001111");
    expect(await check(configOf({ from: "+15559999999" }), "whatsapp")).toBe(
      `Test account, +15559999999, if it delivers to POST ${webhookUrl}`,
    );
    const home = settingsOf("whatsapp", configOf());
    for (const origin of ["http://127.0.0.1:8080", "https://support.local", "http://[fd00::1]:8080"]) {
      const asked = checkAccount(createClient(home), home, `${origin}/channels/whatsapp/a`, signal);
      await expect(asked).rejects.toThrow(`Twilio cannot deliver to ${origin}, `);
    }
    twilio.setup.status = "suspended";
    await expect(check(configOf())).rejects.toThrow("is suspended");
  });

  it("checks a messaging service's own settings", async () => {
    const { from: _, ...rest } = configOf();
    const sid = `MG${"a".repeat(32)}`;
    twilio.setup.services.push({ sid, inboundRequestUrl: null });
    await expect(check({ ...rest, messaging_service_sid: sid })).rejects.toThrow("delivers elsewhere");
    twilio.setup.services.splice(0, 1, { sid, inboundRequestUrl: webhookUrl });
    expect(await check({ ...rest, messaging_service_sid: sid })).toBe("Test account, messaging service Support");
  });

  it("reports a wrong token without showing it", async () => {
    const wrong = "00000000000000000000000000000000";
    const failure = await check(configOf({ auth_token: wrong })).catch((error: unknown) => error);
    expect(String(failure)).toContain("check `account_sid` and `auth_token`");
    await twilio.goAway();
    const away = await check(configOf()).catch((error: unknown) => error);
    // A kept-alive connection may break instead.
    expect(String(away)).toMatch(/(?:Twilio cannot be reached|the connection to Twilio broke) .*: check .*`base_url`/);
    for (const error of [failure, away]) {
      const seen = JSON.stringify(error, Object.getOwnPropertyNames(error));
      expect(seen).not.toContain(wrong);
      expect(seen).not.toContain(twilio.authToken);
    }
  });
});

describe("a file of a customer", () => {
  const fetched = async (ref: string, more: Partial<TwilioConfig> = {}): Promise<Buffer> =>
    buffer(await fetchMedia(settingsOf("sms", configOf(more)), ref, signal));

  it("is fetched with the account's token, which the storage does not receive", async () => {
    const bytes = randomBytes(100_000);
    expect((await fetched(twilio.keep(bytes, "image/jpeg"))).equals(bytes)).toBe(true);
  });

  it("is fetched from Twilio only", async () => {
    for (const ref of [
      "https://evil.example/2010-04-01/x",
      "https://twilio.com.evil.example/x",
      "https://eviltwilio.com/x",
      "http://api.twilio.com/x",
      "https://api.twilio.com:8443/x",
      "https://user@api.twilio.com/x",
      "file:///etc/passwd",
      "",
    ]) {
      await expect(fetched(ref), ref).rejects.toMatchObject({ outcome: "rejected" });
    }
  });

  it("is not fetched from unexpected redirect targets, which never receive the token", async () => {
    const elsewhere = await openElsewhere();
    for (const location of elsewhere.locations) {
      const ref = twilio.keep(Buffer.from("x"), "image/jpeg");
      twilio.leads.set(new URL(ref).pathname, location);
      await expect(fetched(ref), location).rejects.toMatchObject({ outcome: "rejected" });
    }
    expect(elsewhere.asked).toEqual([]);
    for (const storage of [
      "https://media.twiliocdn.com/AC1/ME1",
      "https://api.twilio.com/x",
      "https://s3.amazonaws.com/media.twiliocdn.com/AC1/x",
      "https://s3-external-1.amazonaws.com/media.twiliocdn.com/AC1/x",
      "https://s3.eu-west-1.amazonaws.com/bucket/x",
      "https://our.recordings.s3.us-east-1.amazonaws.com/x",
    ]) {
      expect(isStorage(new URL(storage)), storage).toBe(true);
    }
    // Fails by timeout if the pattern backtracks exponentially on hyphens.
    expect(isStorage(new URL(`https://s3${"-a".repeat(100)}.example`))).toBe(false);
    await elsewhere.close();
  });

  it("is given up when it is gone, and retried when that may help", async () => {
    await expect(fetched(`${twilio.url}/2010-04-01/gone`)).rejects.toMatchObject({ outcome: "rejected" });
    const there = twilio.keep(Buffer.from("x"), "text/plain");
    const unknown = await fetched(there, { auth_token: "0".repeat(32) }).catch((error: unknown) => error);
    expect(unknown).toBeInstanceOf(DeliveryError);
    expect(unknown).toMatchObject({ outcome: "not_sent" });
    await twilio.goAway();
    await expect(fetched(there)).rejects.toMatchObject({ outcome: "not_sent" });
  });
});
