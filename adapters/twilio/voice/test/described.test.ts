import { hostWith } from "#test/support/channels/partial-host.ts";
import { buffer } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import type { Correspondence, SendContext } from "#channels/contract.ts";
import { DeliveryError } from "#channels/errors.ts";
import { createClient } from "../../shared/client.ts";
import { fetchMedia } from "../../messaging/files.ts";
import { createOptOuts } from "../../messaging/opt-outs/opt-outs.ts";
import { findPart, sendPart as sendMessage } from "../../messaging/send.ts";
import type { TwilioChannel } from "../../messaging/config.ts";
import { settingsOf as messageSettingsOf } from "../../messaging/config.ts";

/**
 * Runs the adapters' requests against a mock server made from Twilio's API description, or an emulator:
 * `TWILIO_DESCRIPTION=http://127.0.0.1:4010 vitest run adapters/twilio/voice/test/described.test.ts`. The variable
 * TWILIO_DESCRIPTION_TOKEN holds the server's token, and TWILIO_DESCRIPTION_CALL the sid of one of its calls.
 */
const server = process.env["TWILIO_DESCRIPTION"];
const account = {
  account_sid: "AC00000000000000000000000000000000",
  auth_token: process.env["TWILIO_DESCRIPTION_TOKEN"] ?? "twilio_test_auth_token",
  from: "+15551234567",
  base_url: server ?? "http://127.0.0.1",
};
const signal = AbortSignal.timeout(60_000);

/** The correspondence of a customer who has just written. */
const correspondence: Correspondence = {
  email: null,
  name: null,
  wroteAt: Date.now(),
  messages: [],
};
const host = hostWith({
  webhookUrl: "https://help.example/channels/sms/acc_1",
  clock: { now: () => Date.now(), timer: () => () => undefined },
  state: { get: async () => null, set: async () => undefined },
  threads: { correspondence: async () => correspondence },
});

const of = (channel: TwilioChannel) => {
  const settings = messageSettingsOf(channel, account);
  return { settings, client: createClient(settings), host, optOuts: createOptOuts(host, settings.channel) };
};
const context: SendContext = { thread: "+15552000001", key: "msg_1.0", messageId: "msg_1", signal };
const part = { text: "Hello", payload: { body: "Hello" } };

describe.skipIf(server === undefined)("a server of Twilio's API takes", () => {
  for (const channel of ["sms", "whatsapp"] as const) {
    it(`a message of the channel ${channel}, and the question whether it has it`, async () => {
      const sent = await sendMessage(of(channel), part, context);
      expect(sent.externalId).toMatch(/^[A-Z]{2}/);
      const attempt = { part, startedAt: Date.now() - 60_000, otherExternalIds: [] };
      const found = await findPart(of(channel), context, attempt).catch((error: unknown) => error);
      // A mock server may have nothing to list.
      expect(found === null || found instanceof DeliveryError || typeof found === "object").toBe(true);
      if (found instanceof DeliveryError) expect(found.outcome).toBe("unknown");
    });
  }

  it("the checks of doctor", async () => {
    const { client } = of("sms");
    expect((await client.api.v2010.accounts(account.account_sid).fetch()).sid).toMatch(/^AC/);
    const numbers = await client.incomingPhoneNumbers.list({ phoneNumber: account.from, limit: 1 });
    expect(Array.isArray(numbers)).toBe(true);
  });

  it("creating, reading and redirecting a call", async () => {
    const { client } = of("sms");
    const url = "https://help.example/channels/voice/acc_1";
    const made = await client.calls.create({ to: "+15552000001", from: account.from, url });
    expect(made.sid).toMatch(/^CA/);
    const sid = process.env["TWILIO_DESCRIPTION_CALL"] ?? made.sid;
    expect((await client.calls(sid).fetch()).sid).toMatch(/^CA/);
    const led = await client.calls(sid).update({ url: `${url}?at=next.msg_1.0`, method: "POST" });
    expect(led.sid).toMatch(/^CA/);
  });

  it("the request for a file, or gives a reason", async () => {
    const ref = `${account.base_url}/2010-04-01/Accounts/${account.account_sid}/Recordings/RE${"0".repeat(32)}.mp3`;
    const got = await fetchMedia(messageSettingsOf("sms", account), ref, signal).then(
      buffer,
      (error: unknown) => error,
    );
    expect(Buffer.isBuffer(got) || got instanceof DeliveryError).toBe(true);
  });
});
