import type { ChannelHost, OutboundMessage, ReplyWindow } from "#channels/contract.ts";
import { DeliveryError } from "#channels/errors.ts";
import { renderParts } from "./render.ts";
import type { TwilioPart } from "./render.ts";
import type { Settings, Template } from "./config.ts";

const windowMs = 24 * 3_600_000;
/** What WhatsApp takes for the variables of a template. */
const variableMax = 1_000;
const closed = "the customer has not written by WhatsApp for 24 hours, and it then takes a template only";
const tooLong = `${closed}, which has no room for a message as long as this one`;

export type Content = { readonly body: string } | { readonly contentSid: string; readonly contentVariables: string };

/** WhatsApp takes free text only within 24 hours after the customer has written. */
export function windowOf({ channel, template }: Pick<Settings, "channel" | "template">): ReplyWindow | undefined {
  if (channel !== "whatsapp") return undefined;
  return {
    ms: windowMs,
    closed,
    outside(message: OutboundMessage) {
      if (template === undefined) return closed;
      const parts = renderParts(channel, message);
      const length = parts.reduce((sum, { payload }) => sum + inOneLine((payload as TwilioPart).body).length, 0);
      // Several templates at once are what nobody wants to get.
      return parts.length > 1 || length > variableMax ? tooLong : parts;
    },
  };
}

/**
 * The window may have closed since the message was queued, and WhatsApp tells it late: so it is looked at once more.
 * Throws a {@link DeliveryError} where there is nothing that could be sent.
 */
export async function contentOf(
  { channel, template, quickReply }: Settings,
  host: Pick<ChannelHost, "correspondence" | "clock">,
  thread: string,
  { body, buttons }: TwilioPart,
): Promise<Content> {
  if (channel !== "whatsapp") return { body };
  const wroteAt = (await host.correspondence(thread, 1))?.wroteAt ?? null;
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

/** A variable holds no line end, and no long gap. */
const inOneLine = (body: string): string => body.replaceAll(/\s+/gu, " ").trim();
