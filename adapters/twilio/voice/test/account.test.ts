import { buffer } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { channelConfigError } from "#channels/config-errors.ts";
import { createClient } from "../../shared/client.ts";
import type { FakeTwilio } from "../../shared/test/fake-twilio.ts";
import { openElsewhere } from "../../shared/test/elsewhere.ts";
import { startFakeTwilio } from "../../shared/test/fake-twilio.ts";
import { checkAccount } from "../check.ts";
import voiceAdapter from "../index.ts";
import { fetchRecording } from "../files.ts";
import { renderParts } from "../render.ts";
import type { VoicePart } from "../render.ts";
import type { VoiceConfig } from "../config.ts";
import { numberOf, settingsOf } from "../config.ts";
import { en } from "#language/locales/en.ts";

const webhookUrl = "https://help.example/channels/voice/acc_1";
const own = "+15550001111";
let twilio: FakeTwilio;
beforeEach(async () => {
  twilio = await startFakeTwilio();
});
afterEach(() => twilio.close());

const configOf = (more: Partial<VoiceConfig> = {}): VoiceConfig => ({
  ...twilio.settings,
  from: own,
  ...more,
});

describe("the settings", () => {
  it("are refused when they are wrong, with the setting's name", () => {
    expect(channelConfigError(voiceAdapter, configOf())).toBeUndefined();
    expect(channelConfigError(voiceAdapter, configOf({ from: "5551234" }))?.setting).toBe("from");
    expect(channelConfigError(voiceAdapter, configOf({ language: "English" }))?.setting).toBe("language");
    expect(channelConfigError(voiceAdapter, configOf({ hold_seconds: 5 }))?.setting).toBe("hold_seconds");
    expect(channelConfigError(voiceAdapter, { ...configOf(), texts: { hello: "Hi" } })?.setting).toBe("texts");
    expect(() => settingsOf(configOf({ dial_to: own }))).toThrow("is the number that customers call");
  });

  it("of two accounts cannot be of the same number", () => {
    expect(voiceAdapter.identity?.(configOf())).toEqual({ key: own, name: `the number ${own}`, setting: "from" });
  });

  it("do not let Twilio write down what it cannot", () => {
    expect(settingsOf(configOf({ language: "de-DE" })).transcribe).toBe(false);
    expect(settingsOf(configOf({ message_seconds: 300 })).transcribe).toBe(false);
    expect(() => settingsOf(configOf({ message_seconds: 300, transcribe: true }))).toThrow("up to 120 seconds");
  });
});

describe("the check", () => {
  const check = (more: Partial<VoiceConfig> = {}): Promise<string> => {
    const settings = settingsOf(configOf(more));
    return checkAccount(createClient(settings), settings, webhookUrl, AbortSignal.timeout(10_000));
  };
  const number = {
    voice_url: `${webhookUrl}#rc=3&rp=all`,
    voice_method: "POST",
    voice_fallback_url: `${webhookUrl}?at=sorry`,
    status_callback: `${webhookUrl}?at=status`,
    status_callback_method: "POST",
    capabilities: { voice: true, sms: true },
  };
  const set = (more: object): void => {
    twilio.setup.numbers.splice(0, 1, { number: own, smsUrl: "", smsMethod: "POST", more: { ...number, ...more } });
  };

  it("names the account and the number, and the fix for each wrong setting", async () => {
    await expect(check()).rejects.toThrow(`has no number ${own}`);
    for (const [wrong, fix] of [
      [{ capabilities: { voice: false } }, "takes no calls"],
      [{ trunk_sid: `TK${"1".repeat(32)}` }, "go to TK1"],
      [{ voice_url: "https://demo.example/" }, `set "A call comes in" to the webhook POST ${webhookUrl}`],
      [{ voice_method: "GET" }, `set "A call comes in"`],
      [{ status_callback: "" }, `set "Call status changes" to POST ${webhookUrl}?at=status`],
      [{ voice_fallback_url: "" }, `set "Primary handler fails" to POST ${webhookUrl}?at=sorry`],
    ] as const) {
      set(wrong);
      await expect(check(), fix).rejects.toThrow(fix);
    }
    set({});
    expect(await check()).toBe(`Test account, ${own}, takes messages`);
    expect(await check({ dial_to: "+15559990000" })).toContain("puts through to +15559990000");
    set({ capabilities: { voice: true, sms: false } });
    expect(await check()).toContain("set `sms_from`");
    expect(await check({ sms_from: "+15550002222" })).not.toContain("sms_from");
    twilio.setup.status = "suspended";
    await expect(check()).rejects.toThrow("is suspended");
  });
});

describe("a recording", () => {
  it("is fetched only from Twilio and its storage", async () => {
    const elsewhere = await openElsewhere();
    const clock = { now: () => 0 };
    const path = `/2010-04-01/Accounts/${twilio.accountSid}/Recordings/RE1`;
    const ref = `${twilio.keep(Buffer.from("sound"), "audio/mpeg", `${path}.mp3`)}#0`;
    const fetched = async (from: string): Promise<string> =>
      (await buffer(await fetchRecording(settingsOf(configOf()), clock, from, AbortSignal.timeout(10_000)))).toString();
    expect(await fetched(ref)).toBe("sound");
    for (const location of elsewhere.locations) {
      twilio.leads.set(`${path}.mp3`, location);
      await expect(fetched(ref), location).rejects.toMatchObject({ outcome: "rejected" });
      await expect(fetched(`${location}#0`), location).rejects.toMatchObject({ outcome: "rejected" });
    }
    expect(elsewhere.asked).toEqual([]);
    await elsewhere.close();
  });
});

describe("speech", () => {
  const texts = en.voice;
  const speechOf = (markdown: string, sources: readonly string[] = []): readonly VoicePart[] =>
    renderParts(texts, {
      role: "assistant",
      authorName: null,
      markdown,
      sources: sources.map((url) => ({ title: "t", url, chunk: "c", score: 1 })),
    }).map(({ payload }) => payload as VoicePart);

  it("has no formatting, no addresses and no characters that XML cannot hold", () => {
    const [part] = speechOf(
      "# Hi\n\n**Bold** & `code`, see <https://a.example/x?y=1>, www.b.example and [c](https://c.example).\n\n- one\n  - two\n\n| a | b |\n|-|-|\n| 1 | 2 |\n\n\u0007end",
    );
    expect(part?.speech).toBe("Hi\n\nBold & code, see a link, a link and c.\n\none\ntwo\n\na, b\n1, 2\n\n end");
    expect(part?.links).toEqual(["https://a.example/x?y=1", "http://www.b.example/", "https://c.example/"]);
    expect(part?.sms).toContain("c (https://c.example/)");
  });

  it("of a long text is split into pieces that fit a text message each", () => {
    const words = Array.from({ length: 1_500 }, (_, at) => `w${at}`);
    const parts = speechOf(words.join(" "));
    expect(parts.flatMap(({ speech }) => speech.split(/\s+/))).toEqual(words);
    expect(parts.map(({ more }) => more)).toEqual([...parts.slice(1).map(() => true), false]);
    for (const { sms, speech } of parts) {
      expect(sms.length).toBeLessThanOrEqual(1_600);
      expect(speech.length).toBeLessThanOrEqual(4_096);
    }
    const long = `[x](https://a.example/${"y".repeat(1_900)}) and more`;
    for (const { sms } of speechOf(`${long}\n\n${long}`)) expect(sms.length).toBeLessThanOrEqual(1_600);
  });

  it("has the links of the answer's sources for callers who ask", () => {
    expect(speechOf("Yes.", ["https://a.example/1", "https://a.example/1", "doc.md"])[0]?.links).toEqual([
      "https://a.example/1",
    ]);
  });
});

describe("a caller's number", () => {
  it("can get text messages only if it is a real number", () => {
    expect(numberOf("+4915112345678")).toBe("+4915112345678");
    for (const from of [
      "anonymous",
      "Anonymous",
      "+266696687",
      "+7378742833",
      "sip:a@b.example",
      "",
      "Restricted",
      "12345",
    ]) {
      expect(numberOf(from), from).toBeUndefined();
    }
  });
});
