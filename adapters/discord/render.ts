import type { OutboundFile, OutboundMessage } from "#channels/contract.ts";
import type { Part } from "#channels/inbound-event.ts";
import type { Run, Style } from "#channels/text/styled-text.ts";
import { splitRuns, styledText, textOf, withAddresses } from "#channels/text/styled-text.ts";

/** Characters of one message. */
export const textMax = 2_000;
/** What a server without boosts allows for one file. */
export const fileBytesMax = 10 * 1_048_576;

export type DiscordPart =
  | {
      readonly kind: "text";
      readonly content: string;
      /** What stands on the button below it by which a person is asked for. */
      readonly personLabel?: string;
    }
  | { readonly kind: "file"; readonly file: OutboundFile };

/** Marks on a text take room that is known only once it is written out. */
const attempts = [1_900, 1_500, 1_000, 500];

export function renderParts(
  { role, authorName, markdown, sources, files = [], forPeople }: OutboundMessage,
  personLabel?: string,
): readonly Part[] {
  const name: readonly Run[] =
    role === "agent" && authorName !== null ? [{ text: `${authorName}:\n`, styles: [{ kind: "bold" }] }] : [];
  const runs = withAddresses([...name, ...styledText(markdown, sources)], (href) => !/^https?:/.test(href));
  const texts = attempts.flatMap((max) => {
    const pieces = splitRuns(runs, max, sizeOf).map((piece) => ({ text: textOf(piece), content: written(piece) }));
    return pieces.every(({ content }) => content.length <= textMax) ? [pieces] : [];
  })[0];
  const parts = texts ?? splitRuns(runs, attempts.at(-1) ?? 500).map((piece) => plainPiece(textOf(piece)));
  return [
    ...parts.map(({ text, content }, at): Part => {
      const isLast = at === parts.length - 1;
      const button =
        role === "assistant" && isLast && forPeople !== true && personLabel !== undefined ? { personLabel } : {};
      return { text, payload: { kind: "text", content, ...button } satisfies DiscordPart };
    }),
    ...files.map((file): Part => ({ text: file.name, payload: { kind: "file", file } satisfies DiscordPart })),
  ];
}

/** Where every second sign is marked, the marks are given up, and the text is not. */
const plainPiece = (text: string) => ({ text, content: escaped(text) });

const sizeOf = (text: string): number => escaped(text).length;

/** What Discord would take for a mark, a mention, a time or a channel. */
function escaped(text: string): string {
  return text.replaceAll(/[\\*_~`|<>[\]#@]/g, String.raw`\$&`);
}

const marks: Readonly<Record<"bold" | "italic" | "strike", string>> = { bold: "**", italic: "_", strike: "~~" };
const zeroWidthSpace = "\u200B";

function written(runs: readonly Run[]): string {
  let text = "";
  for (const run of runs) {
    const piece = runText(run);
    // Two marks that touch would be read as another one.
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

/** Marks hold within a line, and only around what is not space. */
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

/** Words that hold an address themselves Discord links to nothing, and shows with all marks. */
function linked(text: string, marked: string, href: string): string {
  if (text === href || URL.parse(text)?.href === href) return `<${target(text)}>`;
  return /https?:\/\//i.test(text) ? `${marked} (<${target(href)}>)` : `[${marked}](<${target(href)}>)`;
}

const target = (href: string): string => href.replaceAll(/[<>\s]/g, (sign) => encodeURIComponent(sign));
