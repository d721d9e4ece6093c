import type { OutboundFile, OutboundMessage } from "#channels/contract.ts";
import type { Part } from "#channels/inbound-event.ts";
import type { OpinionButtons } from "#channels/opinion-buttons.ts";
import { opinionButtonsOf } from "#channels/opinion-buttons.ts";
import type { Run, Style } from "#channels/text/styled-text.ts";
import { splitRuns, styledText, textOf } from "#channels/text/styled-text.ts";
import { escapeText, mrkdwnOf } from "./messages/mrkdwn.ts";

/** Slack's recommended limit of a message, escapes included. It silently truncates at 40,000. */
export const textMax = 4_000;

/** Markup and addresses lengthen the text; above this limit it is sent without them. */
const fallbackMax = 12_000;

export type SlackPart =
  | {
      readonly kind: "text";
      readonly text: string;
      readonly blocks: readonly RichText[];
      /** Absent: no buttons, or a part of an earlier version. */
      readonly opinion?: OpinionButtons;
    }
  | { readonly kind: "file"; readonly file: OutboundFile; readonly comment: string };

/** Formatted text as blocks: nothing is escaped, and no text can become a mention. */
export interface RichText {
  readonly type: "rich_text";
  readonly block_id?: string;
  readonly elements: readonly RichTextElement[];
}

interface RichTextElement {
  readonly type: "rich_text_section" | "rich_text_quote" | "rich_text_preformatted";
  readonly elements: readonly RichTextPiece[];
}

type RichTextPiece =
  | { readonly type: "text"; readonly text: string; readonly style?: PieceStyle }
  | { readonly type: "link"; readonly url: string; readonly text: string; readonly style?: PieceStyle };

interface PieceStyle {
  readonly bold?: true;
  readonly italic?: true;
  readonly strike?: true;
  readonly code?: true;
}

export function renderParts(message: OutboundMessage): readonly Part[] {
  const { role, authorName, markdown, sources, files = [] } = message;
  const opinion = opinionButtonsOf(message);
  const name = role === "agent" && authorName !== null ? authorName : undefined;
  const heading: readonly Run[] = name === undefined ? [] : [{ text: `${name}:\n`, styles: [{ kind: "bold" }] }];
  const body = styledText(markdown, sources);
  const texts = body.length === 0 ? [] : splitRuns([...heading, ...body], textMax, (text) => escapeText(text).length);
  return [
    ...texts.map((runs, at): Part => {
      const buttons = opinion !== undefined && at === texts.length - 1 ? { opinion } : {};
      const payload: SlackPart = { kind: "text", text: fallbackText(runs), blocks: [richText(runs)], ...buttons };
      return { text: textOf(runs), payload };
    }),
    ...files.map((file): Part => {
      const payload: SlackPart = {
        kind: "file",
        file,
        comment: name === undefined ? file.name : `${name}: ${file.name}`,
      };
      return { text: `[file: ${file.name}]`, payload };
    }),
  ];
}

/** The text for notifications, and for clients without blocks. */
function fallbackText(runs: readonly Run[]): string {
  const marked = mrkdwnOf(runs);
  return marked.length <= fallbackMax ? marked : escapeText(textOf(runs));
}

export function richText(runs: readonly Run[], blockId?: string): RichText {
  const elements: { type: RichTextElement["type"]; elements: RichTextPiece[] }[] = [];
  for (const { text, styles } of runs) {
    const type = elementOf(styles);
    const last = elements.at(-1);
    const piece = pieceOf(text, type === "rich_text_preformatted" ? [] : styles);
    if (last?.type === type) last.elements.push(piece);
    else elements.push({ type, elements: [piece] });
  }
  return { type: "rich_text", ...(blockId === undefined ? {} : { block_id: blockId }), elements };
}

function elementOf(styles: readonly Style[]): RichTextElement["type"] {
  if (styles.some(({ kind }) => kind === "pre")) return "rich_text_preformatted";
  return styles.some(({ kind }) => kind === "quote") ? "rich_text_quote" : "rich_text_section";
}

function pieceOf(text: string, styles: readonly Style[]): RichTextPiece {
  const style: PieceStyle = Object.fromEntries(
    styles.flatMap(({ kind }) =>
      kind === "bold" || kind === "italic" || kind === "strike" || kind === "code" ? [[kind, true]] : [],
    ),
  );
  const shown = Object.keys(style).length === 0 ? {} : { style };
  const link = styles.find((each) => each.kind === "link");
  return link === undefined ? { type: "text", text, ...shown } : { type: "link", url: link.href, text, ...shown };
}
