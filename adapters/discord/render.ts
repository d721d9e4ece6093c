import type { OutboundFile, OutboundMessage } from "#channels/contract.ts";
import type { OpinionButtons } from "#channels/opinion-buttons.ts";
import { opinionButtonsOf } from "#channels/opinion-buttons.ts";
import type { Part } from "#channels/inbound-event.ts";
import type { Run, Style } from "#channels/text/styled-text.ts";
import { splitRuns, styledText, textOf, withAddresses } from "#channels/text/styled-text.ts";

/** Discord's limit of a message, in characters. */
export const textMax = 2_000;
/** Discord's limit of a file on a server without boosts. */
export const fileBytesMax = 10 * 1_048_576;

export type DiscordPart =
  | {
      readonly kind: "text";
      readonly content: string;
      /** The label of the button that asks for a person. */
      readonly personLabel?: string;
      /** Absent: no such buttons, or a part of an earlier version. */
      readonly opinion?: OpinionButtons;
      /** The message that this one answers, `CHANNEL:MESSAGE`, or without the channel. */
      readonly refersTo?: string;
    }
  | { readonly kind: "file"; readonly file: OutboundFile };

/** Sizes to try: the length of the markup is known only after rendering. */
const attempts = [1_900, 1_500, 1_000, 500];

export function renderParts(message: OutboundMessage, personLabel?: string): readonly Part[] {
  const { role, authorName, markdown, sources, files = [] } = message;
  const name: readonly Run[] =
    role === "agent" && authorName !== null ? [{ text: `${authorName}:\n`, styles: [{ kind: "bold" }] }] : [];
  const runs = withAddresses([...name, ...styledText(markdown, sources)], (href) => !/^https?:/.test(href));
  const texts = attempts.flatMap((max) => {
    const pieces = splitRuns(runs, max, sizeOf).map((piece) => ({ text: textOf(piece), content: written(piece) }));
    return pieces.every(({ content }) => content.length <= textMax) ? [pieces] : [];
  })[0];
  const parts = texts ?? splitRuns(runs, attempts.at(-1) ?? 500).map((piece) => plainPiece(textOf(piece)));
  const buttons = buttonsOf(message, personLabel);
  const refersTo = message.refersTo?.externalId ?? undefined;
  return [
    ...parts.map(({ text, content }, at): Part => {
      const payload: DiscordPart = {
        kind: "text",
        content,
        ...(at === parts.length - 1 ? buttons : {}),
        ...(at === 0 && refersTo !== undefined ? { refersTo } : {}),
      };
      return { text, payload };
    }),
    ...files.map((file): Part => ({ text: file.name, payload: { kind: "file", file } satisfies DiscordPart })),
  ];
}

function buttonsOf(message: OutboundMessage, personLabel: string | undefined) {
  const { role, forPeople } = message;
  const opinion = opinionButtonsOf(message);
  return {
    ...(role === "assistant" && forPeople !== true && personLabel !== undefined ? { personLabel } : {}),
    ...(opinion === undefined ? {} : { opinion }),
  };
}

/** A text with too much markup for any size is sent without markup. */
const plainPiece = (text: string) => ({ text, content: escaped(text) });

const sizeOf = (text: string): number => escaped(text).length;

/** Escapes characters that Discord reads as markup, a mention, a time or a channel. */
function escaped(text: string): string {
  return text.replaceAll(/[\\*_~`|<>[\]#@]/g, String.raw`\$&`);
}

const marks: Readonly<Record<"bold" | "italic" | "strike", string>> = { bold: "**", italic: "_", strike: "~~" };
const zeroWidthSpace = "\u200B";

function written(runs: readonly Run[]): string {
  let text = "";
  for (const run of runs) {
    const piece = runText(run);
    // Adjacent marks would combine into a different one.
    text += (/[*_~`]$/.test(text) && /^[*_~`]/.test(piece) ? zeroWidthSpace : "") + piece;
  }
  return text;
}

function runText({ text, styles }: Run): string {
  const has = (kind: Style["kind"]): boolean => styles.some((style) => style.kind === kind);
  if (has("pre")) return `\`\`\`\n${text.replaceAll("```", `\`${zeroWidthSpace}\`\``)}\n\`\`\``;
  const lines = text.split("\n").map((line) => lineText(line, styles));
  return has("quote") ? lines.map((line) => `> ${line}`).join("\n") : lines.join("\n");
}

/** Discord ignores marks that span lines or enclose outer spaces. */
function lineText(line: string, styles: readonly Style[]): string {
  const inner = line.trim();
  if (inner === "") return line;
  const [before, after] = [line.slice(0, line.indexOf(inner)), line.slice(line.indexOf(inner) + inner.length)];
  let marked = styles.some(({ kind }) => kind === "code")
    ? `\`\`${/^`|`$/.test(inner) ? ` ${inner} ` : inner.replaceAll("``", `\`${zeroWidthSpace}\``)}\`\``
    : escaped(inner);
  for (const [kind, mark] of Object.entries(marks)) {
    if (styles.some((style) => style.kind === kind)) marked = `${mark}${marked}${mark}`;
  }
  const link = styles.find((style) => style.kind === "link");
  if (link?.kind === "link") marked = linked(inner, marked, link.href);
  return `${before}${marked}${after}`;
}

/** Discord shows link markup literally if the link's text contains an address. */
function linked(text: string, marked: string, href: string): string {
  if (text === href || URL.parse(text)?.href === href) return `<${target(text)}>`;
  return /https?:\/\//i.test(text) ? `${marked} (<${target(href)}>)` : `[${marked}](<${target(href)}>)`;
}

const target = (href: string): string => href.replaceAll(/[<>\s]/g, (sign) => encodeURIComponent(sign));
