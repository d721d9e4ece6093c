import type { Twilio } from "twilio";
import type { Attempt, ChannelHost, Receipt, SendContext } from "#channels/contract.ts";
import type { Part } from "#channels/inbound-event.ts";
import { DeliveryError } from "#channels/errors.ts";
import { unlessAborted } from "../shared/client.ts";
import { codeOf, deliveryError, isOfContent, optedOut, reasonOf } from "../shared/errors.ts";
import type { OptOuts } from "./opt-outs/opt-outs.ts";
import { mediaOf } from "./media.ts";
import { reportAddress } from "./webhook.ts";
import type { TwilioPart } from "./render.ts";
import type { Settings } from "./config.ts";
import { addressOf } from "./config.ts";
import type { Content } from "./templates.ts";
import { contentOf } from "./templates.ts";

export interface SendDependencies {
  readonly client: Twilio;
  readonly settings: Settings;
  readonly host: ChannelHost;
  readonly optOuts: OptOuts;
}

export async function sendPart(dependencies: SendDependencies, part: Part, context: SendContext): Promise<Receipt> {
  const { client, settings, host, optOuts } = dependencies;
  const { thread, key, signal } = context;
  const payload = part.payload as TwilioPart;
  const before = await optOuts.of(thread);
  if (before === "customer") throw new DeliveryError("rejected", reasonOf(optedOut, ""));
  const media = mediaOf(settings, payload, context);
  const content = await contentOf(settings, host, thread, media === undefined ? payload : { body: media.asText });
  // A template cannot carry a file: it gets the link.
  const isWhole = media?.url !== undefined && !("contentSid" in content);
  const create = (what: Content) =>
    unlessAborted(
      client.messages.create({
        to: addressOf(settings.channel, thread),
        ...senderOf(settings),
        ...(isWhole ? { body: payload.body, mediaUrl: [media.url] } : what),
        statusCallback: reportAddress(host.webhookUrl, key),
      }),
      signal,
    );
  let sid: unknown;
  try {
    const sent = await create(content).catch((error: unknown) => {
      if (payload.buttons !== true || !("contentSid" in content) || !isOfContent(codeOf(error))) throw error;
      // A broken button template must not stop the reply.
      host.log.warn(
        { reason: deliveryError(error).message },
        "twilio: reply sent without buttons, check quick_reply_sid",
      );
      return create({ body: payload.body });
    });
    ({ sid } = sent);
  } catch (error) {
    if (codeOf(error) === optedOut) await optOuts.refused(thread);
    throw deliveryError(error);
  }
  if (typeof sid !== "string") throw new DeliveryError("unknown", "the answer is not Twilio's");
  if (before === "platform") await optOuts.taken(thread);
  return { externalId: sid, state: "sent" };
}

export function senderOf({ sender, channel }: Pick<Settings, "sender" | "channel">) {
  return sender.kind === "service" ? { messagingServiceSid: sender.sid } : { from: addressOf(channel, sender.number) };
}

/** The time a message may take to appear in Twilio's list after the connection broke. */
const appearsMs = 30_000;
/** Allows for clock skew and for Twilio's dates without milliseconds. */
const skewMs = 5 * 60_000;
const listedMax = 200;

/**
 * Finds a message that may have been sent. Twilio has no idempotency key, so this searches its list for a message with
 * the same text to the same customer whose id is not known yet. null: not sent.
 */
export async function findPart(
  {
    client,
    settings,
    host,
  }: Pick<SendDependencies, "client" | "settings"> & { readonly host: Pick<ChannelHost, "clock"> },
  { thread, signal }: Pick<SendContext, "thread" | "signal">,
  { part, startedAt, otherExternalIds }: Attempt,
): Promise<Receipt | null> {
  const { body, media } = part.payload as TwilioPart;
  const text = bare(body);
  const { sender, channel } = settings;
  let messages: Awaited<ReturnType<Twilio["messages"]["list"]>>;
  try {
    // No filter by date sent: a queued message has none yet.
    messages = await unlessAborted(
      client.messages.list({
        to: addressOf(channel, thread),
        ...(sender.kind === "number" ? { from: addressOf(channel, sender.number) } : {}),
        pageSize: listedMax,
        limit: listedMax,
      }),
      signal,
    );
  } catch (error) {
    throw deliveryError(error);
  }
  const found = messages
    .filter(
      (message) =>
        message.direction.startsWith("outbound") &&
        !otherExternalIds.includes(message.sid) &&
        message.dateCreated.getTime() >= startedAt - skewMs &&
        (bare(message.body) === text ||
          // A file that could not be attached was sent as name and link.
          (media !== undefined && bare(message.body).startsWith(`${text} `)) ||
          // A template surrounds the text with its own.
          ((settings.template !== undefined || settings.quickReply !== undefined) &&
            bare(message.body).includes(text))),
    )
    .toSorted((a, b) => a.dateCreated.getTime() - b.dateCreated.getTime())[0];
  if (found !== undefined) return { externalId: found.sid, state: found.status === "delivered" ? "delivered" : "sent" };
  if (host.clock.now() - startedAt < appearsMs) {
    throw new DeliveryError("unknown", "Twilio does not list the message, and may do so in a moment");
  }
  return null;
}

const bare = (text: string): string => text.replaceAll(/\s+/gu, " ").trim();
