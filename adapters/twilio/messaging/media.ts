import { DeliveryError } from "#channels/errors.ts";
import type { SendContext } from "#channels/contract.ts";
import type { TwilioPart } from "./render.ts";
import type { Settings, TwilioChannel } from "./config.ts";

const megabyte = 1_048_576;
/** Twilio fetches a file when it sends the message, which may be long after it has accepted it. */
const fetchedWithinMs = 12 * 3_600_000;
/** The lifetime of a file link sent to a customer. */
const openedWithinMs = 30 * 86_400_000;

/** Media types that a channel carries. The customer gets a link to other types. */
const carried: Readonly<Record<TwilioChannel, ReadonlySet<string>>> = {
  sms: new Set([
    "image/jpeg",
    "image/png",
    "image/gif",
    "audio/mpeg",
    "audio/ogg",
    "video/mp4",
    "video/3gpp",
    "application/pdf",
    "text/vcard",
  ]),
  whatsapp: new Set([
    "image/jpeg",
    "image/png",
    "audio/ogg",
    "audio/mpeg",
    "audio/amr",
    "audio/mp4",
    "video/mp4",
    "application/pdf",
    "text/vcard",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation",
  ]),
};

/** undefined: this account sends links instead of files. */
export function fileBytesMaxOf({ channel, mms }: Pick<Settings, "channel" | "mms">): number | undefined {
  if (channel === "whatsapp") return 16 * megabyte;
  return mms ? 5 * megabyte : undefined;
}

export interface Media {
  /** The address from which Twilio fetches the file; absent: the channel does not carry this type. */
  readonly url?: string;
  /** The file's name and link, used when the file cannot be attached. */
  readonly asText: string;
}

/** undefined: the part is not a file. */
export function mediaOf(
  { channel }: Pick<Settings, "channel">,
  { body, media }: TwilioPart,
  { fileLink }: Pick<SendContext, "fileLink">,
): Media | undefined {
  if (media === undefined) return undefined;
  if (fileLink === undefined) throw new DeliveryError("rejected", "there is no address to fetch the file at");
  const asText = `${body}\n${fileLink(media.id, openedWithinMs)}`;
  const isCarried = carried[channel].has(media.mediaType);
  return isCarried ? { url: fileLink(media.id, fetchedWithinMs), asText } : { asText };
}
