import { createHash } from "node:crypto";
import type {
  ConformanceTarget,
  CustomerMessage,
  FakePlatform,
  SentFile,
} from "#test/support/channels/conformance-target.ts";
import type { Fault } from "../../shared/test/fake-twilio.ts";
import { startFakeTwilio } from "../../shared/test/fake-twilio.ts";
import { misbehaves } from "../../shared/test/misbehave.ts";

const cannot: ConformanceTarget["cannot"] = {};

const target: ConformanceTarget = { channel: "sms", cannot, start: () => start("") };
export default target;

export const variants: Readonly<Record<string, ConformanceTarget>> = {
  WhatsApp: { channel: "whatsapp", cannot, start: () => start("whatsapp:") },
};

const notMobile: Fault = { kind: "error", status: 400, code: 21_614, message: "not a mobile number" };
const own = "+15550001111";

async function start(prefix: "" | "whatsapp:"): Promise<FakePlatform> {
  const twilio = await startFakeTwilio();
  const numbers = new Map<string, string>();
  const addressOf = (customer: string): string => {
    const known = numbers.get(customer) ?? `${prefix}+1555100${String(numbers.size).padStart(4, "0")}`;
    numbers.set(customer, known);
    return known;
  };
  const sidOf = (id: string): string => `SM${createHash("md5").update(id).digest("hex")}`;
  const kept = new Map<SentFile, string>();
  const addressOfFile = (file: SentFile): string => {
    const known = kept.get(file) ?? twilio.keep(file.bytes, file.mediaType);
    kept.set(file, known);
    return known;
  };
  const formOf = ({ customer, id, text, files = [], answers }: CustomerMessage) => ({
    ...twilio.messageForm({ from: addressOf(customer), to: prefix + own, body: text, sid: sidOf(id) }),
    ...(answers === undefined ? {} : { OriginalRepliedMessageSid: newest(customer, answers)?.sid ?? "" }),
    NumMedia: String(files.length),
    ...Object.fromEntries(
      files.flatMap((file, at) => [
        [`MediaUrl${at}`, addressOfFile(file)],
        [`MediaContentType${at}`, file.mediaType],
      ]),
    ),
  });
  const isTaken = async (answer: Promise<Response>): Promise<boolean> => {
    const response = await answer;
    await response.text();
    return response.ok;
  };
  const messagesTo = (customer: string) => twilio.taken.filter(({ to }) => to === addressOf(customer));
  const newest = (customer: string, text: string) => messagesTo(customer).findLast(({ body }) => body.includes(text));

  return {
    config: { ...twilio.settings, from: own },
    secrets: () => [twilio.authToken],
    retryAfterMs: 17_000,
    async connect({ webhookUrl, now }) {
      twilio.connect({ publicUrl: "http://parley.test", webhookUrl, now });
    },
    deliver: (message) => isTaken(twilio.post(formOf(message))),
    forge: (message) => isTaken(twilio.post(formOf(message), { token: "a token of somebody else" })),
    // Besides a report, a number that writes to itself is the only echo.
    async echo(customer) {
      for (const { sid, body } of messagesTo(customer)) {
        await isTaken(twilio.report(sid, "sent"));
        await isTaken(twilio.post(twilio.messageForm({ from: prefix + own, to: prefix + own, body, sid })));
      }
    },
    shown: async (customer) =>
      messagesTo(customer)
        // The agent's name precedes the text.
        .map(({ body }) => body.replace(/^\*?Anna[^\n]*:\*?\n/, "")),
    received: async (customer) => messagesTo(customer).flatMap(({ media }) => media),
    ...(prefix === "" ? {} : { answersOne: true as const }),
    // Twilio reports no file names.
    fileName: (_file, at) => `file-${at + 1}`,
    misbehave: (how) => misbehaves(twilio, how, notMobile),
    away: () => twilio.goAway(),
    back: () => twilio.comeBack(),
    close: () => twilio.close(),
  };
}
