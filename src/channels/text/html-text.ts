import type { Handler } from "htmlparser2";
import { Parser } from "htmlparser2";

const blocks = new Set(
  "p div section article header footer h1 h2 h3 h4 h5 h6 ul ol table tr blockquote pre hr address form dl dt dd center".split(
    " ",
  ),
);
const silent = new Set("style script head title template noscript svg".split(" "));
/** Ends of what comes out of it. */
const textMax = 400_000;
/** The parser's time for a tag grows with what is open around it. Nobody nests as deep, and broken pages leave much open. */
const depthMax = 500;

class TooDeepError extends Error {}

/** Parses in time that grows with the length alone: what lies too deep is read as if nothing were open around it. */
function parseFlat(html: string, handler: Partial<Handler>, tooDeep: () => boolean): void {
  for (let at = 0; at < html.length;) {
    const parser = new Parser(
      {
        ...handler,
        onopentag(name, attributes, implied) {
          handler.onopentag?.(name, attributes, implied);
          if (tooDeep()) throw new TooDeepError();
        },
      },
      { decodeEntities: true, lowerCaseTags: true, recognizeSelfClosing: false },
    );
    try {
      parser.end(html.slice(at));
      return;
    } catch (error) {
      if (!(error instanceof TooDeepError)) throw error;
      at += parser.endIndex + 1;
    }
  }
}

/** Elements that mail programs put around quoted text. */
function isQuote(name: string, { id = "", class: classes = "", type }: Readonly<Record<string, string>>): boolean {
  if (name === "blockquote")
    return type === "cite" || /\b(?:gmail_quote|tutanota_quote|protonmail_quote)\b/.test(classes);
  // Around Gmail's quotes stands an element of this class too, in which answers between the quotes are.
  if (/\b(?:yahoo_quoted|moz-cite-prefix|protonmail_quote|tutanota_quote|zmail_extra|gmail_attr)\b/.test(classes))
    return true;
  return (
    id === "appendonsend" ||
    id === "divRplyFwdMsg" ||
    id === "OLK_SRC_BODY_SECTION" ||
    id === "mail-editor-reference-message-container"
  );
}

const signatureClasses = /\b(?:gmail_signature|moz-signature|protonmail_signature_block|Signature)\b/;

/** After these lines the rest is the earlier mail. */
const endsAll = new Set(["appendonsend", "divRplyFwdMsg"]);

export interface HtmlText {
  /** Everything that a reader sees, quoted parts with `> ` before each line. */
  readonly text: string;
  /** Without what mail programs mark as quoted or as a signature. */
  readonly written: string;
}

/** HTML of mails and of chats as text, in one pass, however deep or broken it is. */
export function htmlText(html: string): HtmlText {
  const whole = createLines();
  const written = createLines();
  let silentDepth = 0;
  let quoteDepth = 0;
  let cut = false;
  let preDepth = 0;
  const open: { readonly name: string; readonly quote: boolean; readonly href: string | undefined; label: string }[] =
    [];
  const each = (put: (lines: Lines) => void): void => {
    put(whole);
    if (quoteDepth === 0 && !cut) put(written);
  };
  parseFlat(
    html,
    {
      onopentag(name, attributes) {
        if (silent.has(name)) silentDepth += 1;
        const quote = isQuote(name, attributes) || signatureClasses.test(attributes["class"] ?? "");
        if (endsAll.has(attributes["id"] ?? "")) cut = true;
        if (quote) quoteDepth += 1;
        if (name === "pre") preDepth += 1;
        if (blocks.has(name)) each((lines) => lines.end());
        if (name === "br") each((lines) => lines.newline());
        if (name === "li") each((lines) => (lines.end(), lines.put("- ")));
        if (name === "td" || name === "th") each((lines) => lines.put(" "));
        if (name === "p" || /^h[1-6]$/.test(name)) each((lines) => lines.gap());
        if (name === "img" && silentDepth === 0) {
          const alt = (attributes["alt"] ?? "").trim();
          if (alt !== "" && (attributes["src"] ?? "").startsWith("cid:"))
            each((lines) => lines.put(`[${alt.slice(0, 200)}]`));
        }
        // Void elements are closed by the parser as well.
        open.push({ name, quote, href: name === "a" ? attributes["href"] : undefined, label: "" });
      },
      ontext(text) {
        if (silentDepth > 0) return;
        const shown = preDepth > 0 ? text : text.replaceAll(/[ \t\r\n\f]+/g, " ");
        const last = open.at(-1);
        if (last?.href !== undefined) last.label += shown;
        each((lines) => (preDepth > 0 ? lines.raw(shown) : lines.put(shown)));
      },
      onclosetag(name) {
        const closed = open.pop();
        if (silent.has(name)) silentDepth = Math.max(0, silentDepth - 1);
        if (name === "pre") preDepth = Math.max(0, preDepth - 1);
        const href = closed?.href;
        if (
          href !== undefined &&
          /^https?:\/\//i.test(href) &&
          closed?.label.trim() !== href &&
          (closed?.label.trim() ?? "") !== ""
        )
          each((lines) => lines.put(` (${href.slice(0, 2_000)})`));
        if (name === "p" || /^h[1-6]$/.test(name)) each((lines) => lines.gap());
        else if (blocks.has(name) || name === "li") each((lines) => lines.end());
        if (closed?.quote === true) {
          if (quoteDepth === 1) written.end();
          quoteDepth = Math.max(0, quoteDepth - 1);
        }
      },
    },
    () => {
      if (open.length < depthMax) return false;
      open.length = 0;
      return true;
    },
  );
  return { text: whole.text(), written: written.text() };
}

/** The addresses of the pictures in it, each once, in order. */
export function htmlPictures(html: string): readonly string[] {
  const found = new Set<string>();
  let depth = 0;
  parseFlat(
    html,
    {
      onopentag(name, { src }) {
        depth += 1;
        if (name === "img" && src !== undefined) found.add(src);
      },
      onclosetag: () => void (depth -= 1),
    },
    () => {
      if (depth < depthMax) return false;
      depth = 0;
      return true;
    },
  );
  return [...found];
}

interface Lines {
  put(text: string): void;
  raw(text: string): void;
  newline(): void;
  /** Ends the line, if there is one. */
  end(): void;
  gap(): void;
  text(): string;
}

function createLines(): Lines {
  const done: string[] = [];
  let line = "";
  /** Whether the line ends so. Looking at a long line each time that it grows would copy it. */
  let spaced = false;
  let size = 0;
  const push = (): void => {
    if (size < textMax) done.push(line.trimEnd());
    size += line.length + 1;
    line = "";
  };
  return {
    put(text) {
      if (size + line.length > textMax) return;
      const more = line === "" || spaced ? text.trimStart() : text;
      if (more === "") return;
      line += more;
      spaced = more.endsWith(" ");
    },
    raw(text) {
      for (const [index, part] of text.split("\n").entries()) {
        if (index > 0) push();
        if (size + line.length > textMax) continue;
        line += part.replace(/\r$/, "");
        spaced = part === "" ? spaced : part.endsWith(" ");
      }
    },
    newline: push,
    end() {
      if (line.trim() !== "") push();
      else line = "";
    },
    gap() {
      if (line.trim() !== "") push();
      if (done.length > 0 && done.at(-1) !== "") done.push("");
    },
    text() {
      if (line.trim() !== "") push();
      const kept: string[] = [];
      for (const each of done) if (each !== "" || (kept.length > 0 && kept.at(-1) !== "")) kept.push(each);
      while (kept.at(-1) === "") kept.pop();
      return kept
        .join("\n")
        .replaceAll(/[\u200B\uFEFF\u00AD]/g, "")
        .replaceAll("\u00A0", " ");
    },
  };
}
