import type { OutboundFile, OutboundMessage } from "#channels/contract.ts";
import type { Part } from "#channels/inbound-event.ts";
import type { Run } from "#channels/text/styled-text.ts";
import { splitRuns, styledText, textOf, withAddresses, withQuoteMarks } from "#channels/text/styled-text.ts";
import { whatsappPieces } from "#channels/text/whatsapp.ts";
import { isGsm, septets, softened } from "./gsm.ts";
import type { TwilioChannel } from "./config.ts";

/** Twilio's limit of characters a message, in any alphabet. */
export const textMax = 1_600;

/** Ten segments. Carriers may cut longer messages. */
export const gsmMax = 1_530;
export const ucs2Max = 670;

export interface TwilioPart {
  readonly body: string;
  /** The body is one line that is sent with quick-reply buttons. */
  readonly buttons?: true;
  /** A file; the body is its name. */
  readonly media?: { readonly id: string; readonly mediaType: string };
}

export function renderParts(channel: TwilioChannel, message: OutboundMessage): readonly Part[] {
  const { role, authorName, markdown, sources } = message;
  const name: readonly Run[] =
    role === "agent" && authorName !== null ? [{ text: `${authorName}:\n`, styles: [{ kind: "bold" }] }] : [];
  const runs = markdown === "" ? [] : [...name, ...styledText(markdown, sources)];
  const parts =
    channel === "whatsapp"
      ? whatsappPieces(withAddresses(runs), textMax).map(({ text, body }) => partOf(text, body))
      : smsParts(runs);
  return [...parts, ...(message.files ?? []).map(filePart)];
}

const filePart = ({ id, name, mediaType }: OutboundFile): Part => ({
  text: name,
  payload: { body: name, media: { id, mediaType } } satisfies TwilioPart,
});

const partOf = (text: string, body: string): Part => ({ text, payload: { body } satisfies TwilioPart });

const plainOf = (runs: readonly Run[]): string => softened(textOf(withQuoteMarks(withAddresses(runs))));

/** Splits so that only pieces with other characters use UCS-2; the others keep the GSM alphabet. */
function smsParts(runs: readonly Run[]): readonly Part[] {
  const whole: Run = { text: plainOf(runs), styles: [] };
  return splitRuns([whole], gsmMax, septets)
    .flatMap((piece) => (isGsm(textOf(piece)) ? [piece] : splitRuns(piece, ucs2Max)))
    .map((piece) => partOf(textOf(piece), textOf(piece)));
}

/** Renders the runs as the plain text of an SMS. */
export function textMessage(runs: readonly Run[]): { readonly text: string; readonly isGsm: boolean } {
  const text = plainOf(runs);
  return { text, isGsm: isGsm(text) };
}

/** WhatsApp's limit for the body of a message with buttons, less room for the template's own text. */
const buttonLineMax = 900;

/** Sends the last line with buttons. A template variable holds no line end, so the lines above are a message of their own. */
export function withButtons(parts: readonly Part[]): readonly Part[] {
  const last = parts.at(-1);
  if (last === undefined) return parts;
  const { body } = last.payload as TwilioPart;
  const cut = body.lastIndexOf("\n");
  const [above, line] = [body.slice(0, Math.max(cut, 0)).trimEnd(), body.slice(cut + 1).trim()];
  // Never split a code block.
  if (line === "" || line.length > buttonLineMax || (body.match(/```/g)?.length ?? 0) > 0) return parts;
  return [
    ...parts.slice(0, -1),
    ...(above === "" ? [] : [partOf(above, above)]),
    { text: line, payload: { body: line, buttons: true } satisfies TwilioPart },
  ];
}
