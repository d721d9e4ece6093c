import type { ChannelHost, ReplyWindow } from "#channels/contract.ts";
import { filledVariables, inOneLine, textForTemplate, whatsappWindow } from "#channels/text/whatsapp.ts";
import { renderParts } from "./render.ts";
import type { TwilioPart } from "./render.ts";
import type { Settings, Template } from "./config.ts";

export type Content = { readonly body: string } | { readonly contentSid: string; readonly contentVariables: string };

export const windowOf = ({ channel, template }: Pick<Settings, "channel" | "template">): ReplyWindow | undefined =>
  channel !== "whatsapp"
    ? undefined
    : whatsappWindow(
        template !== undefined,
        (message) => renderParts(channel, message),
        ({ payload }) => (payload as TwilioPart).body,
      );

/** The content that WhatsApp takes now. Throws a DeliveryError when nothing can be sent. */
export async function contentOf(
  { channel, template, quickReply }: Settings,
  host: Pick<ChannelHost, "threads" | "clock">,
  thread: string,
  { body, buttons }: TwilioPart,
): Promise<Content> {
  if (channel !== "whatsapp") return { body };
  const text = await textForTemplate(host, thread, body, template !== undefined);
  if (text !== null && template !== undefined) return filled(template, text);
  return buttons === true && quickReply !== undefined ? filled(quickReply, inOneLine(body)) : { body };
}

const filled = ({ sid, variables }: Template, text: string): Content => ({
  contentSid: sid,
  contentVariables: JSON.stringify(Object.fromEntries(filledVariables(variables, text))),
});
