import type { ChannelHost, OutboundMessage, ReplyWindow } from "#channels/contract.ts";
import { DeliveryError } from "#channels/errors.ts";
import type { Part } from "#channels/inbound-event.ts";
import type { Run, Style } from "./styled-text.ts";
import { splitRuns, textOf, withQuoteMarks } from "./styled-text.ts";

// WhatsApp's formatting and its reply window, which are the same for each provider.

const windowMs = 24 * 3_600_000;
/** WhatsApp's limit of characters for template variables. */
const variableMax = 1_000;
const closed = "the customer has not written by WhatsApp for 24 hours, and it then takes a template only";
const tooLong = `${closed}, which has no room for a message as long as this one`;

/** WhatsApp's customer service window: free text only within 24 hours after the customer's last message. */
export const whatsappWindow = (
  hasTemplate: boolean,
  render: (message: OutboundMessage) => readonly Part[],
  bodyOf: (part: Part) => string,
): ReplyWindow => ({
  ms: windowMs,
  closed,
  outside(message) {
    if (!hasTemplate) return closed;
    const parts = render(message);
    const length = parts.reduce((sum, part) => sum + inOneLine(bodyOf(part)).length, 0);
    // A message that needs several templates is not sent: it would read like spam.
    return parts.length > 1 || length > variableMax ? tooLong : parts;
  },
});

/**
 * Checks the reply window again right before the send: it may have closed since the message was queued, and WhatsApp
 * reports that late. Returns null while it is open, else the text for the template. Throws a {@link DeliveryError} when
 * nothing can be sent.
 */
export async function textForTemplate(
  host: Pick<ChannelHost, "threads" | "clock">,
  thread: string,
  body: string,
  hasTemplate: boolean,
): Promise<string | null> {
  const wroteAt = (await host.threads.correspondence(thread, 1))?.wroteAt ?? null;
  if (wroteAt !== null && host.clock.now() - wroteAt < windowMs) return null;
  const text = inOneLine(body);
  if (hasTemplate && text.length <= variableMax) return text;
  throw new DeliveryError("rejected", hasTemplate ? tooLong : closed, { windowClosed: true });
}

/** Template variables must not hold line ends or runs of spaces. */
export const inOneLine = (body: string): string => body.replaceAll(/\s+/gu, " ").trim();

/** Values of a template's variables by their names; {text} is the message. */
export const filledVariables = (
  variables: Readonly<Record<string, string>>,
  text: string,
): readonly (readonly [string, string])[] =>
  Object.entries(variables).map(([name, value]) => [name, value.replaceAll("{text}", () => text)]);

export interface WhatsappPiece {
  readonly text: string;
  /** The text with WhatsApp's formatting. */
  readonly body: string;
}

/** Formatting marks take room that is known only after rendering, so smaller sizes are tried in turn. */
const shares = [0.9375, 0.75, 0.5];

/** Splits on block borders into bodies of at most `max` characters. Nothing is cut off. */
export function whatsappPieces(runs: readonly Run[], max: number): readonly WhatsappPiece[] {
  const marked = withQuoteMarks(runs);
  for (const share of shares) {
    const pieces = splitRuns(marked, Math.floor(max * share)).map((piece) => ({
      text: textOf(piece),
      body: written(piece),
    }));
    if (pieces.every(({ body }) => body.length <= max)) return pieces;
  }
  // The text is too densely formatted to fit: drop the marks, keep the text.
  return splitRuns(marked, max).map((piece) => ({ text: textOf(piece), body: textOf(piece) }));
}

const marks: Readonly<Record<"bold" | "italic" | "strike", string>> = { bold: "*", italic: "_", strike: "~" };

const written = (runs: readonly Run[]): string => runs.map(runText).join("");

function runText({ text, styles }: Run): string {
  const has = (kind: Style["kind"]): boolean => styles.some((style) => style.kind === kind);
  if (has("pre")) return text.includes("```") ? text : `\`\`\`${text}\`\`\``;
  return text
    .split("\n")
    .map((line) => lineText(line, styles))
    .join("\n");
}

/** WhatsApp's marks work within one line and must not touch a space on the inside. */
function lineText(line: string, styles: readonly Style[]): string {
  const inner = line.trim();
  if (inner === "") return line;
  const [before, after] = [line.slice(0, line.indexOf(inner)), line.slice(line.indexOf(inner) + inner.length)];
  let marked = inner;
  if (styles.some(({ kind }) => kind === "code") && !inner.includes("`")) marked = `\`${inner}\``;
  for (const [kind, mark] of Object.entries(marks)) {
    if (styles.some((style) => style.kind === kind)) marked = `${mark}${marked}${mark}`;
  }
  return `${before}${marked}${after}`;
}

/** File endings of media types that WhatsApp carries, for files without a name. */
export const whatsappEnding = (mediaType: string): string => endings[bareMediaType(mediaType)] ?? "";

/** The type without its parameters, such as the codec. */
export const bareMediaType = (mediaType: string): string => mediaType.split(";", 1)[0]?.trim().toLowerCase() ?? "";

const endings: Readonly<Record<string, string>> = {
  "image/jpeg": ".jpg",
  "image/png": ".png",
  "image/gif": ".gif",
  "image/webp": ".webp",
  "audio/ogg": ".ogg",
  "audio/mpeg": ".mp3",
  "audio/amr": ".amr",
  "audio/mp4": ".m4a",
  "video/mp4": ".mp4",
  "video/3gpp": ".3gp",
  "application/pdf": ".pdf",
  "text/plain": ".txt",
  "text/csv": ".csv",
  "text/vcard": ".vcf",
  "text/x-vcard": ".vcf",
  "application/vnd.openxmlformats-officedocument.wordprocessingml.document": ".docx",
  "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": ".xlsx",
};
