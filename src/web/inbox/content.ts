import type { Block, Inline } from "#channel/markdown.ts";
import type { Source } from "#domain/message.ts";
import { el, icon } from "./dom.ts";

/** The safe tree as elements. The server has checked each address; this is the last place where it can be checked. */
export function blocks(tree: readonly Block[]): Node[] {
  return tree.map((block) => {
    switch (block.t) {
      case "p":
        return el("p", {}, ...inlines(block.c));
      case "h":
        return el(
          "p",
          { class: "heading", role: "heading", "aria-level": String(Math.min(6, block.level + 3)) },
          ...inlines(block.c),
        );
      case "ul":
        return el("ul", {}, ...block.items.map((item) => el("li", {}, ...blocks(item))));
      case "ol":
        return el("ol", { start: String(block.start) }, ...block.items.map((item) => el("li", {}, ...blocks(item))));
      case "quote":
        return el("blockquote", {}, ...blocks(block.c));
      case "pre":
        return el("pre", { tabindex: "0", dir: "ltr" }, el("code", {}, block.text));
      case "table":
        return el(
          "div",
          { class: "scroll", tabindex: "0" },
          el(
            "table",
            {},
            el("thead", {}, row("th", block.head)),
            el("tbody", {}, ...block.rows.map((cells) => row("td", cells))),
          ),
        );
      case "hr":
        return el("hr");
    }
  });
}

function row(tag: "th" | "td", cells: readonly (readonly Inline[])[]): HTMLElement {
  return el("tr", {}, ...cells.map((cell) => el(tag, {}, ...inlines(cell))));
}

function inlines(tree: readonly Inline[]): Node[] {
  return tree.map((inline) => {
    if (typeof inline === "string") return document.createTextNode(inline);
    switch (inline.t) {
      case "b":
        return el("strong", {}, ...inlines(inline.c));
      case "i":
        return el("em", {}, ...inlines(inline.c));
      case "s":
        return el("s", {}, ...inlines(inline.c));
      case "code":
        return el("code", {}, inline.text);
      case "br":
        return el("br");
      case "a":
        return link(inline.href, {}, ...inlines(inline.c));
    }
  });
}

export function link(
  href: string,
  attributes: Readonly<Record<string, string>>,
  ...children: readonly (Node | string)[]
): HTMLElement {
  if (!/^(?:https?|mailto):/iu.test(href)) return el("span", attributes, ...children);
  const newTab = !href.startsWith("mailto:");
  return el(
    "a",
    { ...attributes, href, rel: "noopener noreferrer nofollow", ...(newTab ? { target: "_blank" } : {}) },
    ...children,
    newTab && el("span", { class: "unseen" }, " (opens in a new tab)"),
  );
}

/** What an answer was made of, folded away: agents look when they doubt. */
export function sources(list: readonly Source[]): HTMLElement | undefined {
  if (list.length === 0) return undefined;
  return el(
    "details",
    { class: "sources" },
    el("summary", {}, el("span", {}, list.length === 1 ? "1 source" : `${list.length} sources`), icon("down")),
    el(
      "ol",
      {},
      ...list.map(({ title, url, chunk, score }) =>
        el(
          "li",
          {},
          el(
            "div",
            { class: "source-head" },
            /^https?:/iu.test(url)
              ? link(url, { class: "source-title" }, title || url)
              : el("span", { class: "source-title" }, title),
            el("span", { class: "score", title: "Relevance" }, score.toFixed(2)),
          ),
          el("p", { dir: "auto" }, chunk),
        ),
      ),
    ),
  );
}
