/** The places that take the focus when its element is removed, hidden or disabled. */
export interface Refuges {
  /** For each part of the page, in this order: selectors inside of it. */
  readonly near: readonly (readonly [part: string, within: readonly string[]])[];
  readonly anywhere: readonly string[];
}

export const usable = (element: Element | null): element is HTMLElement =>
  element instanceof HTMLElement &&
  element !== document.body &&
  element.isConnected &&
  element.checkVisibility({ visibilityProperty: true }) &&
  !element.matches(":disabled");

/**
 * Keeps the focus in the page: without it a screen reader reads from the top of the page, and Tab begins there. When the
 * element that has it is removed, hidden or disabled, another one nearby gets it. A click beside everything takes the
 * focus away, and nothing moves it back from there.
 */
export function keepFocus(root: HTMLElement, refuges: Refuges): void {
  let path: readonly Element[] = [];
  /** The focus was lost, and it is not known yet why. */
  let isLosing = false;

  function check(): void {
    if (isLosing || path.length === 0 || document.querySelector("dialog[open]") !== null) return;
    if (!usable(document.activeElement)) moveFocus(path, refuges);
  }

  root.addEventListener("focusin", ({ target }) => {
    path = target instanceof Element ? ancestors(target) : [];
  });
  const onBlur = ({ target, relatedTarget }: FocusEvent): void => {
    if (relatedTarget !== null || !(target instanceof Element)) return;
    isLosing = true;
    // An element that is being removed still looks usable in this event.
    setTimeout(() => {
      isLosing = false;
      if (usable(target) && document.activeElement !== target && path[0] === target) path = [];
      else check();
    }, 0);
  };
  // Before the element's own listeners, which may change the page.
  root.addEventListener("blur", onBlur, true);
  const attributeFilter = ["hidden", "disabled", "class"];
  new MutationObserver(check).observe(root, { subtree: true, childList: true, attributeFilter });
}

/** Moves the focus near the first element, which lost it. */
export function moveFocus(from: readonly Element[], { near, anywhere }: Refuges): void {
  const left = from.filter(usable);
  const inside = near.flatMap(([part, within]) => {
    const place = left.find((element) => element.matches(part));
    return place === undefined ? [] : within.flatMap((selector) => [...place.querySelectorAll(selector)]);
  });
  const others = anywhere.map((selector) => document.querySelector(selector));
  [...inside, ...others]
    .filter(usable)
    .find((element) => element !== from[0])
    ?.focus({ preventScroll: true });
}

export function ancestors(element: Element): readonly Element[] {
  const path: Element[] = [];
  for (let each: Element | null = element; each !== null; each = each.parentElement) path.push(each);
  return path;
}
