import type { ChannelHost, OutboundMessage, ReplyWindow } from "#channels/contract.ts";
import { DeliveryError } from "#channels/errors.ts";
import { renderParts } from "./render.ts";
import type { TwilioPart } from "./render.ts";
import type { Settings, Template } from "./config.ts";

const windowMs = 24 * 3_600_000;
/** WhatsApp's limit of characters for template variables. */
const variableMax = 1_000;
const closed = "the customer has not written by WhatsApp for 24 hours, and it then takes a template only";
const tooLong = `${closed}, which has no room for a message as long as this one`;

export type Content = { readonly body: string } | { readonly contentSid: string; readonly contentVariables: string };

/** WhatsApp's customer service window: free text only within 24 hours after the customer's last message. */
export function windowOf({ channel, template }: Pick<Settings, "channel" | "template">): ReplyWindow | undefined {
  if (channel !== "whatsapp") return undefined;
  return {
    ms: windowMs,
    closed,
    outside(message: OutboundMessage) {
      if (template === undefined) return closed;
      const parts = renderParts(channel, message);
      const length = parts.reduce((sum, { payload }) => sum + inOneLine((payload as TwilioPart).body).length, 0);
      // A message that needs several templates is not sent: it would read like spam.
      return parts.length > 1 || length > variableMax ? tooLong : parts;
    },
  };
}

/**
 * Checks the reply window again right before the send: it may have closed since the message was queued, and WhatsApp
 * reports that late. Throws a {@link DeliveryError} when nothing can be sent.
 */
export async function contentOf(
  { channel, template, quickReply }: Settings,
  host: Pick<ChannelHost, "threads" | "clock">,
  thread: string,
  { body, buttons }: TwilioPart,
): Promise<Content> {
  if (channel !== "whatsapp") return { body };
  const wroteAt = (await host.threads.correspondence(thread, 1))?.wroteAt ?? null;
  if (wroteAt !== null && host.clock.now() - wroteAt < windowMs) {
    return buttons === true && quickReply !== undefined ? filled(quickReply, inOneLine(body)) : { body };
  }
  const text = inOneLine(body);
  if (template === undefined || text.length > variableMax) {
    throw new DeliveryError("rejected", template === undefined ? closed : tooLong, { windowClosed: true });
  }
  return filled(template, text);
}

function filled({ sid, variables }: Template, text: string): Content {
  const values = Object.entries(variables).map(([name, value]) => [name, value.replaceAll("{text}", () => text)]);
  return { contentSid: sid, contentVariables: JSON.stringify(Object.fromEntries(values)) };
}

/** Template variables must not hold line ends or runs of spaces. */
const inOneLine = (body: string): string => body.replaceAll(/\s+/gu, " ").trim();
