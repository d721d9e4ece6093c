import type { Block, Inline } from "../../../src/channel/markdown.ts";
import type { MessageFrame } from "../frames.ts";
import { el, icon } from "./dom.ts";
import type { Strings } from "./strings.ts";

/**
 * The safe tree as elements. The server has checked each address; it is checked again, for this is the last place where
 * it can be.
 */
export function blocks(tree: readonly Block[], strings: Strings): Node[] {
  return tree.map((block) => {
    switch (block.t) {
      case "p":
        return el("p", {}, ...inlines(block.c, strings));
      case "h":
        // The page has its own headings; these are read as such, below the chat's.
        return el(
          "p",
          { class: "heading", role: "heading", "aria-level": String(Math.min(6, block.level + 2)) },
          ...inlines(block.c, strings),
        );
      case "ul":
        return el("ul", {}, ...block.items.map((item) => el("li", {}, ...blocks(item, strings))));
      case "ol":
        return el(
          "ol",
          { start: String(block.start) },
          ...block.items.map((item) => el("li", {}, ...blocks(item, strings))),
        );
      case "quote":
        return el("blockquote", {}, ...blocks(block.c, strings));
      case "pre":
        return el("pre", { tabindex: "0", dir: "ltr" }, el("code", {}, block.text));
      case "table": {
        const row = (tag: "th" | "td", cells: readonly (readonly Inline[])[]): Node =>
          el("tr", {}, ...cells.map((cell) => el(tag, {}, ...inlines(cell, strings))));
        const table = el(
          "table",
          {},
          el("thead", {}, row("th", block.head)),
          el("tbody", {}, ...block.rows.map((cells) => row("td", cells))),
        );
        return el("div", { class: "scroll", tabindex: "0" }, table);
      }
      case "hr":
        return el("hr");
    }
  });
}

function inlines(tree: readonly Inline[], strings: Strings): Node[] {
  return tree.map((inline) => {
    if (typeof inline === "string") return document.createTextNode(inline);
    switch (inline.t) {
      case "b":
        return el("strong", {}, ...inlines(inline.c, strings));
      case "i":
        return el("em", {}, ...inlines(inline.c, strings));
      case "s":
        return el("s", {}, ...inlines(inline.c, strings));
      case "code":
        return el("code", {}, inline.text);
      case "br":
        return el("br");
      case "a":
        return link(inline.href, strings, {}, ...inlines(inline.c, strings));
    }
  });
}

function link(
  href: string,
  strings: Strings,
  attributes: Readonly<Record<string, string>>,
  ...children: readonly Node[]
): HTMLElement {
  if (!/^(?:https?|mailto):/iu.test(href)) return el("span", attributes, ...children);
  const newTab = !href.startsWith("mailto:");
  return el(
    "a",
    { ...attributes, href, rel: "noopener noreferrer nofollow", ...(newTab ? { target: "_blank" } : {}) },
    ...children,
    newTab && el("span", { class: "hidden" }, ` (${strings.newTab})`),
  );
}

interface Shown {
  readonly title: string;
  readonly url: string;
  readonly texts: readonly string[];
}

/** Each document once, in the order of relevance. Without an address, its passages unfold in place. */
export function sources(list: MessageFrame["sources"], label: string, strings: Strings): HTMLElement | undefined {
  if (list.length === 0) return undefined;
  const documents = new Map<string, Shown>();
  for (const { title, url, chunk } of list) {
    const key = url === "" ? `title:${title}` : url;
    documents.set(key, { title, url, texts: [...(documents.get(key)?.texts ?? []), chunk] });
  }
  const entries = [...documents.values()].map(({ title, url, texts }, index) => {
    const number = el("span", { class: "number", "aria-hidden": "true" }, String(index + 1));
    if (/^https?:/iu.test(url) && URL.canParse(url)) {
      const place = new URL(url);
      return link(
        url,
        strings,
        { class: "source", title: url },
        number,
        el("span", { class: "what", dir: "auto" }, title || place.hostname),
        el("span", { class: "where", "aria-hidden": "true" }, icon("out")),
      );
    }
    return el(
      "details",
      { class: "passage" },
      el(
        "summary",
        { class: "source" },
        number,
        el("span", { class: "what", dir: "auto" }, title),
        el("span", { class: "where", "aria-hidden": "true" }, icon("down")),
      ),
      ...texts.map((text) => el("p", { dir: "auto" }, text)),
    );
  });
  return el(
    "div",
    { class: "sources", role: "group", "aria-label": label },
    el("span", { class: "label", "aria-hidden": "true" }, label),
    el("ul", {}, ...entries.map((entry) => el("li", {}, entry))),
  );
}
