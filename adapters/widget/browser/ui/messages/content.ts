import type { Block } from "#channels/text/markdown.ts";
import type { Manner } from "#web/shared/blocks.ts";
import * as shared from "#web/shared/blocks.ts";
import type { MessageFrame } from "../../../frames.ts";
import { el, icon } from "../dom.ts";
import type { Strings } from "../strings.ts";

const mannerOf = ({ newTab }: Strings): Manner => ({ headingsBelow: 2, newTab, hidden: "hidden" });

export const blocks = (tree: readonly Block[], strings: Strings): Node[] => shared.blocks(tree, mannerOf(strings));

interface CitedDocument {
  readonly title: string;
  readonly url: string;
  readonly texts: readonly string[];
}

/** Lists each document once, most relevant first. A document without an address shows its passages in place. */
export function sources(list: MessageFrame["sources"], label: string, strings: Strings): HTMLElement | undefined {
  if (list.length === 0) return undefined;
  const documents = new Map<string, CitedDocument>();
  for (const { title, url, chunk } of list) {
    const key = url === "" ? `title:${title}` : url;
    documents.set(key, { title, url, texts: [...(documents.get(key)?.texts ?? []), chunk] });
  }
  const entries = [...documents.values()].map(({ title, url, texts }, index) => {
    const number = el("span", { class: "number", "aria-hidden": "true" }, String(index + 1));
    if (/^https?:/iu.test(url) && URL.canParse(url)) {
      const address = new URL(url);
      return shared.link(
        url,
        mannerOf(strings),
        { class: "source", title: url },
        number,
        el("span", { class: "what", dir: "auto" }, title || address.hostname),
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
