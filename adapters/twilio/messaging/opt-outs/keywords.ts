import type { TwilioChannel } from "../config.ts";

/** Opt-out, opt-in and help keywords. Many countries require by law that they are honoured. */
export type Keyword = "stop" | "start" | "help";

/** Twilio's default keywords. Twilio answers them itself and enforces the opt-out. */
const smsWords: Readonly<Record<string, Keyword>> = {
  stop: "stop",
  stopall: "stop",
  unsubscribe: "stop",
  cancel: "stop",
  end: "stop",
  quit: "stop",
  revoke: "stop",
  optout: "stop",
  start: "start",
  unstop: "start",
  help: "help",
  info: "help",
};
/** Twilio handles no keywords on WhatsApp. "help" and "end" are missing: customers mean them as messages to the bot. */
const whatsappWords: Readonly<Record<string, Keyword>> = {
  stop: "stop",
  stopall: "stop",
  unsubscribe: "stop",
  start: "start",
  unstop: "start",
};

/**
 * Returns the keyword when the whole message is one. `optOutType` is Twilio's own verdict, in any language. YES counts
 * only after an opt-out.
 */
export function keywordOf(
  channel: TwilioChannel,
  text: string,
  optOutType: string,
  isOptedOut: boolean,
): Keyword | undefined {
  const twilioVerdict = optOutType.toLowerCase();
  if (twilioVerdict === "stop" || twilioVerdict === "start" || twilioVerdict === "help") return twilioVerdict;
  const word = text.trim().toLowerCase();
  const words = channel === "sms" ? smsWords : whatsappWords;
  // "STOP!", "stop all" and "opt-out" count too, though Twilio takes the plain word only. A question mark makes it a question.
  const bare = word.replaceAll(/[^\p{L}\p{N}?]+/gu, "");
  const found = Object.hasOwn(words, word) ? words[word] : undefined;
  if (found !== undefined) return found;
  if (Object.hasOwn(words, bare) && words[bare] === "stop") return "stop";
  return isOptedOut && word === "yes" ? "start" : undefined;
}
