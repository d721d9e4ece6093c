import * as fc from "fast-check";
import twilio from "twilio";
import { request } from "undici";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { randomCases } from "#test/support/tier.ts";
import { brokenDelivery } from "#test/support/fuzz.ts";
import { parseForm } from "../../shared/form.ts";
import { openTwilio, own as ownNumber } from "../../messaging/test/support/account.ts";
import { caller, openVoice } from "./support/account.ts";
import { parseTwiml } from "./support/twiml.ts";

/** Slices narrow down a failure. Ten thousand in total. */
const perSlice = 500;
const slices = { sms: 6, whatsapp: 4, voice: 10 };
const seed = 20_310_516;

interface Answered {
  readonly status: number;
  readonly text: string;
}

interface FuzzTarget {
  readonly accountId: string;
  readonly token: string;
  readonly logged: readonly string[];
  post(query: string, body: Buffer, signature: string): Promise<Answered>;
  /** Forms as Twilio sends them, with the query of the address. */
  samples(): readonly (readonly [string, object])[];
  tick(): void;
  /** Asserts that a customer who writes or calls afterwards is served. */
  well(): Promise<void>;
  close(): Promise<void>;
}

async function messagingTarget(channel: "sms" | "whatsapp"): Promise<FuzzTarget> {
  const at = await openTwilio(channel);
  const { bench, twilio: fake } = at;
  const prefix = channel === "whatsapp" ? "whatsapp:" : "";
  return {
    accountId: bench.accountId,
    token: fake.authToken,
    logged: bench.logged,
    post: (query, body, signature) => post(at.localUrl + query, body, signature),
    samples() {
      const form = fake.messageForm({ from: `${prefix}+15551000001`, to: prefix + ownNumber, body: "How much?" });
      const file = { NumMedia: "1", MediaUrl0: `${fake.url}/x`, MediaContentType0: "image/png" };
      const report = { ...form, MessageStatus: "failed", ErrorCode: "30003" };
      return [
        ["", form],
        ["", { ...form, ...file, Body: "" }],
        ["", { ...form, OptOutType: "STOP", Body: "Stop" }],
        ["", { ...form, Latitude: "52.5", Longitude: "13.4", ProfileName: "Ada" }],
        ["?part=msg_1.0", report],
      ];
    },
    tick: () => bench.clock.advance(1_000),
    async well() {
      expect(await at.write(`${prefix}+15551999999`, "Are you well?")).toBe(200);
      await bench.until("it is answered", () => at.shown(`${prefix}+15551999999`).length > 0, 60_000);
    },
    close: () => at.close(),
  };
}

async function voiceTarget(): Promise<FuzzTarget> {
  const at = await openVoice({ dial_to: "+15559990000" });
  const { bench, twilio: fake } = at;
  return {
    accountId: bench.accountId,
    token: fake.authToken,
    logged: bench.logged,
    post: (query, body, signature) => post(at.localUrl + query, body, signature),
    samples() {
      const CallSid = fake.newSid("CA");
      const form = {
        AccountSid: fake.accountSid,
        CallSid,
        CallStatus: "in-progress",
        Direction: "inbound",
        From: caller,
      };
      const call = { ...form, To: "+15550001111" };
      const recording = {
        ...call,
        RecordingSid: fake.newSid("RE"),
        RecordingUrl: `${fake.url}/r`,
        RecordingDuration: "3",
      };
      return [
        ["", { ...call, CallStatus: "ringing" }],
        ["?at=turn.1", { ...call, SpeechResult: "Where is it?", Confidence: "0.9" }],
        ["?at=turn.2", { ...call, Digits: "0" }],
        ["?at=turn.3", call],
        ["?at=hold.1.2", call],
        ["?at=next.msg_1.0", call],
        ["?at=dialed.1", { ...call, DialCallStatus: "completed", DialCallDuration: "3", DialBridged: "true" }],
        [`?at=whisper.${CallSid}`, { ...call, Direction: "outbound-dial" }],
        [`?at=whispered.${CallSid}`, { ...call, Digits: "1" }],
        ["?at=recorded.2", recording],
        ["?at=recording", { ...recording, RecordingStatus: "completed" }],
        ["?at=transcript", { ...recording, TranscriptionStatus: "completed", TranscriptionText: "Call me" }],
        ["?at=status", { ...call, CallStatus: "completed", CallDuration: "9" }],
        ["?at=sorry", call],
        ["?at=constructor", call],
        ["?part=msg_1.0", { MessageSid: fake.newSid("SM"), MessageStatus: "delivered", To: caller }],
      ];
    },
    tick: () => bench.clock.advance(1_000),
    async well() {
      const call = await at.calls.call("+15552999999");
      await at.calls.say(call, "Are you well?");
      await bench.until("it is answered", () => call.heard.at(-1) === "You asked: Are you well?", 60_000);
      expect(call.errors).toEqual([]);
    },
    close: () => at.close(),
  };
}

async function post(url: string, body: Buffer, signature: string): Promise<Answered> {
  const response = await request(url, {
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded", "x-twilio-signature": signature },
    body,
    headersTimeout: 30_000,
    bodyTimeout: 30_000,
  });
  return { status: response.statusCode, text: await response.body.text() };
}

/** The form of a mutated object; other values are sent unchanged. */
function asForm(broken: Buffer): Buffer {
  try {
    const value: unknown = JSON.parse(broken.toString("utf8"));
    if (typeof value !== "object" || value === null || Array.isArray(value)) return broken;
    const params = new URLSearchParams();
    for (const [name, field] of Object.entries(value)) {
      const all: readonly unknown[] = Array.isArray(field) ? field.slice(0, 50) : [field];
      for (const each of all) params.append(name, typeof each === "string" ? each : JSON.stringify(each));
    }
    return Buffer.from(params.toString());
  } catch {
    // Not JSON any more, or nested too deeply.
    return broken;
  }
}

const targets = { sms: () => messagingTarget("sms"), whatsapp: () => messagingTarget("whatsapp"), voice: voiceTarget };

for (const channel of ["sms", "whatsapp", "voice"] as const) {
  describe(`ten thousand deliveries that are not what Twilio would send: ${channel}`, () => {
    let target: FuzzTarget;
    beforeAll(async () => {
      target = await targets[channel]();
    });
    afterAll(() => target.close());

    const slicesHere = randomCases(slices[channel]);
    for (let slice = 0; slice < slicesHere; slice += 1) {
      it(`are answered at once, and by no failure of ours (${slice + 1} of ${slicesHere})`, async () => {
        const samples = target.samples();
        const forms = new Map(samples.map(([query, form]) => [JSON.stringify(form), query]));
        const bodies = fc.sample(
          fc
            .constantFrom(...samples)
            .chain(([query, form]) => fc.tuple(fc.constant(query), brokenDelivery([form]), fc.nat(99))),
          { numRuns: perSlice, seed: seed + slice },
        );
        expect(forms.size).toBeGreaterThan(3);
        const time = setInterval(() => target.tick(), 5);
        const statuses = new Set<number>();
        let next = 0;
        const work = async (): Promise<void> => {
          for (let at = next++; at < bodies.length; at = next++) {
            const [query = "", broken = Buffer.alloc(0), dice = 0] = bodies[at] ?? [];
            const body = asForm(broken);
            const url = `http://parley.test/channels/${channel}/${target.accountId}${query}`;
            const token = dice >= 80 ? "somebody else's token" : target.token;
            const signature = twilio.getExpectedTwilioSignature(token, url, { ...parseForm(body) });
            const response = await target.post(query, body, signature);
            statuses.add(response.status);
            if (![200, 403, 413].includes(response.status)) {
              expect.fail(`${response.status} for ${dice} ${query}: ${body.toString().slice(0, 1_000)}`);
            }
            if (dice >= 80) expect(response.status).not.toBe(200);
            if (response.status === 200) parseTwiml(response.text);
            // A replay has no effect.
            if (dice < 10 && response.status === 200) {
              const again = await target.post(query, body, signature);
              expect(again.status).toBe(200);
            }
          }
        };
        try {
          await Promise.all(Array.from({ length: 8 }, work));
        } finally {
          clearInterval(time);
        }
        // Guards against mutations that are all refused for one reason.
        expect([...statuses].filter((status) => status !== 413).toSorted((a, b) => a - b)).toEqual([200, 403]);
      }, 120_000);
    }

    it("leave the next customer unaffected", async () => {
      await target.well();
      expect(target.logged.filter((line) => /: (?:storing|answering) /.test(line))).toEqual([]);
    }, 120_000);
  });
}
