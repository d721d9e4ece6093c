import { hash, randomBytes } from "node:crypto";
import { afterEach, describe, expect, it, vi } from "vitest";
import { en } from "#language/locales/en.ts";
import type { VoiceBench } from "./support/account.ts";
import { caller, openVoice } from "./support/account.ts";

const texts = en.voice;
const phone = "+15559990000";
const handover = "I'm passing this conversation to my colleagues. A person will reply to you here.";
let at: VoiceBench;
// Each test starts a program, which is slow on a busy machine.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });
afterEach(() => at.close());

describe("a caller who wants a person", () => {
  it("is connected by a word or a key, and hears so", async () => {
    at = await openVoice({ dial_to: phone });
    const spoken = await at.calls.call(caller);
    await at.calls.say(spoken, "I want to speak to a human agent");
    expect(spoken.heard.at(-1)).toBe(handover);
    expect(spoken.dial?.children[0]?.text).toBe(phone);
    const pressed = await at.calls.call("+15552000002");
    await at.calls.say(pressed, "0", { keys: true });
    expect(pressed.heard.at(-1)).toBe(texts.connecting);
    for (const call of [spoken, pressed]) {
      expect((await at.conversation(call)).status).toBe("escalated");
      expect(call.dial?.attributes["timeout"]).toBe("20");
    }
    expect(await at.notes(pressed)).toContain("pressed 0");
  });

  it("talks to the person who accepts the call, then it ends", async () => {
    at = await openVoice({ dial_to: phone });
    const call = await at.calls.call(caller);
    await at.calls.say(call, "0", { keys: true });
    const posted = await at.calls.person(call, "takes");
    expect(call.heard.at(-1)).toBe(texts.goodbye);
    expect(call.status).toBe("completed");
    expect(await at.notes(call)).toContain(`The caller has talked to ${phone} for 1:23.`);
    expect((await at.calls.again(posted)).twiml).toBe(posted.twiml);
    expect((await at.notes(call)).split("has talked to")).toHaveLength(2);
  });

  it("leaves a message when the call is not accepted", async () => {
    for (const does of ["is away", "refuses"] as const) {
      at = await openVoice({ dial_to: phone });
      const call = await at.calls.call(caller);
      await at.calls.say(call, "0", { keys: true });
      await at.calls.person(call, does);
      expect(call.heard.slice(-2)).toEqual([texts.nobody, texts.leave_message]);
      expect(call.record).toBeDefined();
      if (does === "is away") await at.close();
    }
  });

  it("leaves a message when no number is set, which agents find with its transcript", async () => {
    at = await openVoice();
    const call = await at.calls.call(caller);
    await at.calls.say(call, "I want to speak to a human");
    expect(call.heard.slice(-2)).toEqual([handover, texts.leave_message]);
    const bytes = randomBytes(50_000);
    const { sid, posted } = await at.calls.leaveMessage(call, bytes, 12);
    expect(call.heard.at(-1)).toBe(texts.message_taken);
    expect((await at.calls.again(posted)).twiml).toBe(posted.twiml);
    await at.bench.settle();
    const row = await at.conversation(call);
    const files = await at.bench.store.read
      .selectFrom("attachments")
      .select(["name", "state", "sha256"])
      .where("conversation_id", "=", row.id)
      .execute();
    expect(files).toEqual([{ name: "voice-message.mp3", state: "stored", sha256: hash("sha256", bytes) }]);
    expect((await at.talk(call)).at(-1)).toBe("user: [voice message, 0:12]");
    await at.calls.transcribe(call, sid, "Please call me back, it burns.");
    await at.calls.transcribe(call, sid, "Please call me back, it burns.");
    expect((await at.talk(call)).at(-1)).toBe("user: [voice message] Please call me back, it burns.");
    expect(row.status).toBe("escalated");
    // The bot does not answer a message for agents.
    expect((await at.talk(call)).filter((line) => line.startsWith("assistant:"))).toEqual([`assistant: ${handover}`]);
  });

  it("is understood if the transcript arrives before the recording", async () => {
    at = await openVoice();
    const call = await at.calls.call(caller);
    await at.calls.say(call, "0", { keys: true });
    const sid = at.twilio.newSid("RE");
    await at.calls.transcribe(call, sid, "I was faster.");
    const path = `/2010-04-01/Accounts/${at.twilio.accountSid}/Recordings/${sid}`;
    const form = {
      AccountSid: at.twilio.accountSid,
      CallSid: call.sid,
      RecordingSid: sid,
      RecordingUrl: at.twilio.url + path,
    };
    const done = { ...form, RecordingStatus: "completed", RecordingDuration: "3" };
    expect((await at.twilio.postTo(`${at.webhookUrl}?at=recording`, done)).status).toBe(200);
    expect((await at.talk(call)).at(-1)).toBe("user: [voice message] I was faster.");
    // The recording is not available yet; it is fetched later.
    await at.bench.settle();
    const bytes = randomBytes(1_000);
    at.twilio.keep(bytes, "audio/mpeg", `${path}.mp3`);
    await at.bench.advance(300_000);
    const files = at.bench.store.read.selectFrom("attachments").select(["state", "sha256"]);
    expect(await files.execute()).toEqual([{ state: "stored", sha256: hash("sha256", bytes) }]);
  });

  it("is recognised after hanging up instead of pressing a key, though Twilio's report has no number", async () => {
    at = await openVoice();
    const call = await at.calls.call(caller);
    await at.calls.say(call, "0", { keys: true });
    const before = await at.conversation(call);
    const { done, transcript } = at.calls.recordingOf(call, randomBytes(1_000), 9, "Call me back.");
    at.calls.hangUp(call);
    await at.calls.report(call, "completed", { CallDuration: "21" });
    for (const request of [done, transcript]) expect((await at.calls.again(request)).status).toBe(200);
    expect((await at.talk(call)).at(-1)).toBe("user: [voice message] Call me back.");
    const { contact_id: contactId } = before;
    expect(await at.conversation(call)).toMatchObject({ contact_id: contactId, customer_phone: caller });
    await at.reply(call, "We do.");
    expect(at.texted(caller)).toEqual(["Anna:\nWe do."]);
  });

  it("hears a goodbye after silence", async () => {
    at = await openVoice();
    const call = await at.calls.call(caller);
    await at.calls.say(call, "0", { keys: true });
    await at.calls.nothingRecorded(call);
    expect(call.heard.at(-1)).toBe(texts.goodbye);
    expect(call.status).toBe("completed");
    expect(call.errors).toEqual([]);
  });

  it("gets an agent's reply as a text message while they talk", async () => {
    at = await openVoice({ dial_to: phone });
    const call = await at.calls.call(caller);
    await at.calls.say(call, "0", { keys: true });
    await at.reply(call, "Here is the address.");
    expect(at.texted(caller)).toEqual(["Anna:\nHere is the address."]);
    expect(call.dial).toBeDefined();
  });
});
