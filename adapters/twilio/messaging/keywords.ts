import type { TwilioChannel } from "./config.ts";

/** What a message asks for beside the conversation. The law of many countries holds us to it. */
export type Keyword = "stop" | "start" | "help";

/** Twilio's own words. It answers them itself, and keeps to them from then on. */
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
/** Twilio does nothing about words on WhatsApp, where people say "help" and "end" to a bot in earnest. */
const whatsappWords: Readonly<Record<string, Keyword>> = {
  stop: "stop",
  stopall: "stop",
  unsubscribe: "stop",
  start: "start",
  unstop: "start",
};

/**
 * The keyword that a message is, as a whole. `optOutType` is what Twilio itself took it for, in whatever language. YES is
 * an answer like others, unless the customer has opted out.
 */
export function keywordOf(
  channel: TwilioChannel,
  text: string,
  optOutType: string,
  isOptedOut: boolean,
): Keyword | undefined {
  const told = optOutType.toLowerCase();
  if (told === "stop" || told === "start" || told === "help") return told;
  const word = text.trim().toLowerCase();
  const words = channel === "sms" ? smsWords : whatsappWords;
  // Who writes "STOP!", "stop all" or "opt-out" means it too, though Twilio takes the plain word only. A question asks.
  const bare = word.replaceAll(/[^\p{L}\p{N}?]+/gu, "");
  const found = Object.hasOwn(words, word) ? words[word] : undefined;
  if (found !== undefined) return found;
  if (Object.hasOwn(words, bare) && words[bare] === "stop") return "stop";
  return isOptedOut && word === "yes" ? "start" : undefined;
}
