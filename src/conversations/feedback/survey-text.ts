import type { Channel } from "#domain/conversation/message.ts";
import { isChat } from "#channels/catalog.ts";

/** The question, then how to answer it by a number. */
const typed = /^([^?？؟]{1,300}[?？؟])(?=[^]*1[^]*5)/u;

/**
 * The text of a survey on a channel. The website's chat has stars and a field for a comment below the question: there the
 * sentences that explain a typed rating are left out.
 */
export function surveyTextOn(channel: Channel, text: string): string {
  return (isChat(channel) ? typed.exec(text)?.[1] : undefined) ?? text;
}
