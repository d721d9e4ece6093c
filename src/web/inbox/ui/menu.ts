import type { IconName } from "./dom.ts";
import { button, el } from "./dom.ts";

export interface Choice {
  readonly label: string;
  readonly choose: () => void;
  /** Of several that exclude each other: the one that holds now. */
  readonly current?: boolean;
}

export interface Menu {
  readonly element: HTMLElement;
  open(): void;
  /** Says something else on the button. `name`: what it is called where that alone does not say it. */
  label(text: string, name?: string): void;
  disable(disabled: boolean): void;
}

let count = 0;

/** A button that unfolds choices. Arrow keys and first letters move, Escape and a click elsewhere close. */
export function createMenu(
  label: string,
  {
    shape,
    key,
    kind = "secondary",
    iconOnly = false,
  }: { readonly shape: IconName; readonly key?: string; readonly kind?: string; readonly iconOnly?: boolean },
  choices: () => readonly Choice[],
): Menu {
  count += 1;
  const opener = button(label, () => (list.hidden ? open() : close()), {
    kind,
    shape,
    iconOnly,
    ...(key === undefined ? {} : { key }),
  });
  const list = el("div", { class: "menu", role: "menu", id: `menu${count}`, "aria-label": label });
  opener.setAttribute("aria-haspopup", "menu");
  opener.setAttribute("aria-controls", list.id);
  opener.setAttribute("aria-expanded", "false");
  list.hidden = true;
  let items: readonly HTMLButtonElement[] = [];
  const element = el("div", { class: "menu-place" }, opener, list);

  function itemOf({ label: text, choose, current }: Choice): HTMLButtonElement {
    const press = (): void => {
      close();
      // What is gone cannot have the focus; who works by the keyboard goes on from here.
      opener.focus();
      choose();
    };
    const item = button(text, press, { kind: "menu-item" });
    item.setAttribute("role", current === undefined ? "menuitem" : "menuitemradio");
    if (current !== undefined) item.setAttribute("aria-checked", String(current));
    item.dir = "auto";
    item.tabIndex = -1;
    return item;
  }

  function open(): void {
    if (opener.disabled) return;
    items = choices().map(itemOf);
    list.replaceChildren(...items);
    list.hidden = false;
    opener.setAttribute("aria-expanded", "true");
    (items.find((item) => item.getAttribute("aria-checked") === "true") ?? items[0])?.focus();
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
    } else if (/^[\p{L}\p{N}]$/u.test(event.key) && !event.ctrlKey && !event.metaKey && !event.altKey) {
      const letter = event.key.toLowerCase();
      const around = [...items.slice(at + 1), ...items.slice(0, at + 1)];
      around.find((item) => item.textContent.trim().toLowerCase().startsWith(letter))?.focus();
    }
    event.stopPropagation();
  });

  return {
    element,
    open,
    label(text, name) {
      const said = opener.querySelector("span");
      if (said !== null && said.textContent !== text) said.textContent = text;
      if (name !== undefined) opener.setAttribute("aria-label", name);
    },
    disable(disabled) {
      opener.disabled = disabled;
      if (disabled) close();
    },
  };
}
