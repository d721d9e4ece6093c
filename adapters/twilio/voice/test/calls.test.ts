import { afterEach, describe, expect, it, vi } from "vitest";
import type { Answer } from "#answering/contract.ts";
import { anna, answerOf, heldAnswers } from "#test/support/engine-bench.ts";
import { runStatement } from "#test/support/database/run-statement.ts";
import { en } from "#language/locales/en.ts";
import type { VoiceBench } from "./support/account.ts";
import { caller, openVoice, own } from "./support/account.ts";

const texts = en.voice;
let at: VoiceBench;
// Each test starts a program, which is slow on a busy machine.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });
afterEach(() => at.close());

const source = (url: string): Answer["sources"][number] => ({ title: "Returns", url, chunk: "30 days", score: 1 });

describe("a caller", () => {
  it("is greeted, asks, hears the answer and can ask again", async () => {
    at = await openVoice({ greeting: "Lamps & more, {bot} speaking. <What> can I do?" });
    const call = await at.calls.call(caller);
    expect(call.heard).toEqual(["Lamps & more, Assistant speaking. <What> can I do?"]);
    await at.calls.say(call, "Where is my parcel?");
    await at.calls.say(call, "And my bill?");
    expect(call.heard.slice(1)).toEqual(["You asked: Where is my parcel?", "You asked: And my bill?"]);
    expect(call.errors).toEqual([]);
    const row = await at.conversation(call);
    expect(row).toMatchObject({ channel: "voice", customer_phone: caller, customer_verified: 0 });
  });

  it("hears no Markdown or addresses, and gets the addresses as a text message by pressing 1", async () => {
    at = await openVoice();
    at.bench.script.answer = async () =>
      answerOf("**Yes**, see [our page](https://shop.example/returns) or https://shop.example/faq.\n\n- one\n- two", {
        sources: [source("https://shop.example/terms")],
      });
    const call = await at.calls.call(caller);
    await at.calls.say(call, "May I return it?");
    expect(call.heard.slice(1)).toEqual(["Yes, see our page or a link.\n\none\ntwo", texts.link_offer]);
    const posted = await at.calls.say(call, "1", { keys: true });
    expect(at.texted(caller)).toEqual([
      "https://shop.example/returns\nhttps://shop.example/faq\nhttps://shop.example/terms",
    ]);
    expect(call.heard.at(-1)).toBe(texts.link_sent);
    expect((await at.calls.again(posted)).twiml).toBe(posted.twiml);
    expect(at.texted(caller)).toHaveLength(1);
    expect(await at.notes(call)).toContain("was sent them as a text message");
    // A pressed key is not a message.
    expect((await at.talk(call)).filter((line) => line.startsWith("user:"))).toHaveLength(1);
    await at.calls.say(call, "Could you text me that again?");
    expect(at.texted(caller)).toHaveLength(2);
  });

  it("hears when the text message cannot be sent", async () => {
    at = await openVoice();
    at.bench.script.answer = async () => answerOf("See [here](https://shop.example/).");
    const call = await at.calls.call(caller);
    await at.calls.say(call, "Where?");
    at.twilio.fail({ kind: "error", status: 400, code: 21_614, message: "not a mobile number" });
    await at.calls.say(call, "1", { keys: true });
    expect(call.heard.at(-1)).toBe(texts.link_failed);
  });

  it("gets the links once and hears so, even if Twilio hangs up or posts three times at once", async () => {
    at = await openVoice();
    at.bench.script.answer = async () => answerOf("See [here](https://shop.example/).");
    const call = await at.calls.call(caller);
    await at.calls.say(call, "Where?");
    at.twilio.fail({ kind: "hang_up_after_commit" });
    await at.calls.say(call, "1", { keys: true });
    expect(call.heard.at(-1)).toBe(texts.link_sent);
    expect(at.texted(caller)).toEqual(["https://shop.example/"]);
    await at.calls.listenToTheEnd(call);
    const request = await at.calls.request(call, "text me the link");
    const answers = await Promise.all([at.calls.again(request), at.calls.again(request), at.calls.again(request)]);
    expect(new Set(answers.map(({ twiml }) => twiml)).size).toBe(1);
    expect(answers[0].twiml).toContain(texts.link_sent);
    expect(at.texted(caller)).toHaveLength(2);
    expect(await at.notes(call)).not.toContain("may not have arrived");
  });

  it("hears that the links were sent if Twilio accepted them without an answer", async () => {
    at = await openVoice();
    at.bench.script.answer = async () => answerOf("See [here](https://shop.example/).");
    const call = await at.calls.call(caller);
    await at.calls.say(call, "Where?");
    at.twilio.fail({ kind: "silent_after_commit" });
    await at.calls.say(call, "1", { keys: true });
    expect(call.heard.at(-1)).toBe(texts.link_sent);
    expect(at.texted(caller)).toEqual(["https://shop.example/"]);
    expect(await at.notes(call)).toContain("was sent them as a text message");
  });

  it("can ask again when the links were not sent", async () => {
    at = await openVoice();
    at.bench.script.answer = async () => answerOf("See [here](https://shop.example/).");
    const call = await at.calls.call(caller);
    await at.calls.say(call, "Where?");
    at.twilio.fail({ kind: "hang_up_before_commit" }, { kind: "limit", retryAfterS: 5 });
    await at.calls.say(call, "1", { keys: true });
    expect(await at.notes(call)).toContain("may not have arrived");
    for (const outcome of [texts.link_failed, texts.link_sent]) {
      await at.calls.listenToTheEnd(call);
      await at.bench.advance(10_000);
      await at.calls.say(call, "1", { keys: true });
      expect(call.heard.at(-1)).toBe(outcome);
    }
    expect(at.texted(caller)).toEqual(["https://shop.example/"]);
  });

  it("with a withheld number is a new customer each time, and is offered no text message", async () => {
    at = await openVoice();
    at.bench.script.answer = async () => answerOf("See [here](https://shop.example/).");
    for (const from of ["anonymous", "+266696687", "Restricted", "", "+7378742833"]) {
      const call = await at.calls.call(from);
      await at.calls.say(call, "Where?");
      expect(call.heard.slice(1)).toEqual(["See here."]);
      expect(await at.conversation(call)).toMatchObject({ customer_phone: null });
    }
    const contacts = await at.bench.store.read.selectFrom("contacts").select("id").execute();
    expect(contacts).toHaveLength(5);
  });

  it("is understood in the account's language and hears its voice", async () => {
    at = await openVoice({ language: "de-DE", voice: "Polly.Vicki" });
    const form = {
      AccountSid: at.twilio.accountSid,
      CallSid: at.twilio.newSid("CA"),
      From: caller,
      To: own,
      Direction: "inbound",
    };
    const twiml = await (await at.twilio.post(form)).text();
    expect(twiml).toContain(
      '<Say language="de-DE" voice="Polly.Vicki">Hallo, hier ist Assistant. Wie kann ich helfen?</Say>',
    );
    expect(twiml).toContain('language="de-DE" input="speech dtmf"');
  });

  it("is asked once more after silence, then the call ends", async () => {
    at = await openVoice();
    const call = await at.calls.call(caller);
    await at.calls.silence(call);
    expect(call.heard.at(-1)).toBe(texts.again);
    await at.calls.silence(call);
    expect(call.heard.at(-1)).toBe(texts.goodbye);
    expect(call.status).toBe("completed");
    expect(await at.bench.store.read.selectFrom("conversations").select("id").execute()).toEqual([]);
  });

  it("can be silent again after speaking", async () => {
    at = await openVoice();
    const call = await at.calls.call(caller);
    await at.calls.silence(call);
    await at.calls.say(call, "Now I know");
    await at.calls.silence(call);
    expect(call.status).toBe("in-progress");
    expect(call.heard.at(-1)).toBe(texts.again);
  });
});

describe("a turn that is posted again", () => {
  it("gets the same TwiML, and asks and stores nothing twice", async () => {
    at = await openVoice();
    const call = await at.calls.call(caller);
    const request = await at.calls.request(call, "Only once");
    const answers = await Promise.all([at.calls.again(request), at.calls.again(request), at.calls.again(request)]);
    const later = await at.calls.again(request);
    expect(new Set([...answers, later].map(({ twiml }) => twiml)).size).toBe(1);
    expect(later.twiml).toContain("You asked: Only once");
    expect(at.bench.asked).toHaveLength(1);
    expect(await at.talk(call)).toEqual(["user: Only once", "assistant: You asked: Only once"]);
  });

  it("carries a waiting agent's reply in each answer, and no other turn does", async () => {
    at = await openVoice();
    const call = await at.calls.call(caller);
    await at.calls.say(call, "Is anybody there?");
    await at.reply(call, "I am here.");
    const request = await at.calls.request(call, "Good");
    const answers = await Promise.all([at.calls.again(request), at.calls.again(request), at.calls.again(request)]);
    expect(new Set(answers.map(({ twiml }) => twiml)).size).toBe(1);
    expect(answers[0].twiml).toContain("I am here.");
    await at.bench.advance(60_000);
    expect(call.heard.filter((text) => text.includes("I am here."))).toEqual([]);
  });

  it("gets the same TwiML at the start of a call too", async () => {
    at = await openVoice();
    const form = {
      AccountSid: at.twilio.accountSid,
      CallSid: at.twilio.newSid("CA"),
      From: caller,
      To: own,
      Direction: "inbound",
    };
    const [first, second] = await Promise.all([at.twilio.post(form), at.twilio.post(form)]);
    expect(await first.text()).toBe(await second.text());
  });
});

describe("a slow answer", () => {
  it("is bridged by hold phrases, and spoken as soon as it is ready", async () => {
    at = await openVoice();
    const answers = heldAnswers(at.bench);
    const call = await at.calls.call(caller);
    const saying = at.calls.say(call, "What is the meaning of it all?");
    const question = await answers.question(0);
    await at.bench.until("it is still looked for", () => call.heard.includes(texts.still), 30_000);
    question.release(answerOf("Forty-two."));
    await saying;
    expect(call.heard.slice(1)).toEqual([
      texts.moment,
      ...call.heard.filter((text) => text === texts.still),
      "Forty-two.",
    ]);
    expect(call.errors).toEqual([]);
  }, 60_000);

  it("lets the caller continue after the limit, and is still spoken", async () => {
    at = await openVoice({ hold_seconds: 15 });
    const answers = heldAnswers(at.bench);
    const call = await at.calls.call(caller);
    await at.calls.say(call, "Think hard");
    expect(call.heard.at(-1)).toBe(texts.slow);
    (await answers.question(0)).release(answerOf("Here it is."));
    await at.bench.until("it is spoken", async () => {
      await at.calls.listenToTheEnd(call);
      await at.bench.advance(1_000);
      return call.heard.at(-1) === "Here it is.";
    });
    expect(call.status).toBe("in-progress");
    expect(call.errors).toEqual([]);
  }, 60_000);

  it("is not spoken after the caller hung up, and agents see so", async () => {
    at = await openVoice();
    const answers = heldAnswers(at.bench);
    const call = await at.calls.call(caller);
    const saying = at.calls.say(call, "Hello?").catch(() => undefined);
    const question = await answers.question(0);
    at.calls.hangUp(call);
    await at.calls.report(call, "completed", { CallDuration: "12" });
    question.release(answerOf("Too late."));
    await saying;
    await at.bench.settle();
    await at.bench.until("it is given up", async () =>
      (await at.notes(call)).includes("hung up before it could be spoken"),
    );
    expect(call.heard).not.toContain("Too late.");
    expect(at.texted(caller)).toEqual([]);
  }, 60_000);
});

describe("an agent's reply", () => {
  it("is spoken during the call without cutting off speech", async () => {
    at = await openVoice();
    const call = await at.calls.call(caller);
    await at.calls.say(call, "Is anybody there?");
    const messageId = await at.reply(call, "This is **Anna**, hello!");
    // The call is still speaking the answer.
    expect(call.heard.at(-1)).toBe("You asked: Is anybody there?");
    await at.calls.listenToTheEnd(call);
    await at.bench.advance(1_000);
    await at.bench.until("it is spoken", () => call.heard.at(-1) === "Anna says: This is Anna, hello!");
    await at.bench.settle();
    expect(await at.states(messageId)).toEqual(["sent"]);
    expect(at.texted(caller)).toEqual([]);
    // The caller continues, and the agent gets the message.
    await at.calls.listenToTheEnd(call);
    const saying = at.calls.say(call, "Thank you Anna");
    await at.bench.until("she has it", async () => (await at.talk(call)).at(-1) === "user: Thank you Anna");
    await at.reply(call, "You are welcome.");
    await saying;
    expect(call.heard.at(-1)).toBe("Anna says: You are welcome.");
    expect(call.errors).toEqual([]);
  }, 60_000);

  it("is heard in full if the caller speaks at the moment of the redirect", async () => {
    at = await openVoice();
    const call = await at.calls.call(caller);
    await at.calls.say(call, "Is anybody there?");
    await at.reply(call, "One moment.");
    await at.calls.listenToTheEnd(call);
    await at.bench.advance(1_000);
    await at.bench.until("it is spoken", () => call.heard.at(-1) === "Anna says: One moment.");
    await at.calls.listenToTheEnd(call);
    await at.bench.settle();
    const { also } = at.twilio;
    let [before, after] = [[""], 0];
    at.twilio.also = async (request) => {
      if (request.method === "POST" && after === 0) {
        before = [...call.heard];
        after = before.length + 1;
        await at.calls.say(call, "Hello?");
      }
      return also?.(request);
    };
    const messageId = await at.reply(call, "Your parcel is here.");
    const words = "Anna says: Your parcel is here.";
    await at.bench.until("it is spoken again", async () => {
      await at.bench.advance(1_000);
      return call.heard.length > after;
    });
    // The first of them was cut off at once.
    expect(call.heard.slice(before.length)).toEqual([words, words]);
    await at.calls.listenToTheEnd(call);
    await at.bench.advance(60_000);
    expect(call.heard).toHaveLength(before.length + 2);
    expect(await at.states(messageId)).toEqual(["sent"]);
    expect(await at.talk(call)).toContain("user: Hello?");
    expect(call.errors).toEqual([]);
  }, 60_000);

  it("and a resolved conversation do not end the call: the caller's next words reopen it", async () => {
    at = await openVoice();
    const call = await at.calls.call(caller);
    await at.calls.say(call, "Is anybody there?");
    const { id } = await at.conversation(call);
    await at.bench.engine.update(at.bench.workspaceId, id, { status: "resolved" }, anna);
    await at.bench.settle();
    await at.calls.say(call, "One more thing");
    expect(call.heard.at(-1)).toBe("You asked: One more thing");
    expect(await at.conversation(call)).toMatchObject({ id, status: "open" });
  });

  it("is sent from `sms_from` as a text message after the call, and shows its delivery", async () => {
    at = await openVoice({ sms_from: "+15550002222" });
    const call = await at.calls.call(caller);
    await at.calls.say(call, "Please call back");
    at.calls.hangUp(call);
    expect((await at.calls.report(call, "completed", { CallDuration: "75" })).status).toBe(200);
    expect(await at.notes(call)).toContain(`The call has ended, after 1:15. What you write here is sent to ${caller}`);
    const messageId = await at.reply(call, "See [our page](https://shop.example/x)");
    expect(at.twilio.taken).toMatchObject([
      { to: caller, from: "+15550002222", body: "Anna:\nSee our page (https://shop.example/x)" },
    ]);
    expect(await at.states(messageId)).toEqual(["sent"]);
    const [message] = at.twilio.taken;
    await at.twilio.report(message?.sid ?? "", "delivered");
    expect(await at.states(messageId)).toEqual(["delivered"]);
  });

  it("is sent as a text message even if the end of the call was not reported", async () => {
    at = await openVoice();
    const call = await at.calls.call(caller);
    await at.calls.say(call, "Please call back");
    at.calls.hangUp(call);
    await at.bench.advance(60_000);
    await at.reply(call, "We do.");
    expect(at.texted(caller)).toEqual(["Anna:\nWe do."]);
  });

  it("cannot reach a caller with a withheld number after the call, and the agent sees why", async () => {
    at = await openVoice();
    const call = await at.calls.call("anonymous");
    await at.calls.say(call, "I tell you nothing");
    at.calls.hangUp(call);
    await at.calls.report(call, "completed");
    expect(await at.notes(call)).toContain("withholds their number");
    expect(await at.states(await at.reply(call, "Who are you?"))).toEqual(["failed"]);
    expect(await at.notes(call)).toContain("could not be delivered");
    expect(at.twilio.taken).toEqual([]);
  });

  it("that may have been sent as a text message is searched before it is sent again", async () => {
    at = await openVoice();
    const call = await at.calls.call(caller);
    await at.calls.say(call, "Please call back");
    at.calls.hangUp(call);
    await at.calls.report(call, "completed");
    at.twilio.fail({ kind: "hang_up_after_commit" });
    const messageId = await at.reply(call, "Once only.");
    await at.bench.advance(600_000);
    expect(at.texted(caller)).toEqual(["Anna:\nOnce only."]);
    expect(await at.states(messageId)).toEqual(["sent"]);
  });
});

describe("reports on a call", () => {
  it("count in any order, and an ended call stays ended", async () => {
    at = await openVoice();
    const call = await at.calls.call(caller);
    const request = await at.calls.request(call, "My last words");
    await at.calls.report(call, "completed", { CallDuration: "9", SequenceNumber: "3" });
    await at.calls.report(call, "ringing", { SequenceNumber: "0" });
    await at.calls.report(call, "in-progress", { SequenceNumber: "1" });
    // Late speech is stored.
    expect((await at.calls.again(request)).twiml).toContain("<Hangup/>");
    expect(await at.talk(call)).toContain("user: My last words");
    await at.calls.report(call, "completed", { CallDuration: "9", SequenceNumber: "3" });
    await at.reply(call, "By text message then.");
    expect(at.texted(caller)).toEqual(["Anna:\nBy text message then."]);
  });

  it("show agents calls that failed", async () => {
    at = await openVoice();
    for (const status of ["busy", "no-answer", "failed", "canceled"]) {
      const call = await at.calls.call(caller);
      await at.calls.say(call, "Hello");
      expect((await at.calls.report(call, status)).status).toBe(200);
      expect(await at.notes(call)).toContain("The call has ended: ");
    }
  });
});

describe("a call while the database is down", () => {
  it("is retried by Twilio, then the caller hears an apology", async () => {
    at = await openVoice({ dial_to: "+15559990000" });
    const call = await at.calls.call(caller);
    at.calls.fallbackUrl = `${at.webhookUrl}?at=sorry`;
    await runStatement(at.bench.url, "alter table inbound_events rename to inbound_events_away");
    const posted = await at.calls.say(call, "Can you hear me?");
    expect(posted.status).toBe(503);
    expect(call.heard.slice(1)).toEqual([texts.sorry, texts.connecting, "(dials +15559990000)"]);
    await runStatement(at.bench.url, "alter table inbound_events_away rename to inbound_events");
    // A database that returns in time goes unnoticed.
    const twice = await at.calls.again(posted);
    expect(twice.status).toBe(200);
    expect(await at.talk(call)).toContain("user: Can you hear me?");
  });
});
