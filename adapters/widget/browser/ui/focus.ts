/** Moves the focus from an element that a change hides or removes; it would otherwise fall to the page behind. */
export function keepFocus(shadow: ShadowRoot, panel: HTMLElement, change: () => void, moveFocus: () => void): void {
  const focused = shadow.activeElement;
  const inside = focused instanceof HTMLElement && panel.contains(focused) ? focused : undefined;
  change();
  if (inside !== undefined && inside.offsetParent === null) moveFocus();
}

/** Keeps the Tab key inside the panel: on a phone the chat covers the page. */
export function trapTab(event: KeyboardEvent, shadow: ShadowRoot, panel: HTMLElement): void {
  const stops = [
    ...panel.querySelectorAll<HTMLElement>("button:not([disabled]), a[href], textarea, input, summary, [tabindex='0']"),
  ].filter((stop) => stop.offsetParent !== null);
  const edge = event.shiftKey ? stops[0] : stops.at(-1);
  if (shadow.activeElement !== edge) return;
  event.preventDefault();
  (event.shiftKey ? stops.at(-1) : stops[0])?.focus();
}

/** Remembers the focused element while `host` is out of the page, which loses it. Returns how to focus it again. */
export function rememberFocus(host: HTMLElement, shadow: ShadowRoot): () => void {
  let focused: HTMLElement | undefined;
  shadow.addEventListener("focusin", ({ target }) => {
    if (target instanceof HTMLElement) focused = target;
  });
  shadow.addEventListener("focusout", ({ target }) => {
    // Some browsers report it before they remove the element, and some after.
    queueMicrotask(() => {
      if (host.isConnected && focused === target) focused = undefined;
    });
  });
  return () => {
    // The new page may have a field of its own that takes the focus.
    if (document.activeElement === document.body) focused?.focus({ preventScroll: true });
  };
}
