import type { OutboundMessage } from "#channels/contract.ts";
import type { Part } from "#channels/inbound-event.ts";
import type { Block, Cell, Inline } from "#channels/text/markdown.ts";
import { safeHref, safeTree } from "#channels/text/markdown.ts";
import { styledText, textOf, withAddresses, withQuoteMarks } from "#channels/text/styled-text.ts";
import type { Source } from "#domain/conversation/message.ts";
import { escapeHtml } from "#channels/text/escape-html.ts";
import type { MailRecord } from "./inbound/record.ts";

/** The stored payload of one mail. */
export interface MailPart {
  readonly text: string;
  readonly html: string;
  readonly role: "assistant" | "agent";
  readonly author: string | null;
  readonly files: readonly { readonly id: string; readonly name: string; readonly mediaType: string }[];
}

/** Renders one part for each message: mails have no length limit. */
export function renderMail({ role, authorName, markdown, sources, files = [] }: OutboundMessage): readonly Part[] {
  const signature = role === "agent" && authorName !== null ? authorName : null;
  const runs = styledText(markdown, sources);
  const body = textOf(runs);
  const written = textOf(withQuoteMarks(withAddresses(runs)));
  const payload: MailPart = {
    text: signature === null ? written : `${written}\n\n-- \n${signature}`,
    html: htmlOf(markdown, sources, signature),
    role,
    author: authorName,
    files: files.map(({ id, name, mediaType }) => ({ id, name, mediaType })),
  };
  return [{ text: body, payload }];
}

/** Longer mails are quoted up to here. */
const quotedMax = 8_000;

export interface CustomersMail {
  readonly record: MailRecord;
  /** With what it quotes itself, as far as it was kept. Empty where the message was deleted. */
  readonly text: string;
  /** Epoch milliseconds. */
  readonly at: number;
}

/** An agent's mail with the customer's below it, as mail programs write it: in every thread people look there for what was said. */
export function withQuotedMail(
  mail: Pick<MailPart, "text" | "html" | "role">,
  answered: CustomersMail | undefined,
): Pick<MailPart, "text" | "html"> {
  const { text, html } = mail;
  if (mail.role !== "agent" || answered === undefined || answered.text === "") return { text, html };
  const quoted =
    answered.text.length > quotedMax ? `${answered.text.slice(0, quotedMax).toWellFormed()}…` : answered.text;
  // In no language: the customer's is not known for certain.
  const head = `${new Date(answered.at).toISOString().slice(0, 16).replace("T", " ")} UTC, <${answered.record.from}>:`;
  const lines = quoted.split("\n").map((line) => (line.startsWith(">") ? `>${line}` : `> ${line}`.trimEnd()));
  const block = `<div class="gmail_quote"><p>${escapeHtml(head)}</p>\n<blockquote type="cite" style="border-left:1px solid #d0d7de;margin:0;padding-left:12px;white-space:pre-wrap">${escapeHtml(quoted)}</blockquote></div>`;
  return {
    text: `${text}\n\n${head}\n${lines.join("\n")}`,
    html: html.replace(/\n<\/body><\/html>$/u, () => `\n${block}\n</body></html>`),
  };
}

function htmlOf(markdown: string, sources: readonly Source[], signature: string | null): string {
  const body = safeTree(markdown).map(blockHtml).join("\n");
  const signed = signature === null ? "" : `\n<p style="color:#57606a">${escapeHtml(signature)}</p>`;
  return `<!doctype html>\n<html><body style="font-family:system-ui,sans-serif;font-size:15px;line-height:1.5">\n${body}${sourcesHtml(sources)}${signed}\n</body></html>`;
}

function sourcesHtml(sources: readonly Source[]): string {
  const documents = new Map<string, string>();
  for (const { title, url } of sources) {
    const href = safeHref(url);
    const name = escapeHtml(title || url);
    documents.set(href ?? title, href === undefined ? name : `<a href="${escapeHtml(href)}">${name}</a>`);
  }
  if (documents.size === 0) return "";
  const items = [...documents.values()].map((each) => `<li>${each}</li>`).join("");
  return `\n<p><strong>Sources:</strong></p>\n<ol>${items}</ol>`;
}

function blockHtml(block: Block): string {
  switch (block.t) {
    case "p":
      return `<p>${inlineHtml(block.c)}</p>`;
    case "h":
      return `<h${block.level}>${inlineHtml(block.c)}</h${block.level}>`;
    case "ul":
      return `<ul>${block.items.map((item) => `<li>${item.map(blockHtml).join("")}</li>`).join("")}</ul>`;
    case "ol":
      return `<ol start="${block.start}">${block.items.map((item) => `<li>${item.map(blockHtml).join("")}</li>`).join("")}</ol>`;
    case "quote":
      return `<blockquote style="border-left:3px solid #d0d7de;margin:0;padding-left:12px">${block.c.map(blockHtml).join("")}</blockquote>`;
    case "pre":
      return `<pre style="background:#f6f8fa;padding:8px;white-space:pre-wrap">${escapeHtml(block.text)}</pre>`;
    case "table":
      return `<table border="1" cellpadding="6" style="border-collapse:collapse"><tr>${block.head.map((cell) => cellHtml("th", cell)).join("")}</tr>${block.rows
        .map((row) => `<tr>${row.map((cell) => cellHtml("td", cell)).join("")}</tr>`)
        .join("")}</table>`;
    case "hr":
      return "<hr>";
  }
}

const cellHtml = (tag: "td" | "th", cell: Cell): string => `<${tag}>${inlineHtml(cell)}</${tag}>`;

function inlineHtml(inlines: readonly Inline[]): string {
  return inlines
    .map((inline) => {
      if (typeof inline === "string") return escapeHtml(inline);
      switch (inline.t) {
        case "b":
          return `<strong>${inlineHtml(inline.c)}</strong>`;
        case "i":
          return `<em>${inlineHtml(inline.c)}</em>`;
        case "s":
          return `<s>${inlineHtml(inline.c)}</s>`;
        case "code":
          return `<code>${escapeHtml(inline.text)}</code>`;
        case "br":
          return "<br>";
        case "a":
          return `<a href="${escapeHtml(inline.href)}">${inlineHtml(inline.c)}</a>`;
      }
    })
    .join("");
}
