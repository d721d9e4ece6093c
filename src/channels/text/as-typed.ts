import type { Blockquote, Delete, Emphasis, Heading, List, Nodes, Strong, Text } from "mdast";

/**
 * Decides whether signs are meant as formatting. People type `60*40*30`, `Dial *21*number#`, `# of boxes` and
 * `+ 5 euros`: such text must arrive as it was typed, on every channel.
 */
export interface AsTyped {
  /** The signs before the content of an element, such as `**` or `- `; empty: they are meant as formatting. */
  openedBy(node: Strong | Emphasis | Delete | Heading | Blockquote): string;
  /** The sign of each item of an outermost list that is none, such as `+ `; undefined: it is a list. */
  itemsOf(node: List): readonly string[] | undefined;
  /** The text, with the backslashes of paths. */
  textOf(node: Text): string;
}

/** Languages that write no spaces between words, or put endings at them, format parts of what looks like one word. */
const joined = String.raw`\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}`;
const wordEnd = new RegExp(String.raw`[[\p{L}\p{N}]--[${joined}]]$`, "v");
const wordStart = new RegExp(String.raw`^[[\p{L}\p{N}]--[${joined}]]`, "v");

/** `C:\temp\_old`, `\\server\share` and a shrug. Escaped text has no single backslash before a letter or digit. */
const backslashed =
  /(?:\b[A-Za-z]:\\(?=[\p{L}\p{N}]|\S{0,300}(?<!\\)\\[\p{L}\p{N}])|(?<![^\s("'])\\\\(?=[\p{L}\p{N}]\S{0,300}(?<!\\)\\[\p{L}\p{N}]))\S*|¯\\_(?=\(ツ\))/gu;
const escape = /\\([!-/:-@[-`{-~])/gu;

export function createAsTyped(source: string): AsTyped {
  const startOf = (node: Nodes): number => node.position?.start.offset ?? 0;
  const endOf = (node: Nodes): number => node.position?.end.offset ?? 0;
  const textIn = (from: number, to: number): string => source.slice(from, to);

  function signsOf(node: Nodes & { readonly children: readonly Nodes[] }): string {
    const [first] = node.children;
    return first === undefined ? textIn(startOf(node), endOf(node)) : textIn(startOf(node), startOf(first));
  }

  /** Stars within a word or a number, or around no letter, are none; `__init__` is a name. */
  function isEmphasis(node: Strong | Emphasis | Delete): boolean {
    const [before, after] = [textIn(startOf(node) - 2, startOf(node)), textIn(endOf(node), endOf(node) + 2)];
    const written = textIn(startOf(node), endOf(node));
    if (wordEnd.test(before) || wordStart.test(after) || /^__\w+__$/.test(written)) return false;
    return node.type !== "emphasis" || /\p{L}/u.test(written);
  }

  /** `# of boxes` is none: below a heading is an empty line, and two signs are no accident. */
  function isHeading(node: Heading): boolean {
    return node.depth > 1 || /^[ \t]*\r?\n[ \t]*\r?\n[ \t\r\n]*\S/.test(source.slice(endOf(node)));
  }

  return {
    openedBy(node) {
      switch (node.type) {
        case "heading":
          return isHeading(node) ? "" : signsOf(node);
        case "blockquote":
          // "> 5 kg" and ">= 5 kg".
          return /^[\d=]/.test(textIn(startOf(node) + 1, endOf(node)).trimStart()) ? signsOf(node) : "";
        default:
          return isEmphasis(node) ? "" : signsOf(node);
      }
    },
    textOf(node) {
      const typed = textIn(startOf(node), endOf(node));
      // Signs at the beginning of a line, such as those of a quote, are no part of the text.
      if (!typed.includes("\\") || typed.replaceAll(escape, "$1") !== node.value) return node.value;
      let [text, end] = ["", 0];
      for (const { 0: path, index } of typed.matchAll(backslashed)) {
        text += typed.slice(end, index).replaceAll(escape, "$1") + path;
        end = index + path.length;
      }
      return text + typed.slice(end).replaceAll(escape, "$1");
    },
    itemsOf(node) {
      const signs = node.children.map(signsOf);
      // "1." and "5." are numbers of something; "1." before every item is how lists are written.
      const first = node.start ?? 0;
      const numbers = signs.map((sign) => Number.parseInt(sign, 10));
      if (node.ordered === true && !numbers.every((number, at) => number === first || number === first + at))
        return signs;
      const isCounted = node.ordered === true && node.start === 1;
      const isNested = node.children.some((item) => item.children.some(({ type }) => type === "list"));
      const isMeant = (node.children.length > 1 || isCounted || isNested) && !signs.some((sign) => /^\+|\)/.test(sign));
      return isMeant ? undefined : signs;
    },
  };
}
