import type { OutboundFile, OutboundMessage } from "#channels/contract.ts";
import type { Part } from "#channels/inbound-event.ts";
import type { Run, Style } from "#channels/text/styled-text.ts";
import { splitRuns, styledText, textOf, withAddresses } from "#channels/text/styled-text.ts";
import { isGsm, septets, softened } from "./gsm.ts";
import type { TwilioChannel } from "./config.ts";

/** Characters of one message, of whatever alphabet. */
export const textMax = 1_600;

/** Ten segments, which carriers put together again; more of them they may cut. */
export const gsmMax = 1_530;
export const ucs2Max = 670;

export interface TwilioPart {
  readonly body: string;
  /** It is one line, to which quick-reply buttons belong. */
  readonly buttons?: true;
  /** A file, whose name the body is. */
  readonly media?: { readonly id: string; readonly mediaType: string };
}

export function renderParts(channel: TwilioChannel, message: OutboundMessage): readonly Part[] {
  const { role, authorName, markdown, sources } = message;
  const name: readonly Run[] =
    role === "agent" && authorName !== null ? [{ text: `${authorName}:\n`, styles: [{ kind: "bold" }] }] : [];
  const runs = markdown === "" ? [] : [...name, ...styledText(markdown, sources)];
  const parts = channel === "whatsapp" ? whatsappParts(runs) : smsParts(runs);
  return [...parts, ...(message.files ?? []).map(filePart)];
}

const filePart = ({ id, name, mediaType }: OutboundFile): Part => ({
  text: name,
  payload: { body: name, media: { id, mediaType } } satisfies TwilioPart,
});

const partOf = (text: string, body: string): Part => ({ text, payload: { body } satisfies TwilioPart });

/** A piece that needs the larger alphabet does not make the others need it. */
function smsParts(runs: readonly Run[]): readonly Part[] {
  const whole: Run = { text: softened(textOf(withAddresses(runs))), styles: [] };
  return splitRuns([whole], gsmMax, septets)
    .flatMap((piece) => (isGsm(textOf(piece)) ? [piece] : splitRuns(piece, ucs2Max)))
    .map((piece) => partOf(textOf(piece), textOf(piece)));
}

/** What these stretches are as a text message. */
export function textMessage(runs: readonly Run[]): { readonly text: string; readonly isGsm: boolean } {
  const text = softened(textOf(withAddresses(runs)));
  return { text, isGsm: isGsm(text) };
}

/** Marks on a text take room that is known only once it is written out. */
const attempts = [1_500, 1_200, 800];

function whatsappParts(runs: readonly Run[]): readonly Part[] {
  const linked = withAddresses(runs);
  for (const max of attempts) {
    const pieces = splitRuns(linked, max).map((piece) => ({ text: textOf(piece), body: written(piece) }));
    if (pieces.every(({ body }) => body.length <= textMax)) return pieces.map(({ text, body }) => partOf(text, body));
  }
  // Where every second sign is marked, the marks are given up, and the text is not.
  return splitRuns(linked, textMax).map((piece) => partOf(textOf(piece), textOf(piece)));
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

/** Marks hold within a line, and only around what is not space. */
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

/** What WhatsApp takes for the body of a message with buttons, beside what the template holds itself. */
const buttonLineMax = 900;

/** The buttons stand below the last line, for a variable holds no line end; what is above it is a message as always. */
export function withButtons(parts: readonly Part[]): readonly Part[] {
  const last = parts.at(-1);
  if (last === undefined) return parts;
  const { body } = last.payload as TwilioPart;
  const cut = body.lastIndexOf("\n");
  const [above, line] = [body.slice(0, Math.max(cut, 0)).trimEnd(), body.slice(cut + 1).trim()];
  // A block of code is not to be torn apart.
  if (line === "" || line.length > buttonLineMax || (body.match(/```/g)?.length ?? 0) > 0) return parts;
  return [
    ...parts.slice(0, -1),
    ...(above === "" ? [] : [partOf(above, above)]),
    { text: line, payload: { body: line, buttons: true } satisfies TwilioPart },
  ];
}
