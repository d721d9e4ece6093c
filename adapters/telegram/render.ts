import type { OutboundMessage, Part } from "#channel/contract.ts";
import type { Run, Style } from "#channel/styled-text.ts";
import { splitRuns, styledText, textOf } from "#channel/styled-text.ts";

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
}

const entityTypes: Readonly<Record<Exclude<Style["kind"], "link">, Entity["type"]>> = {
  bold: "bold",
  italic: "italic",
  strike: "strikethrough",
  code: "code",
  pre: "pre",
  quote: "blockquote",
};

/** Telegram takes a text and, apart from it, what is marked in it: nothing has to be escaped, and nothing can break. */
export function renderParts({ role, authorName, markdown, sources }: OutboundMessage): readonly Part[] {
  const name: readonly Run[] =
    role === "agent" && authorName !== null ? [{ text: `${authorName}:\n`, styles: [{ kind: "bold" }] }] : [];
  return splitRuns([...name, ...styledText(markdown, sources)], textMax).map((runs) => {
    const payload: TelegramPart = { text: textOf(runs), entities: entitiesOf(runs) };
    return { text: payload.text, payload };
  });
}

function entitiesOf(runs: readonly Run[]): readonly Entity[] {
  const entities: Entity[] = [];
  let offset = 0;
  for (const { text, styles } of runs) {
    for (const style of allowedTogether(styles)) {
      const { length } = text;
      if (style.kind === "link") entities.push({ type: "text_link", offset, length, url: style.href });
      else entities.push({ type: entityTypes[style.kind], offset, length });
    }
    offset += text.length;
  }
  return joined(entities);
}

/** Code can have no other mark on it, and a kind can stand only once. */
function allowedTogether(styles: readonly Style[]): readonly Style[] {
  const code = styles.find(({ kind }) => kind === "pre") ?? styles.find(({ kind }) => kind === "code");
  if (code !== undefined) return [code];
  return styles.filter(({ kind }, at) => styles.findIndex((other) => other.kind === kind) === at);
}

/** A mark that goes on in the next stretch is one. */
function joined(entities: readonly Entity[]): readonly Entity[] {
  const open = new Map<string, Entity>();
  const result: Entity[] = [];
  for (const entity of entities) {
    const key = `${entity.type} ${entity.url ?? ""}`;
    const before = open.get(key);
    const longer =
      before !== undefined && before.offset + before.length === entity.offset
        ? { ...before, length: before.length + entity.length }
        : undefined;
    if (before !== undefined && longer !== undefined) result[result.indexOf(before)] = longer;
    else result.push(entity);
    open.set(key, longer ?? entity);
  }
  return result;
}
