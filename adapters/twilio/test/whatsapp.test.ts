import { afterEach, describe, expect, it } from "vitest";
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
  it("answers with its sender, in WhatsApp's marks, and hears that it was read", async () => {
    await begun();
    expect(newest()).toMatchObject({ from: "whatsapp:+15550001111", to: customer, body: "You asked: Hello" });
    const messageId = await at.reply("**bold** *it* ~~gone~~ [docs](https://a.example/x)");
    expect(newest()?.body).toBe("*Anna:*\n*bold* _it_ ~gone~ docs (https://a.example/x)");
    for (const status of ["read", "delivered"]) await at.twilio.report(newest()?.sid ?? "", status);
    expect(await at.states(messageId)).toEqual(["read"]);
    expect(await at.conversation()).toMatchObject({ customer_name: "Ada L.", customer_phone: "+15551000001" });
  });

  it("takes an address that is no number as it is", async () => {
    at = await openTwilio("whatsapp");
    const address = "whatsapp:US.13491208655302741918";
    expect(await at.write(address, "Guess who")).toBe(200);
    await at.bench.settle();
    expect(at.shown(address)).toEqual(["You asked: Guess who"]);
    expect(await at.conversation()).toMatchObject({ context_key: "US.13491208655302741918", customer_phone: null });
  });

  it("takes no text message, and a place as a line", async () => {
    await begun();
    await at.write("+15551000001", "By SMS", { To: "+15550001111" });
    await at.write(customer, "", { Latitude: "52.5", Longitude: "13.4", Label: "Office" });
    expect(await at.stored()).toEqual(["Hello", "[location: 52.5, 13.4, Office]"]);
  });

  it("answers HELP, which Twilio does not there, and keeps silent after STOP", async () => {
    await begun();
    for (const word of ["help", "end", "STOP"]) {
      await at.write(customer, word);
      await at.bench.settle();
    }
    expect(at.shown(customer)).toContain("You asked: end");
    expect(await at.stored()).toEqual(["Hello", "help", "end"]);
    expect(await at.states(await at.reply("Stay"))).toEqual(["failed"]);
  });
});

describe("24 hours after the customer has written", () => {
  it("sends nothing without a template, and tells the agents at once", async () => {
    await begun();
    await at.bench.pass(24 * hourMs - 60_000);
    expect(await at.states(await at.reply("Just in time"))).toEqual(["sent"]);
    await at.bench.pass(60_000);
    expect(await at.states(await at.reply("Too late"))).toEqual(["failed"]);
    expect(at.shown(customer)).not.toContain("*Anna:*\nToo late");
    expect(await at.notes()).toContain("has not written for 24 hours");
    await at.write(customer, "Are you there?");
    await at.bench.settle();
    expect(await at.states(await at.reply("Now"))).toEqual(["sent"]);
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
    expect(await at.states(await at.reply("x".repeat(1_200)))).toEqual(["failed"]);
    expect(await at.notes()).toContain("has no room for a message as long as this one");
  });

  it("tells what Twilio says of it when clocks differ", async () => {
    await begun();
    const messageId = await at.reply("Hi");
    await at.twilio.report(newest()?.sid ?? "", "failed", 63_016);
    expect(await at.states(messageId)).toEqual(["failed"]);
    expect(await at.notes()).toContain("takes a template only");
  });
});
