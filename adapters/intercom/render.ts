import type { OutboundFile, OutboundMessage } from "#channels/contract.ts";
import type { Part } from "#channels/inbound-event.ts";
import type { Run, Style } from "#channels/text/styled-text.ts";
import { splitRuns, styledText, textOf, withQuoteMarks } from "#channels/text/styled-text.ts";
import { escapeHtml } from "#channels/text/escape-html.ts";

/** Characters of one reply. Intercom documents no limit; this one keeps replies readable in the messenger. */
export const textMax = 7_000;
/** Files are sent inside the request as base64, which adds a third. */
export const fileBytesMax = 20 * 1_048_576;
/** Intercom's limit of files a reply. */
const filesMax = 10;

export interface IntercomPart {
  readonly html: string;
  readonly files: readonly OutboundFile[];
}

export function renderParts({ role, authorName, markdown, sources, files = [] }: OutboundMessage): readonly Part[] {
  const name: readonly Run[] =
    role === "agent" && authorName !== null ? [{ text: `${authorName}:\n`, styles: [{ kind: "bold" }] }] : [];
  const pieces = splitRuns([...name, ...withQuoteMarks(styledText(markdown, sources))], textMax);
  const groups = grouped(files);
  const texts = pieces.map((piece, index): Part => {
    // The first group of files is sent with the last piece of text.
    const along = index === pieces.length - 1 ? (groups[0] ?? []) : [];
    return partOf(textOf(piece), htmlOf(piece), along);
  });
  const rest = (pieces.length === 0 ? groups : groups.slice(1)).map((group) => {
    const names = group.map((file) => file.name).join("\n");
    return partOf(names, htmlOf([{ text: names, styles: [] }]), group);
  });
  return [...texts, ...rest];
}

function partOf(text: string, html: string, files: readonly OutboundFile[]): Part {
  const names = files.map(({ name }) => name).filter((name) => !text.includes(name));
  return { text: [text, ...names].join("\n"), payload: { html, files } satisfies IntercomPart };
}

/** Groups files by the limits of one request. */
function grouped(files: readonly OutboundFile[]): readonly (readonly OutboundFile[])[] {
  const groups: OutboundFile[][] = [];
  let bytes = 0;
  for (const file of files) {
    const last = groups.at(-1);
    if (last !== undefined && last.length < filesMax && bytes + file.bytes <= fileBytesMax) {
      last.push(file);
      bytes += file.bytes;
    } else {
      groups.push([file]);
      bytes = file.bytes;
    }
  }
  return groups;
}

const tags: Readonly<Record<Exclude<Style["kind"], "link" | "quote">, string>> = {
  bold: "strong",
  italic: "em",
  strike: "s",
  code: "code",
  pre: "pre",
};

/** The subset of HTML that Intercom shows. */
export function htmlOf(runs: readonly Run[]): string {
  return `<p>${runs.map(runHtml).join("")}</p>`;
}

function runHtml({ text, styles }: Run): string {
  const isPre = styles.some(({ kind }) => kind === "pre");
  let html = isPre ? escapeHtml(text) : lines(escapeHtml(text));
  for (const style of styles) {
    if (style.kind === "link") html = `<a href="${escapeHtml(style.href)}">${html}</a>`;
    else if (style.kind !== "quote") html = `<${tags[style.kind]}>${html}</${tags[style.kind]}>`;
  }
  return html;
}

/** Keeps the indentation of lines, such as of nested lists, which HTML would drop. */
const lines = (html: string): string =>
  html.replaceAll("\n", "<br>").replaceAll(/(^|<br>)( +)/g, (_, before: string, spaces: string) => {
    return before === "" ? spaces : before + "&nbsp;".repeat(spaces.length);
  });
