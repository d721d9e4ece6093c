import type { Refuges } from "#web/shared/ui/focus.ts";
import { ancestors, moveFocus, usable } from "#web/shared/ui/focus.ts";

export const refuges: Refuges = {
  near: [
    [".composer", ["textarea"]],
    [".bulk", [".bulk-head .icon"]],
    [".thread-pane", ["#thread-title"]],
    [".list-pane", [".conversations a[aria-current]", ".conversations a", "#search"]],
  ],
  anywhere: ["#thread-title", ".conversations a[aria-current]", ".conversations a", "#search", ".thread-pane"],
};

/** Takes the focus out of a field: to the messages, or to something nearby. */
export function leaveField(field: Element): void {
  const log = document.querySelector(".log");
  if (field.closest(".thread-pane") !== null && usable(log)) log.focus({ preventScroll: true });
  else moveFocus(ancestors(field), refuges);
}
