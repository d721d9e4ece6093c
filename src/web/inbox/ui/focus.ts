/** Where the focus goes when its element is removed, hidden or disabled, by part of the page. */
const refuges: readonly (readonly [part: string, within: readonly string[]])[] = [
  [".composer", ["textarea"]],
  [".bulk", [".bulk-head .icon"]],
  [".thread-pane", ["#thread-title"]],
  [".list-pane", [".conversations a[aria-current]", ".conversations a", "#search"]],
];
const anywhere = ["#thread-title", ".conversations a[aria-current]", ".conversations a", "#search", ".thread-pane"];

export interface FocusKeeper {
  /** Call it after every change of the page. */
  check(): void;
  /** Takes the focus out of a field. */
  leave(field: Element): void;
}

const usable = (element: Element | null): element is HTMLElement =>
  element instanceof HTMLElement &&
  element !== document.body &&
  element.isConnected &&
  element.checkVisibility({ visibilityProperty: true }) &&
  !element.matches(":disabled");

/**
 * Without an element that has the focus, a screen reader reads from the top of the page, and Tab begins there. An agent
 * who clicks beside everything has left it by themselves; nothing takes the focus back from there.
 */
export function createFocusKeeper(root: HTMLElement): FocusKeeper {
  let path: readonly Element[] = [];
  root.addEventListener("focusin", ({ target }) => {
    path = target instanceof Element ? ancestors(target) : [];
  });
  root.addEventListener("focusout", ({ target, relatedTarget }) => {
    if (relatedTarget !== null || !(target instanceof Element)) return;
    // An element that is being removed still looks usable in this event.
    setTimeout(() => {
      if (usable(target) && document.activeElement !== target && path[0] === target) path = [];
      else check();
    }, 0);
  });

  function move(from: readonly Element[]): void {
    const near = from.filter(usable);
    const inside = refuges.flatMap(([part, within]) => {
      const place = near.find((element) => element.matches(part));
      return place === undefined ? [] : within.flatMap((selector) => [...place.querySelectorAll(selector)]);
    });
    const others = anywhere.map((selector) => root.querySelector(selector));
    [...inside, ...others]
      .filter(usable)
      .find((element) => element !== from[0])
      ?.focus({ preventScroll: true });
  }

  function check(): void {
    if (path.length === 0 || document.querySelector("dialog[open]") !== null) return;
    if (!usable(document.activeElement)) move(path);
  }

  return {
    check,
    leave(field) {
      const log = root.querySelector<HTMLElement>(".log");
      if (field.closest(".thread-pane") !== null && usable(log)) log.focus({ preventScroll: true });
      else move(ancestors(field));
    },
  };
}

function ancestors(element: Element): readonly Element[] {
  const path: Element[] = [];
  for (let each: Element | null = element; each !== null; each = each.parentElement) path.push(each);
  return path;
}
