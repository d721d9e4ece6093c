import type { ChannelHost } from "#channel/contract.ts";
import { DeliveryError } from "#channel/errors.ts";
import type { Settings } from "./settings.ts";

const windowMs = 24 * 3_600_000;
const searchedMax = 100;
/** What WhatsApp takes for the variables of a template. */
const variableMax = 1_000;

export type Content = { readonly body: string } | { readonly contentSid: string; readonly contentVariables: string };

/**
 * WhatsApp takes free text only within 24 hours after the customer has written, and tells it late: so it is known before.
 * Throws a {@link DeliveryError} where there is nothing that could be sent.
 */
export async function contentOf(
  { channel, template }: Settings,
  host: Pick<ChannelHost, "correspondence" | "clock">,
  thread: string,
  body: string,
): Promise<Content> {
  if (channel !== "whatsapp") return { body };
  const known = await host.correspondence(thread, searchedMax);
  const newest = known?.messages.find(({ role }) => role === "user")?.createdAt;
  if (newest !== undefined && host.clock.now() - newest < windowMs) return { body };
  const closed = "the customer has not written for 24 hours, and WhatsApp then takes a template only";
  if (template === undefined) {
    throw new DeliveryError("rejected", `${closed}. They can be answered here once they write again`);
  }
  // A variable holds no line end, and no long gap.
  const text = body.replaceAll(/\s+/gu, " ").trim();
  if (text.length > variableMax) {
    throw new DeliveryError("rejected", `${closed}, which has no room for a message as long as this one`);
  }
  const variables = Object.entries(template.variables).map(([name, value]) => [
    name,
    value.replaceAll("{text}", () => text),
  ]);
  return { contentSid: template.sid, contentVariables: JSON.stringify(Object.fromEntries(variables)) };
}
