import { hash, randomBytes } from "node:crypto";
import * as fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { seeded } from "#test/support/tier.ts";
import { anna, answerOf } from "#test/support/engine-bench.ts";
import type { TwilioBench } from "./support/account.ts";
import { openTwilio, own } from "./support/account.ts";

const hourMs = 3_600_000;
const customer = "+15551000001";
let at: TwilioBench;

beforeEach(async () => {
  at = await openTwilio("sms");
});
afterEach(() => at.close());

describe("another machine", () => {
  it("is left to agents after too many answers, with one note, and counted only within the hour", async () => {
    await at.close();
    at = await openTwilio("sms", { bot_messages_per_hour: 10 });
    // Echoes the bot: no failed answer, no request for a person.
    for (let said = 1; said <= 13; said += 1) {
      await at.write(customer, "How much?");
      await at.bench.settle();
    }
    expect(at.shown(customer)).toHaveLength(10);
    expect((await at.conversation()).status).toBe("escalated");
    expect((await at.conversation()).unreachable).toBeNull();
    expect((await at.notes()).split("another program may be answering it")).toHaveLength(2);
    expect(await at.states(await at.reply("A person here"))).toEqual(["sent"]);
    const { id } = await at.conversation();
    await at.bench.engine.update(at.bench.workspaceId, id, { status: "resolved" }, anna);
    await at.bench.pass(hourMs);
    await at.write(customer, "How much is it now?");
    await at.bench.settle();
    expect(at.shown(customer).at(-1)).toBe("You asked: How much is it now?");
  });
});

describe("another machine that sends several messages for each answer", () => {
  it("is left to agents after the same number of answers", async () => {
    await at.close();
    at = await openTwilio("sms", { bot_messages_per_hour: 10 });
    let said = Promise.withResolvers<void>();
    at.bench.script.answer = async ({ text }) => {
      await said.promise;
      return answerOf(`You asked: ${text}`);
    };
    for (let turn = 1; turn <= 12; turn += 1) {
      said = Promise.withResolvers();
      for (const words of ["How much?", "And a table?", "Tell me."]) await at.write(customer, words);
      said.resolve();
      await at.bench.settle();
    }
    expect(at.shown(customer)).toHaveLength(10);
    expect((await at.conversation()).status).toBe("escalated");
    expect((await at.notes()).split("another program may be answering it")).toHaveLength(2);
  });
});

describe("a delivery", () => {
  it("is accepted when it is signed for the public address, and gets empty TwiML", async () => {
    const response = await at.twilio.post(at.twilio.messageForm({ from: customer, to: own, body: "  Grüße & co+1 " }));
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toContain("text/xml");
    expect(await response.text()).toBe("<Response/>");
    expect(await at.stored()).toEqual(["  Grüße & co+1 "]);
  });

  it("is refused without Twilio's signature over exactly this address and these fields", async () => {
    const form = at.twilio.messageForm({ from: customer, to: own, body: "Let me in" });
    for (const options of [
      { signature: "" },
      { signature: "x" },
      { token: "an auth token of somebody else" },
      { signedUrl: `http://127.0.0.1/channels/sms/${at.bench.accountId}` },
      { query: "?part=dlv_1", signedUrl: `http://parley.test/channels/sms/${at.bench.accountId}` },
    ]) {
      expect((await at.twilio.post(form, options)).status).toBe(403);
    }
    const url = at.twilio.messageForm({ from: customer, to: own, body: "x" });
    const signed = await at.twilio.post(url);
    expect(signed.status).toBe(200);
    expect(await at.stored()).toEqual(["x"]);
  });

  it("counts only for this account and this number", async () => {
    expect(await at.write(customer, "1", { AccountSid: at.twilio.newSid("AC") })).toBe(200);
    expect(await at.write(customer, "2", { To: "+15550009999" })).toBe(200);
    expect(await at.write(customer, "3", { MessageSid: "SM1" })).toBe(200);
    expect(await at.write(customer, "")).toBe(200);
    expect(await at.write("whatsapp:+15551000001", "4")).toBe(200);
    expect(await at.stored()).toEqual([]);
  });

  it("does no harm in any form, and is skipped when Twilio has signed it", async () => {
    const value = fc.oneof(fc.string(), fc.string({ unit: "binary", maxLength: 300 }));
    const name = fc.oneof(
      fc.constantFrom("MessageSid", "From", "Body", "NumMedia", "MediaUrl0", "MessageStatus", "ErrorCode", "__proto__"),
      fc.string(),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(name, value), { maxLength: 8 }), async (fields) => {
        const form = Object.fromEntries(fields.map(([key, text]) => [key.toWellFormed(), text.toWellFormed()]));
        expect((await at.twilio.post(form)).status).toBe(200);
        expect((await at.twilio.post(form, { signature: "no" })).status).toBe(403);
      }),
      { numRuns: 40, ...seeded },
    );
    expect(await at.stored()).toEqual([]);
  });

  it("verifies a telephone number, but not a short code", async () => {
    await at.write(customer, "It is me");
    expect((await at.conversation()).customer_phone).toBe(customer);
    await at.write("72345", "Your parcel comes");
    const phones = at.bench.store.read.selectFrom("conversations").select(["context_key", "customer_phone"]);
    expect(await phones.orderBy("context_key").execute()).toEqual([
      { context_key: customer, customer_phone: customer },
      { context_key: "72345", customer_phone: null },
    ]);
  });

  it("carries its pictures, byte for byte and once", async () => {
    const bytes = randomBytes(200_000);
    const url = at.twilio.keep(bytes, "application/octet-stream");
    const form = {
      ...at.twilio.messageForm({ from: customer, to: own, body: "" }),
      NumMedia: "1",
      MediaUrl0: url,
      MediaContentType0: "application/octet-stream",
    };
    for (let time = 0; time < 2; time += 1) {
      expect((await at.twilio.post(form)).status).toBe(200);
      await at.bench.settle();
    }
    const rows = at.bench.store.read.selectFrom("attachments").select(["name", "state", "sha256", "bytes"]);
    expect(await rows.execute()).toEqual([
      { name: "file-1", state: "stored", sha256: hash("sha256", bytes), bytes: bytes.length },
    ]);
  });
});

describe("a customer who opts out", () => {
  beforeEach(async () => {
    await at.write(customer, "How much?");
    await at.bench.settle();
  });

  it("gets no messages of the bot or of agents until they opt in again", async () => {
    for (const word of [
      "STOP",
      " stop ",
      "Unsubscribe",
      "QUIT",
      "end",
      "Cancel",
      "StopAll",
      "Stop!",
      "opt-out",
      "“STOP ALL”",
    ]) {
      await at.write(customer, word);
      await at.bench.settle();
      expect(await at.notes()).toContain(`"${word.trim()}"`);
      const messageId = await at.reply("Please stay");
      expect(await at.states(messageId)).toEqual(["failed"]);
      await at.write(customer, "START");
      await at.bench.settle();
    }
    expect(at.shown(customer)).toEqual(["You asked: How much?"]);
    expect(await at.stored()).toEqual(["How much?"]);
    expect(await at.states(await at.reply("Welcome back"))).toEqual(["sent"]);
    expect(await at.notes()).toContain("can be written to again");
  });

  it("needs the whole message as a keyword, not a sentence or a question", async () => {
    const sentences = ["Please stop sending me the wrong lamp", "Cancel my order", "end?", "Stop it"];
    for (const sentence of sentences) await at.write(customer, sentence);
    await at.bench.settle();
    expect((await at.conversation()).unreachable).toBeNull();
    expect(at.shown(customer)).toHaveLength(5);
  });

  it("is left to agents when they keep writing", async () => {
    await at.write(customer, "STOP");
    await at.write(customer, "But where is my parcel?");
    await at.bench.settle();
    expect(at.shown(customer)).toEqual(["You asked: How much?"]);
    expect((await at.conversation()).status).toBe("escalated");
    expect(await at.notes()).toContain("has opted out before");
    expect((await at.conversation()).unreachable).toContain("until they write START");
  });

  it("is not opted out again by an old redelivery", async () => {
    const form = at.twilio.messageForm({ from: customer, to: own, body: "STOP" });
    await at.twilio.post(form);
    await at.write(customer, "UNSTOP");
    await at.twilio.post(form);
    expect(await at.states(await at.reply("Hello again"))).toEqual(["sent"]);
  });

  it("can use any language that Twilio recognises", async () => {
    await at.write(customer, "ALTO", { OptOutType: "STOP" });
    expect(await at.states(await at.reply("Stay"))).toEqual(["failed"]);
    await at.write(customer, "EMPEZAR", { OptOutType: "START" });
    expect(await at.states(await at.reply("Hello"))).toEqual(["sent"]);
  });

  it("opts in with YES, which is an ordinary message otherwise", async () => {
    await at.write(customer, "Yes");
    await at.bench.settle();
    expect(at.shown(customer)).toEqual(["You asked: How much?", "You asked: Yes"]);
    await at.write(customer, "STOP");
    await at.write(customer, "Yes");
    await at.bench.settle();
    expect(await at.states(await at.reply("Hello"))).toEqual(["sent"]);
    expect(await at.stored()).toEqual(["How much?", "Yes"]);
  });

  it("gets no answer of the bot to HELP and INFO, which Twilio answers", async () => {
    for (const word of ["HELP", "info"]) await at.write(customer, word);
    await at.bench.settle();
    expect(at.shown(customer)).toEqual(["You asked: How much?"]);
    expect(await at.notes()).toContain("Twilio answers this word itself");
    expect((await at.conversation()).status).toBe("open");
  });

  it("at Twilio only is shown to agents, and the next message is tried again", async () => {
    at.twilio.optedOut.add(customer);
    expect(await at.states(await at.reply("One"))).toEqual(["failed"]);
    expect(await at.notes()).toContain("the customer has opted out of messages from this number");
    const { read } = at.bench.store;
    const record = async () => (await read.selectFrom("account_state").select("value").executeTakeFirstOrThrow()).value;
    expect(JSON.parse(await record())).toMatchObject({ by: "platform" });
    expect((await at.conversation()).unreachable).toContain("they have opted out, and can come back by writing START");
    at.twilio.optedOut.clear();
    expect(await at.states(await at.reply("Two"))).toEqual(["sent"]);
    expect((await at.conversation()).unreachable).toBeNull();
    expect(JSON.parse(await record())).toMatchObject({ by: null });
    await at.twilio.report(at.twilio.taken.at(-1)?.sid ?? "", "undelivered", 21_610);
    expect(JSON.parse(await record())).toMatchObject({ by: "platform" });
    expect((await at.conversation()).unreachable).not.toBeNull();
  });
});

describe("a report", () => {
  beforeEach(async () => {
    await at.write(customer, "Hello");
    await at.bench.settle();
  });
  const newest = () => at.twilio.taken.at(-1)?.sid ?? "";

  it("never moves the state backwards, in any order", async () => {
    const messageId = await at.reply("Hi");
    for (const status of ["delivered", "sent", "queued", "sending", "delivered"]) {
      expect((await at.twilio.report(newest(), status)).status).toBe(200);
    }
    expect(await at.states(messageId)).toEqual(["delivered"]);
  });

  it("counts even before Twilio has answered the send", async () => {
    at.twilio.fail({ kind: "report_first", status: "delivered" });
    expect(await at.states(await at.reply("Quick"))).toEqual(["delivered"]);
    at.twilio.fail({ kind: "report_first", status: "failed", code: 30_006 });
    expect(await at.states(await at.reply("Quicker"))).toEqual(["failed"]);
    expect(await at.notes()).toContain("the customer's number is a landline");
    await at.twilio.report(newest(), "delivered");
    expect(await at.states((await at.bench.messages((await at.conversation()).id)).at(-1)?.id ?? "")).toEqual([
      "delivered",
    ]);
  });

  it("of a failure gives agents the reason, once", async () => {
    const messageId = await at.reply("Hi");
    await at.twilio.report(newest(), "undelivered", 30_003);
    await at.twilio.report(newest(), "undelivered", 30_003);
    expect(await at.states(messageId)).toEqual(["failed"]);
    const notes = await at.notes();
    expect(notes.split("cannot be reached: it is off").length).toBe(2);
    await at.reply("Hi again");
    await at.twilio.report(newest(), "failed", 99_999);
    expect(await at.notes()).toContain("Twilio tells no reason (Twilio 99999)");
  });

  it("is refused when it is moved to another part", async () => {
    await at.reply("Hi");
    const form = { MessageSid: newest(), MessageStatus: "delivered", AccountSid: at.twilio.accountSid };
    const signedUrl = `http://parley.test/channels/sms/${at.bench.accountId}?part=dlv_2`;
    expect((await at.twilio.post(form, { query: "?part=dlv_1", signedUrl })).status).toBe(403);
    expect((await at.twilio.post(form, { query: "?part=dlv_2", signedUrl })).status).toBe(200);
  });

  it("resolves an unknown outcome when it arrives first", async () => {
    at.twilio.fail({ kind: "hang_up_after_commit" });
    const messageId = await at.reply("Perhaps");
    expect(await at.states(messageId)).toEqual(["sending"]);
    await at.twilio.report(newest(), "delivered");
    expect(await at.states(messageId)).toEqual(["delivered"]);
    await at.bench.advance(hourMs);
    expect(at.shown(customer).slice(1)).toEqual(["Anna:\nPerhaps"]);
  });
});

describe("a message whose outcome is unknown", () => {
  beforeEach(async () => {
    await at.write(customer, "Hello");
    await at.bench.settle();
  });

  it("is found in Twilio's list, and not sent again", async () => {
    at.twilio.fail({ kind: "hang_up_after_commit" });
    const messageId = await at.reply("Once");
    await at.bench.advance(hourMs);
    expect(at.shown(customer).slice(1)).toEqual(["Anna:\nOnce"]);
    expect(await at.states(messageId)).toEqual(["sent"]);
  });

  it("is sent again only after Twilio has surely not listed it", async () => {
    at.twilio.fail({ kind: "hang_up_before_commit" });
    const messageId = await at.reply("Again");
    await at.bench.advance(29_000);
    expect(at.shown(customer).slice(1)).toEqual([]);
    await at.bench.advance(hourMs);
    expect(at.shown(customer).slice(1)).toEqual(["Anna:\nAgain"]);
    expect(await at.states(messageId)).toEqual(["sent"]);
  });

  it("is not mistaken for an earlier one with the same text", async () => {
    await at.reply("OK");
    at.twilio.fail({ kind: "html", status: 502 });
    await at.reply("OK");
    await at.bench.advance(hourMs);
    expect(at.shown(customer).slice(1)).toEqual(["Anna:\nOK", "Anna:\nOK"]);
  });

  it("stays ahead of later messages", async () => {
    at.twilio.fail({ kind: "hang_up_before_commit" });
    await at.reply("one");
    await at.reply("two");
    await at.bench.advance(hourMs);
    expect(at.shown(customer).slice(1)).toEqual(["Anna:\none", "Anna:\ntwo"]);
  });
});

describe("a refusal", () => {
  beforeEach(async () => {
    await at.write(customer, "Hello");
    await at.bench.settle();
  });

  it("that is final is explained to agents", async () => {
    at.twilio.fail({ kind: "error", status: 400, code: 21_408, message: "Permission to send" });
    expect(await at.states(await at.reply("Hi"))).toEqual(["failed"]);
    expect(await at.notes()).toContain("geo permissions");
    at.twilio.fail({ kind: "error", status: 400, code: 29_999, message: "Something new" });
    await at.reply("Hi");
    expect(await at.notes()).toContain("Twilio refuses it: Something new (Twilio 29999)");
  });

  it("that is temporary is retried: a full queue, too many requests, a token to be fixed", async () => {
    for (const [status, code] of [
      [400, 21_611],
      [429, 20_429],
      [401, 20_003],
    ] as const) {
      at.twilio.fail(code === 20_429 ? { kind: "limit" } : { kind: "error", status, code, message: "Not now" });
      const messageId = await at.reply(`Hi ${code}`);
      expect(await at.states(messageId)).toEqual(["queued"]);
      await at.bench.advance(hourMs);
      expect(await at.states(messageId)).toEqual(["sent"]);
    }
    expect(at.shown(customer).slice(1)).toEqual(["Anna:\nHi 21611", "Anna:\nHi 20429", "Anna:\nHi 20003"]);
  });
});
