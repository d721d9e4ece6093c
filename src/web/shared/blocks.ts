import type { Block, Inline } from "#channels/text/markdown.ts";
import { el } from "./elements.ts";

/** How a page shows parsed texts. */
export interface Manner {
  /** Added to the level of a heading, because the page has headings above it. */
  readonly headingsBelow: number;
  /** Tells screen readers that a link opens in a new tab; `hidden` is the class that hides it from others. */
  readonly newTab: string;
  readonly hidden: string;
}

/**
 * The elements of a parsed text. The server has checked each address; the check is repeated in the last place where it
 * can be. Each block has the direction of its own words: a message can have Arabic and English paragraphs.
 */
export function blocks(tree: readonly Block[], manner: Manner): HTMLElement[] {
  const elements = inside(tree, manner);
  for (const element of elements) if (element.tagName !== "PRE") element.dir = "auto";
  return elements;
}

/** Elements without a direction: `dir=auto` ignores the words of elements that have one themselves. */
function inside(tree: readonly Block[], manner: Manner): HTMLElement[] {
  return tree.map((block) => {
    switch (block.t) {
      case "p":
        return el("p", {}, ...inlines(block.c, manner));
      case "h":
        return el(
          "p",
          { class: "heading", role: "heading", "aria-level": String(Math.min(6, block.level + manner.headingsBelow)) },
          ...inlines(block.c, manner),
        );
      case "ul":
        return el("ul", {}, ...block.items.map((item) => el("li", {}, ...inside(item, manner))));
      case "ol":
        return el(
          "ol",
          { start: String(block.start) },
          ...block.items.map((item) => el("li", {}, ...inside(item, manner))),
        );
      case "quote":
        return el("blockquote", {}, ...inside(block.c, manner));
      case "pre":
        return el("pre", { tabindex: "0", dir: "ltr" }, el("code", {}, block.text));
      case "table": {
        const row = (tag: "th" | "td", cells: readonly (readonly Inline[])[]): Node =>
          el("tr", {}, ...cells.map((cell) => el(tag, {}, ...inlines(cell, manner))));
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

function inlines(tree: readonly Inline[], manner: Manner): Node[] {
  return tree.map((inline) => {
    if (typeof inline === "string") return document.createTextNode(inline);
    switch (inline.t) {
      case "b":
        return el("strong", {}, ...inlines(inline.c, manner));
      case "i":
        return el("em", {}, ...inlines(inline.c, manner));
      case "s":
        return el("s", {}, ...inlines(inline.c, manner));
      case "code":
        return el("code", {}, inline.text);
      case "br":
        return el("br");
      case "a":
        return link(inline.href, manner, {}, ...inlines(inline.c, manner));
    }
  });
}

export function link(
  href: string,
  { newTab, hidden }: Pick<Manner, "newTab" | "hidden">,
  attributes: Readonly<Record<string, string>>,
  ...children: readonly (Node | string)[]
): HTMLElement {
  if (!/^(?:https?|mailto):/iu.test(href)) return el("span", attributes, ...children);
  const elsewhere = !href.startsWith("mailto:");
  return el(
    "a",
    { ...attributes, href, rel: "noopener noreferrer nofollow", ...(elsewhere ? { target: "_blank" } : {}) },
    ...children,
    elsewhere && el("span", { class: hidden }, ` (${newTab})`),
  );
}
