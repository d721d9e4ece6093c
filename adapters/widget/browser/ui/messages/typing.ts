import type { ChatState } from "../../session/chat-state.ts";
import { avatar, el } from "../dom.ts";
import type { Strings } from "../strings.ts";
import { fill } from "../strings.ts";

/** The row that shows who is writing an answer. */
export function createTypingRow(strings: Strings): { readonly node: HTMLElement; render(state: ChatState): void } {
  const node = el("div", { class: "row bot typing", hidden: "" });
  let shownName: string | undefined;
  return {
    node,
    render({ typing, branding }) {
      node.hidden = typing === undefined;
      const name =
        typing === undefined
          ? undefined
          : (typing.name ?? (typing.role === "agent" ? strings.agent : (branding?.botName ?? "")));
      if (name === shownName) return;
      shownName = name;
      if (typing === undefined || name === undefined) return;
      const text = el("span", { class: "hidden" }, fill(strings.typing, name));
      const dots = el("div", { class: "bubble dots" }, el("i"), el("i"), el("i"), text);
      node.replaceChildren(avatar(typing.role, name), el("div", { class: "body" }, dots));
    },
  };
}
