const links = (): readonly HTMLAnchorElement[] => [
  ...document.querySelectorAll<HTMLAnchorElement>(".conversations a.item"),
];

/** Moves the focus to the conversation after (1) or before (-1) the one that has the focus or is open. */
export function focusRow(by: 1 | -1): void {
  const all = links();
  const focused = all.findIndex((link) => link.parentElement?.contains(document.activeElement) === true);
  const from = focused === -1 ? all.findIndex((link) => link.getAttribute("aria-current") === "true") : focused;
  const next = from === -1 ? (by === 1 ? 0 : all.length - 1) : from + by;
  all[Math.min(all.length - 1, Math.max(0, next))]?.focus();
}

/** The conversation whose row has the focus. */
export const focusedRow = (): string | undefined =>
  document.activeElement?.closest<HTMLElement>(".conversations > li")?.dataset["id"];

/**
 * Call it before the list changes, and the result after that. A row that was moved keeps the focus; if it has left the
 * list, the row that follows it gets the focus.
 */
export function keepRowFocus(): () => void {
  const focused = document.activeElement;
  const row = focused?.closest(".conversations > li");
  if (row === null || row === undefined) return () => undefined;
  const at = [...(row.parentElement?.children ?? [])].indexOf(row);
  return () => {
    if (document.activeElement === focused) return;
    const all = links();
    const heir = row.isConnected ? focused : all[Math.min(at, all.length - 1)];
    if (heir instanceof HTMLElement) heir.focus({ preventScroll: row.isConnected });
  };
}

export function focusSearch(): void {
  const search = document.querySelector<HTMLInputElement>("#search");
  search?.focus();
  search?.select();
}
