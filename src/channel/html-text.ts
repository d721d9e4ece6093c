import { Parser } from "htmlparser2";

const blocks = new Set(
  "p div section article header footer h1 h2 h3 h4 h5 h6 ul ol table tr blockquote pre hr address form dl dt dd center".split(
    " ",
  ),
);
const silent = new Set("style script head title template noscript svg".split(" "));
/** Ends of what comes out of it. */
const textMax = 400_000;

/** What mail programs put around what was written before. */
function isQuote(name: string, { id = "", class: classes = "", type }: Readonly<Record<string, string>>): boolean {
  if (name === "blockquote")
    return type === "cite" || /\b(?:gmail_quote|tutanota_quote|protonmail_quote)\b/.test(classes);
  if (
    /\b(?:gmail_quote|yahoo_quoted|moz-cite-prefix|protonmail_quote|tutanota_quote|zmail_extra|gmail_attr)\b/.test(
      classes,
    )
  )
    return true;
  return (
    id === "appendonsend" ||
    id === "divRplyFwdMsg" ||
    id === "OLK_SRC_BODY_SECTION" ||
    id === "mail-editor-reference-message-container"
  );
}

const signatureClasses = /\b(?:gmail_signature|moz-signature|protonmail_signature_block|Signature)\b/;

/** What follows these is the earlier mail, to the end. */
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
  const parser = new Parser(
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
    { decodeEntities: true, lowerCaseTags: true, recognizeSelfClosing: false },
  );
  parser.end(html);
  return { text: whole.text(), written: written.text() };
}

/** The addresses of the pictures in it, each once, in order. */
export function htmlPictures(html: string): readonly string[] {
  const found = new Set<string>();
  const parser = new Parser(
    {
      onopentag(name, { src }) {
        if (name === "img" && src !== undefined) found.add(src);
      },
    },
    { decodeEntities: true, lowerCaseTags: true },
  );
  parser.end(html);
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
  let size = 0;
  const push = (): void => {
    if (size < textMax) done.push(line.trimEnd());
    size += line.length + 1;
    line = "";
  };
  return {
    put(text) {
      if (size + line.length > textMax) return;
      line += line === "" || line.endsWith(" ") ? text.trimStart() : text;
    },
    raw(text) {
      for (const [index, part] of text.split("\n").entries()) {
        if (index > 0) push();
        if (size + line.length <= textMax) line += part.replace(/\r$/, "");
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
