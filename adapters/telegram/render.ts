import type { OutboundFile, OutboundMessage } from "#channels/contract.ts";
import type { Part } from "#channels/inbound-event.ts";
import type { Run, Style } from "#channels/text/styled-text.ts";
import { splitRuns, styledText, textOf, withAddresses } from "#channels/text/styled-text.ts";

/** UTF-16 units of one message. */
export const textMax = 4_096;

/** Marks a stretch of a text; offset and length count UTF-16 units. */
export interface Entity {
  readonly type: "bold" | "italic" | "strikethrough" | "code" | "pre" | "blockquote" | "text_link";
  readonly offset: number;
  readonly length: number;
  readonly url?: string;
}

export interface TelegramPart {
  readonly text: string;
  readonly entities: readonly Entity[];
  /** The text is then its caption. */
  readonly file?: OutboundFile;
}

/** Telegram keeps as many of a message, and drops the rest without a word. */
const entitiesMax = 100;
/** UTF-16 units of what stands below a file. */
const captionMax = 1_024;
/** Of a file that is sent. */
export const fileBytesMax = 50 * 1_048_576;

const entityTypes: Readonly<Record<Exclude<Style["kind"], "link">, Entity["type"]>> = {
  bold: "bold",
  italic: "italic",
  strike: "strikethrough",
  code: "code",
  pre: "pre",
  quote: "blockquote",
};

/** Telegram takes a text and, apart from it, what is marked in it: nothing has to be escaped, and nothing can break. */
export function renderParts({
  role,
  authorName,
  markdown,
  sources,
  files = [],
  filesApart,
}: OutboundMessage): readonly Part[] {
  const name: readonly Run[] =
    role === "agent" && authorName !== null ? [{ text: `${authorName}:\n`, styles: [{ kind: "bold" }] }] : [];
  const runs = [...name, ...withAddresses(styledText(markdown, sources), isNoLink)];
  const [first, ...rest] = files;
  const captions = first === undefined ? [] : split(runs, captionMax);
  // A short text stands below the first file; a long one goes before it.
  if (first !== undefined && filesApart !== true && captions.length <= 1) {
    return [filePart(first, captions[0] ?? []), ...rest.map((file) => filePart(file, []))];
  }
  const texts = split(runs, textMax).map((part): Part => {
    const payload: TelegramPart = { text: textOf(part), entities: entitiesOf(part) };
    return { text: payload.text, payload };
  });
  return [...texts, ...files.map((file) => filePart(file, []))];
}

const split = (runs: readonly Run[], max: number) => splitRuns(runs, max, undefined, lengthForEntities);

/** Up to the first mark that would be one too many. */
const lengthForEntities = (runs: readonly Run[]): number => entitiesOf(runs)[entitiesMax]?.offset ?? Infinity;

/**
 * Telegram links only to hosts with a dot in their name, and takes an address of e-mail for one of the web, with the
 * customer's mail program nowhere. In a text it finds addresses by itself.
 */
function isNoLink(href: string): boolean {
  const { protocol, hostname } = new URL(href);
  return protocol === "mailto:" || !/[.:]/.test(hostname);
}

function filePart(file: OutboundFile, caption: readonly Run[]): Part {
  const payload: TelegramPart = { text: textOf(caption), entities: entitiesOf(caption), file };
  return { text: [payload.text, `[${file.name}]`].filter((text) => text !== "").join("\n"), payload };
}

/** A mark that goes on in the next stretch is one; of two on the same stretch, one holds the other whole. */
function entitiesOf(runs: readonly Run[]): readonly Entity[] {
  const entities: Entity[] = [];
  /** What is open at this place, the outermost first: the style, and where its entity stands. */
  const open: { readonly key: string; readonly at: number }[] = [];
  let offset = 0;
  for (const { text, styles } of runs) {
    const { length } = text;
    const wanted = new Map(allowedTogether(styles).map((style) => [keyOf(style), style]));
    // What ends here ends all that was opened within it: that is begun anew.
    const ends = open.findIndex(({ key }) => !wanted.has(key));
    if (ends >= 0) open.length = ends;
    for (const { key, at } of open) {
      const entity = entities[at];
      if (entity !== undefined) entities[at] = { ...entity, length: entity.length + length };
      wanted.delete(key);
    }
    for (const [key, style] of wanted) {
      open.push({ key, at: entities.length });
      if (style.kind === "link") entities.push({ type: "text_link", offset, length, url: style.href });
      else entities.push({ type: entityTypes[style.kind], offset, length });
    }
    offset += length;
  }
  return entities;
}

const keyOf = (style: Style): string => (style.kind === "link" ? `link ${style.href}` : style.kind);

/**
 * Code can have no other mark on it, and a kind can stand only once. Of code that is a link it matters more where it leads
 * to than how it looks.
 */
function allowedTogether(given: readonly Style[]): readonly Style[] {
  const isLink = given.some(({ kind }) => kind === "link");
  const styles = isLink ? given.filter(({ kind }) => kind !== "code") : given;
  const code = styles.find(({ kind }) => kind === "pre") ?? styles.find(({ kind }) => kind === "code");
  if (code !== undefined) return [code];
  return styles.filter(({ kind }, at) => styles.findIndex((other) => other.kind === kind) === at);
}
