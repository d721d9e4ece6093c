import type { Run, Style } from "#channels/text/styled-text.ts";

/** Escapes text. Without these three characters Slack reads no `<!here>`, `<@U…>` or `<url|label>` in it. */
export function escapeText(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

/** Takes our markup and escaped text; `verbatim` stops Slack from detecting links and mentions. */
export const mrkdwnObject = (text: string) => ({ type: "mrkdwn", text, verbatim: true }) as const;

export function unescapeText(text: string): string {
  return text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
}

const signs: Readonly<Partial<Record<Style["kind"], string>>> = { bold: "*", italic: "_", strike: "~", code: "`" };

/** Renders runs in Slack's markup. Markup characters in the text cannot be escaped, so such text is not formatted. */
export function mrkdwnOf(runs: readonly Run[]): string {
  let result = "";
  for (const { text, styles } of runs) {
    if (styles.some(({ kind }) => kind === "pre")) {
      result += `\`\`\`${escapeText(text)}\`\`\``;
      continue;
    }
    const quoted = styles.some(({ kind }) => kind === "quote");
    const lines = text.split("\n").map((line, at) => {
      const atStart = at > 0 || result === "" || result.endsWith("\n");
      return `${quoted && atStart ? ">" : ""}${markedLine(line, styles)}`;
    });
    result += lines.join("\n");
  }
  return result;
}

/** Slack ignores marks that span lines or touch a space on the inside. */
function markedLine(line: string, styles: readonly Style[]): string {
  const [, before = "", core = "", after = ""] = /^(\s*)(.*?)(\s*)$/su.exec(line) ?? [];
  if (core === "") return line;
  const link = styles.find((style) => style.kind === "link");
  let marked = link === undefined ? escapeText(core) : `<${linkTarget(link.href)}|${escapeText(core)}>`;
  for (const { kind } of styles) {
    const sign = signs[kind];
    if (sign !== undefined && !core.includes(sign) && !marked.startsWith(sign)) marked = `${sign}${marked}${sign}`;
  }
  return `${before}${marked}${after}`;
}

/** Escapes the characters that would end an address or start its label. */
function linkTarget(href: string): string {
  return escapeText(href.replaceAll("<", "%3C").replaceAll(">", "%3E").replaceAll("|", "%7C"));
}

/** The names that replace ids in customers' text. */
export interface Names {
  /** Names by user id. */
  readonly users: ReadonlyMap<string, string>;
  /** Unicode characters by emoji name. */
  readonly emoji: ReadonlyMap<string, string>;
}

/** Converts Slack's text to what its writer saw: without markup, with names in place of ids. */
export function plainText(text: string, names: Names): string {
  let result = "";
  let end = 0;
  for (const match of text.matchAll(/<([^<>]*)>/g)) {
    result += withEmoji(unescapeText(text.slice(end, match.index)), names);
    result += entityText(match[1] ?? "", names);
    end = match.index + match[0].length;
  }
  return result + withEmoji(unescapeText(text.slice(end)), names);
}

function entityText(entity: string, names: Names): string {
  const bar = entity.indexOf("|");
  const target = unescapeText(bar < 0 ? entity : entity.slice(0, bar));
  const label = bar < 0 ? "" : unescapeText(entity.slice(bar + 1));
  const rest = target.slice(1);
  switch (target[0]) {
    case "@":
      return `@${names.users.get(rest) ?? (label === "" ? rest : label.replace(/^@/, ""))}`;
    case "#":
      return `#${label === "" ? rest : label.replace(/^#/, "")}`;
    case "!":
      return specialText(rest, label);
    default:
      return linkText(target, label);
  }
}

/** `!here`, `!subteam^S012`, `!date^1392734382^…`. */
function specialText(command: string, label: string): string {
  if (label !== "") return label;
  const [name = ""] = command.split("^");
  return `@${name}`;
}

function linkText(address: string, label: string): string {
  const bare = address.replace(/^(?:mailto|tel):/i, "");
  if (label === "" || label === address || label === bare) return bare;
  // Slack detects addresses in plain text and links them.
  return bare.replace(/^https?:\/\//i, "").replace(/\/$/, "") === label ? label : `${label} (${bare})`;
}

function withEmoji(text: string, { emoji }: Names): string {
  if (emoji.size === 0) return text;
  return text.replaceAll(
    /:([a-z0-9_+'-]{1,100}(?:::skin-tone-[2-6])?):/g,
    (all, name: string) => emoji.get(name) ?? all,
  );
}

/** The user ids mentioned in a text. */
export function namedUsers(text: string): readonly string[] {
  return [...new Set([...text.matchAll(/<@([UW][A-Z0-9]{1,30})(?:\|[^<>]*)?>/g)].map((match) => match[1] ?? ""))];
}

/** Reads a message's emoji from its blocks; its text contains only their names. */
export function emojiOf(blocks: readonly unknown[]): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  let looked = 0;
  const rest: unknown[] = [...blocks];
  // Limits the search in huge blocks; an emoji that is not found keeps its name.
  for (let node = rest.pop(); node !== undefined && looked < 5_000; node = rest.pop()) {
    looked += 1;
    if (typeof node !== "object" || node === null) continue;
    const { type, name, unicode, skin_tone: tone, elements } = node as Readonly<Record<string, unknown>>;
    if (type === "emoji" && typeof name === "string" && typeof unicode === "string") {
      const sign = signOf(unicode);
      if (sign !== undefined) found.set(typeof tone === "number" ? `${name}::skin-tone-${tone}` : name, sign);
    }
    if (Array.isArray(elements)) rest.push(...(elements as unknown[]).slice(0, 5_000));
  }
  return found;
}

function signOf(unicode: string): string | undefined {
  if (!/^[0-9a-f]{1,6}(?:-[0-9a-f]{1,6}){0,15}$/i.test(unicode)) return undefined;
  const points = unicode.split("-").map((hex) => Number.parseInt(hex, 16));
  if (points.some((point) => point > 0x10_ff_ff || (point >= 0xd8_00 && point <= 0xdf_ff))) return undefined;
  return String.fromCodePoint(...points);
}
