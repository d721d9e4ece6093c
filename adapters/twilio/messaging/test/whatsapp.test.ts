import { afterEach, describe, expect, it } from "vitest";
import { anna, answerOf } from "#test/support/engine-bench.ts";
import type { TwilioBench } from "./support/account.ts";
import { openTwilio } from "./support/account.ts";

const hourMs = 3_600_000;
const customer = "whatsapp:+15551000001";
const template = `HX${"0".repeat(32)}`;
let at: TwilioBench;
afterEach(() => at.close());

async function begun(config: object = {}): Promise<void> {
  at = await openTwilio("whatsapp", config);
  await at.write(customer, "Hello", { ProfileName: "Ada L." });
  await at.bench.settle();
}
const newest = () => at.twilio.taken.at(-1);

describe("a WhatsApp account", () => {
  it("answers from its sender, in WhatsApp's formatting, and shows that it was read", async () => {
    await begun();
    expect(newest()).toMatchObject({ from: "whatsapp:+15550001111", to: customer, body: "You asked: Hello" });
    const messageId = await at.reply("**bold** *it* ~~gone~~ [docs](https://a.example/x)");
    expect(newest()?.body).toBe("*Anna:*\n*bold* _it_ ~gone~ docs (https://a.example/x)");
    for (const status of ["read", "delivered"]) await at.twilio.report(newest()?.sid ?? "", status);
    expect(await at.states(messageId)).toEqual(["read"]);
    expect(await at.conversation()).toMatchObject({ customer_name: "Ada L.", customer_phone: "+15551000001" });
  });

  it("accepts an address that is not a number", async () => {
    at = await openTwilio("whatsapp");
    const address = "whatsapp:US.13491208655302741918";
    expect(await at.write(address, "Guess who")).toBe(200);
    await at.bench.settle();
    expect(at.shown(address)).toEqual(["You asked: Guess who"]);
    expect(await at.conversation()).toMatchObject({ context_key: "US.13491208655302741918", customer_phone: null });
  });

  it("ignores text messages, and shows a location as a line", async () => {
    await begun();
    await at.write("+15551000001", "By SMS", { To: "+15550001111" });
    await at.write(customer, "", { Latitude: "52.5", Longitude: "13.4", Label: "Office" });
    expect(await at.stored()).toEqual(["Hello", "[location: 52.5, 13.4, Office]"]);
  });

  it("takes the message that the customer answers for the one that is meant", async () => {
    await begun();
    const { sid = "" } = newest() ?? {};
    await at.write(customer, "Something else");
    await at.bench.settle();
    await at.write(customer, "This one", {
      OriginalRepliedMessageSid: sid,
      OriginalRepliedMessageSender: "whatsapp:+15550001111",
    });
    await at.bench.settle();
    expect(at.bench.asked.at(-1)?.history.at(-1)).toMatchObject({ role: "assistant", content: "You asked: Hello" });
  });

  it("answers HELP, which Twilio does not on WhatsApp, and stays silent after STOP", async () => {
    await begun();
    for (const word of ["help", "end", "STOP"]) {
      await at.write(customer, word);
      await at.bench.settle();
    }
    expect(at.shown(customer)).toContain("You asked: end");
    expect(await at.stored()).toEqual(["Hello", "help", "end"]);
    expect(await at.states(await at.reply("Stay"))).toEqual(["failed"]);
  });

  it("opens the reply window by START, which is no message", async () => {
    await begun();
    await at.write(customer, "STOP");
    await at.bench.pass(25 * 3_600_000);
    await at.write(customer, "START");
    expect(await at.states(await at.reply("Welcome back"))).toEqual(["sent"]);
    expect(await at.stored()).toEqual(["Hello"]);
  });
});

describe("quick replies", () => {
  const buttons = `HX${"1".repeat(32)}`;

  it("follow the last line of the bot's message, and never an agent's", async () => {
    at = await openTwilio("whatsapp", { quick_reply_sid: buttons, quick_reply_variables: { "1": "{text}" } });
    at.bench.script.answer = async () => answerOf("First line\n\nLast $& line");
    await at.write(customer, "Hello");
    await at.bench.settle();
    expect(
      at.twilio.taken.map(({ body, contentSid, contentVariables }) => [body, contentSid, contentVariables]),
    ).toEqual([
      ["First line", undefined, undefined],
      ["", buttons, JSON.stringify({ "1": "Last $& line" })],
    ]);
    await at.reply("By hand");
    expect(newest()).toMatchObject({ contentSid: undefined, body: "*Anna:*\nBy hand" });
  });

  it("are left out when Twilio refuses the template, and the answer arrives", async () => {
    at = await openTwilio("whatsapp", { quick_reply_sid: buttons });
    at.twilio.fail({ kind: "error", status: 400, code: 21_656, message: "The ContentVariables Parameter is invalid" });
    await at.write(customer, "Hello");
    await at.bench.settle();
    expect(at.shown(customer)).toEqual(["You asked: Hello"]);
    expect(at.bench.logged.join()).toContain("check quick_reply_sid");
  });

  it("arrive as their label, and the payload human hands over to a person in any language", async () => {
    await begun();
    await at.write(customer, "", { ButtonText: "Öffnungszeiten", ButtonPayload: "hours" });
    await at.bench.settle();
    expect(at.shown(customer).at(-1)).toBe("You asked: Öffnungszeiten");
    expect(await at.conversation()).toMatchObject({ status: "open" });
    await at.write(customer, "Gern", { ButtonText: "Gern", ButtonPayload: "human" });
    await at.bench.settle();
    expect(await at.conversation()).toMatchObject({ status: "escalated" });
    expect(await at.stored()).toEqual(["Hello", "Öffnungszeiten", "Gern"]);
  });
});

describe("24 hours after the customer has written", () => {
  it("sends nothing without a template, and creates a task for agents, until the customer writes again", async () => {
    await begun();
    await at.bench.pass(24 * hourMs - 60_000);
    expect(await at.states(await at.reply("Just in time"))).toEqual(["sent"]);
    await at.bench.pass(60_000);
    for (const text of ["Too late", "And once more"]) expect(await at.states(await at.reply(text))).toEqual(["failed"]);
    expect(at.shown(customer)).toEqual(["You asked: Hello", "*Anna:*\nJust in time"]);
    expect((await at.notes()).split("\n").filter((note) => note.startsWith("Needs action"))).toEqual(
      Array(2).fill(
        "Needs action: this message has not reached the customer. The customer has not written by WhatsApp for 24 hours, and it then takes a template only. No other channel of theirs is verified: answer when they write again, or reach them in another way.",
      ),
    );
    expect(await at.tags()).toEqual(["needs_action"]);
    await at.write(customer, "Are you there?");
    await at.bench.settle();
    expect(await at.states(await at.reply("Now"))).toEqual(["sent"]);
    expect(await at.tags()).toEqual([]);
  });

  it("shows agents the time left before they write", async () => {
    await begun();
    const wrote = at.bench.clock.now();
    const closesAt = wrote + 24 * hourMs;
    expect(await at.window()).toEqual({ isOpen: true, closesAt, closed: null });
    await at.bench.pass(24 * hourMs - 1);
    expect(await at.window()).toMatchObject({ isOpen: true });
    await at.bench.pass(1);
    expect(await at.window()).toEqual({
      isOpen: false,
      closesAt,
      closed:
        "the customer has not written by WhatsApp for 24 hours, and it then takes a template only. A reply cannot be sent until they write again.",
    });
  });

  it("sends the template, with the message as its variable", async () => {
    await begun({ template_sid: template, template_variables: { "1": "Support", "2": "We say: {text}" } });
    await at.bench.pass(25 * hourMs);
    expect(await at.states(await at.reply("Your parcel\n\nis there, for $& 5"))).toEqual(["sent"]);
    expect(newest()).toMatchObject({ contentSid: template, body: "" });
    expect(JSON.parse(newest()?.contentVariables ?? "")).toEqual({
      "1": "Support",
      "2": "We say: *Anna:* Your parcel is there, for $& 5",
    });
    expect((await at.window())?.closed).toContain("A reply goes out as the template.");
    expect(await at.states(await at.reply("x".repeat(1_200)))).toEqual(["failed"]);
    expect(await at.notes()).toContain("has no room for a message as long as this one");
  });

  it("creates one task for all parts when only Twilio reports it, as with clock skew", async () => {
    await begun();
    const messageId = await at.reply(`${"a ".repeat(700)}\n\n${"b ".repeat(700)}`);
    const sids = at.twilio.taken.slice(-2).map(({ sid }) => sid);
    for (const sid of sids) {
      await at.twilio.report(sid, "failed", 63_016);
      await at.bench.settle();
    }
    expect(await at.states(messageId)).toEqual(["failed", "failed"]);
    expect((await at.notes()).match(/Needs action/g)).toHaveLength(1);
    expect(await at.tags()).toEqual(["needs_action"]);
    at.twilio.fail({ kind: "error", status: 400, code: 63_016, message: "Failed to send freeform message" });
    expect(await at.states(await at.reply("Refused at once"))).toEqual(["failed"]);
    expect((await at.notes()).match(/Needs action/g)).toHaveLength(2);
  });

  it("sends no reply that was queued while Twilio was unreachable", async () => {
    await begun();
    await at.bench.pass(23.5 * hourMs);
    await at.twilio.goAway();
    const messageId = await at.reply("Are you still there?");
    expect(await at.states(messageId)).toEqual(["queued"]);
    await at.bench.pass(hourMs);
    await at.twilio.comeBack();
    await at.bench.advance(hourMs / 2);
    expect(await at.states(messageId)).toEqual(["failed"]);
    expect(await at.tags()).toEqual(["needs_action"]);
    expect(at.shown(customer)).toEqual(["You asked: Hello"]);
  });
});

describe("a customer whose WhatsApp reply window is closed", () => {
  const number = "+15551000001";

  /** Starts conversations of one number on SMS and on WhatsApp, whose reply window is closed. */
  async function beginAlsoBySms() {
    await begun();
    const sms = await at.addAccount("sms");
    await sms.write(number, "By SMS");
    await at.bench.settle();
    await at.bench.pass(25 * hourMs);
    return sms;
  }

  it("gets the agent's reply by SMS if the same number has written there, with notes in both conversations", async () => {
    const sms = await beginAlsoBySms();
    expect((await at.window())?.closed).toContain("A reply goes to the same customer by SMS.");
    const messageId = await at.reply("Your parcel is there");
    expect(at.shown(number)).toEqual(["You asked: By SMS", "Anna:\nYour parcel is there"]);
    expect(at.shown(customer)).toEqual(["You asked: Hello"]);
    expect(await at.states(messageId)).toEqual(["sent"]);
    await at.twilio.report(newest()?.sid ?? "", "delivered");
    expect(await at.states(messageId)).toEqual(["delivered"]);
    const there = await sms.conversation();
    expect(await at.notes()).toContain(
      `This reply goes to the same customer by SMS instead. Their answer comes into their conversation there, ${there.id}.`,
    );
    expect(await at.bench.talk(there.id)).toEqual([
      "user: By SMS",
      "assistant: You asked: By SMS",
      "agent: Your parcel is there",
    ]);
    // An agent has written there, so the bot does not answer.
    expect(there).toMatchObject({ status: "claimed", assigned_to: "anna@test.example" });
    expect((await at.bench.notes(there.id)).join()).toContain("was written in the conversation");
    expect(await at.tags()).toEqual([]);
    await sms.write(number, "Thanks");
    await at.bench.settle();
    expect((await at.bench.talk(there.id)).at(-1)).toBe("user: Thanks");
  });

  it("gets the reply's files too, and the other conversation names them", async () => {
    const sms = await beginAlsoBySms();
    const { id } = await at.conversation();
    const photo = await at.upload("lamp.png", Buffer.from("89504e470d0a1a0a0000000d49484452", "hex"));
    const archive = await at.upload("plans.txt", Buffer.from("plans"));
    await at.reply("", [photo, archive]);
    await at.bench.settle();
    const [, lamp, plans] = at.twilio.taken.filter(({ to }) => to === number);
    expect(lamp).toMatchObject({ body: "lamp.png", media: [{ name: "lamp.png" }] });
    // Carriers do not support this type.
    expect(plans?.body).toMatch(/^plans\.txt\nhttp:\/\/parley\.test\/files\//);
    const there = await sms.conversation();
    expect((await at.bench.talk(there.id)).at(-1)).toBe("agent: [file: lamp.png]\n\n[file: plans.txt]");
    expect((await at.bench.notes(there.id)).join()).toContain(`you can open them in the conversation ${id}.`);
  });

  it("gets nothing by a channel that is unverified or unusable", async () => {
    await begun();
    const sms = await at.addAccount("sms");
    await sms.write("+15551000002", "Somebody else");
    await at.bench.pass(25 * hourMs);
    expect(await at.states(await at.reply("For one only"))).toEqual(["failed"]);
    await sms.write(number, "By SMS");
    await sms.write(number, "STOP");
    await at.bench.settle();
    expect(await at.states(await at.reply("Opted out there"))).toEqual(["failed"]);
    expect(at.shown("+15551000002")).toEqual(["You asked: Somebody else"]);
    expect(at.shown(number)).not.toContain("Anna:\nOpted out there");
    expect(await at.tags()).toEqual(["needs_action"]);
  });

  it("does not get the bot's messages by another channel", async () => {
    await beginAlsoBySms();
    const { id } = await at.conversation();
    await at.bench.engine.update(at.bench.workspaceId, id, { status: "escalated" }, anna);
    await at.bench.settle();
    expect(at.shown(number)).toEqual(["You asked: By SMS"]);
    expect(await at.tags()).toEqual(["escalated", "needs_action"]);
  });
});
