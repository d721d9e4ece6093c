import { bareMediaType } from "#channels/text/whatsapp.ts";
import type { OutboundFile } from "#channels/contract.ts";

const megabyte = 1_048_576;

/** WhatsApp's limit of a document, which is the largest file. */
export const fileBytesMax = 100 * megabyte;
/** WhatsApp's limit of a caption. */
export const captionMax = 1_024;

export type MediaKind = "image" | "video" | "audio" | "document";

const kinds: readonly { readonly kind: MediaKind; readonly types: readonly string[]; readonly bytesMax: number }[] = [
  { kind: "image", types: ["image/jpeg", "image/png"], bytesMax: 5 * megabyte },
  { kind: "video", types: ["video/mp4", "video/3gpp"], bytesMax: 16 * megabyte },
  {
    kind: "audio",
    types: ["audio/aac", "audio/mp4", "audio/mpeg", "audio/amr", "audio/ogg"],
    bytesMax: 16 * megabyte,
  },
];

/** Files that are too large for their kind go as documents. */
export function mediaKindOf({ mediaType, bytes }: Pick<OutboundFile, "mediaType" | "bytes">): MediaKind {
  const type = bareMediaType(mediaType);
  return kinds.find(({ types, bytesMax }) => types.includes(type) && bytes <= bytesMax)?.kind ?? "document";
}

export const takesCaption = (file: OutboundFile): boolean => mediaKindOf(file) !== "audio";
