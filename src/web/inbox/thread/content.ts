import type { Block } from "#channels/text/markdown.ts";
import type { Source } from "#domain/conversation/message.ts";
import * as shared from "#web/shared/blocks.ts";
import { el, icon } from "#web/inbox/ui/dom.ts";

const manner: shared.Manner = { headingsBelow: 3, newTab: "opens in a new tab", hidden: "unseen" };

export const blocks = (tree: readonly Block[]): Node[] => shared.blocks(tree, manner);

export const link = (
  href: string,
  attributes: Readonly<Record<string, string>>,
  ...children: readonly (Node | string)[]
): HTMLElement => shared.link(href, manner, attributes, ...children);

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
