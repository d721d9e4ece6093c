import { button, el, icon } from "./dom.ts";
import type { Strings } from "./strings.ts";
import { fill } from "./strings.ts";

/** The button that opens the chat, with the count of unread messages. Hidden at first. */
export interface Launcher {
  readonly element: HTMLElement;
  render(isOpen: boolean, unread: number): void;
}

export function createLauncher(strings: Strings, onClick: () => void): Launcher {
  const badge = el("span", { class: "badge", "aria-hidden": "true", hidden: "" });
  const element = button(
    {
      class: "launcher",
      "aria-label": strings.open,
      "aria-expanded": "false",
      "aria-haspopup": "dialog",
      hidden: "",
    },
    onClick,
    el("span", { class: "when-closed" }, icon("chat", true)),
    el("span", { class: "when-open" }, icon("down")),
    badge,
  );
  return {
    element,
    render(isOpen, unread) {
      const count = isOpen ? 0 : unread;
      badge.hidden = count === 0;
      badge.textContent = count > 9 ? "9+" : String(count);
      const openLabel = count === 0 ? strings.open : `${strings.open} (${fill(strings.unread, count)})`;
      element.setAttribute("aria-expanded", String(isOpen));
      element.setAttribute("aria-label", isOpen ? strings.close : openLabel);
    },
  };
}
