import type { IconName } from "./dom.ts";
import { button, el } from "./dom.ts";

export interface Menu {
  readonly element: HTMLElement;
  open(): void;
}

let count = 0;

/** A button that unfolds choices. Arrow keys move, Escape and a click elsewhere close. */
export function createMenu(
  label: string,
  { shape, key }: { readonly shape: IconName; readonly key: string },
  choices: readonly { readonly label: string; readonly choose: () => void }[],
): Menu {
  count += 1;
  const opener = button(label, () => (list.hidden ? open() : close()), { kind: "secondary", shape, key });
  const list = el("div", { class: "menu", role: "menu", id: `menu${count}`, "aria-label": label });
  opener.setAttribute("aria-haspopup", "menu");
  opener.setAttribute("aria-controls", list.id);
  opener.setAttribute("aria-expanded", "false");
  list.hidden = true;
  const items = choices.map((choice) => {
    const item = button(
      choice.label,
      () => {
        close();
        choice.choose();
      },
      { kind: "menu-item" },
    );
    item.setAttribute("role", "menuitem");
    item.tabIndex = -1;
    return item;
  });
  list.append(...items);
  const element = el("div", { class: "menu-place" }, opener, list);

  function open(): void {
    list.hidden = false;
    opener.setAttribute("aria-expanded", "true");
    items[0]?.focus();
    document.addEventListener("pointerdown", elsewhere);
  }

  function close(): void {
    list.hidden = true;
    opener.setAttribute("aria-expanded", "false");
    document.removeEventListener("pointerdown", elsewhere);
  }

  function elsewhere(event: Event): void {
    if (!(event.target instanceof Node) || !element.contains(event.target)) close();
  }

  list.addEventListener("keydown", (event) => {
    const at = items.findIndex((item) => item === document.activeElement);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: items.length - 1 }[event.key];
    if (to !== undefined) {
      event.preventDefault();
      items.at(to % items.length)?.focus();
    } else if (event.key === "Escape" || event.key === "Tab") {
      close();
      if (event.key === "Escape") opener.focus();
    }
    event.stopPropagation();
  });

  return { element, open };
}
