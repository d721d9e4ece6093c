import type { OutboundFile, OutboundMessage } from "#channels/contract.ts";
import type { OpinionButtons } from "#channels/opinion-buttons.ts";
import { opinionButtonsOf } from "#channels/opinion-buttons.ts";
import type { Part } from "#channels/inbound-event.ts";
import type { Run, Style } from "#channels/text/styled-text.ts";
import { splitRuns, styledText, textOf, withAddresses } from "#channels/text/styled-text.ts";

/** Telegram's limit of a message, in UTF-16 units. */
export const textMax = 4_096;

/** Formats a range of a text; offset and length count UTF-16 units. */
export interface Entity {
  readonly type: "bold" | "italic" | "strikethrough" | "code" | "pre" | "blockquote" | "text_link";
  readonly offset: number;
  readonly length: number;
  readonly url?: string;
}

export interface TelegramPart {
  readonly text: string;
  readonly entities: readonly Entity[];
  /** If set, the text is the file's caption. */
  readonly file?: OutboundFile;
  /** Absent: no buttons, or a part of an earlier version. */
  readonly opinion?: OpinionButtons;
  /** The message that this one answers, `CHAT:MESSAGE`. */
  readonly refersTo?: string;
}

/** Telegram silently drops a message's further entities. */
const entitiesMax = 100;
/** Telegram's limit of a caption, in UTF-16 units. */
const captionMax = 1_024;
/** Telegram's limit of a file that a bot sends. */
export const fileBytesMax = 50 * 1_048_576;

const entityTypes: Readonly<Record<Exclude<Style["kind"], "link">, Entity["type"]>> = {
  bold: "bold",
  italic: "italic",
  strike: "strikethrough",
  code: "code",
  pre: "pre",
  quote: "blockquote",
};

/** Formatting is sent as entities, apart from the plain text, so nothing is escaped and no text can break it. */
export function renderParts(message: OutboundMessage): readonly Part[] {
  const opinion = opinionButtonsOf(message);
  const refersTo = message.refersTo?.externalId ?? undefined;
  const parts = partsOf(message);
  const extended = (part: Part, more: Partial<TelegramPart>): Part => ({
    ...part,
    payload: { ...(part.payload as TelegramPart), ...more },
  });
  return parts.map((part, at) =>
    extended(part, {
      ...(at === 0 && refersTo !== undefined ? { refersTo } : {}),
      ...(at === parts.length - 1 && opinion !== undefined ? { opinion } : {}),
    }),
  );
}

function partsOf({ role, authorName, markdown, sources, files = [], filesApart }: OutboundMessage): readonly Part[] {
  const name: readonly Run[] =
    role === "agent" && authorName !== null ? [{ text: `${authorName}:\n`, styles: [{ kind: "bold" }] }] : [];
  const runs = [...name, ...withAddresses(styledText(markdown, sources), isNoLink)];
  const [first, ...rest] = files;
  const captions = first === undefined ? [] : split(runs, captionMax);
  // A short text becomes the first file's caption; a longer one is sent before the file.
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

/** The text's length before the first entity above the limit. */
const lengthForEntities = (runs: readonly Run[]): number => entitiesOf(runs)[entitiesMax]?.offset ?? Infinity;

/**
 * Telegram links only to hosts with a dot in their name, and opens e-mail addresses as web pages. It detects addresses in
 * plain text by itself.
 */
function isNoLink(href: string): boolean {
  const { protocol, hostname } = new URL(href);
  return protocol === "mailto:" || !/[.:]/.test(hostname);
}

function filePart(file: OutboundFile, caption: readonly Run[]): Part {
  const payload: TelegramPart = { text: textOf(caption), entities: entitiesOf(caption), file };
  return { text: [payload.text, `[${file.name}]`].filter((text) => text !== "").join("\n"), payload };
}

/** Merges a style of adjacent runs into one entity. Entities nest, and never overlap in part. */
function entitiesOf(runs: readonly Run[]): readonly Entity[] {
  const entities: Entity[] = [];
  /** The open entities, outermost first: their style, and their index in the result. */
  const open: { readonly key: string; readonly at: number }[] = [];
  let offset = 0;
  for (const { text, styles } of runs) {
    const { length } = text;
    const pending = new Map(allowedTogether(styles).map((style) => [keyOf(style), style]));
    // The end of an entity closes all inside it; those that continue are reopened.
    const ends = open.findIndex(({ key }) => !pending.has(key));
    if (ends >= 0) open.length = ends;
    for (const { key, at } of open) {
      const entity = entities[at];
      if (entity !== undefined) entities[at] = { ...entity, length: entity.length + length };
      pending.delete(key);
    }
    for (const [key, style] of pending) {
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
 * The Bot API permits each kind once, and nothing together with code. For code that is a link, the link is kept: its target
 * matters more than its look.
 */
function allowedTogether(given: readonly Style[]): readonly Style[] {
  const isLink = given.some(({ kind }) => kind === "link");
  const styles = isLink ? given.filter(({ kind }) => kind !== "code") : given;
  const code = styles.find(({ kind }) => kind === "pre") ?? styles.find(({ kind }) => kind === "code");
  if (code !== undefined) return [code];
  return styles.filter(({ kind }, at) => styles.findIndex((other) => other.kind === kind) === at);
}
