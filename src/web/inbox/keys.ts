import type { InboxStore } from "./inbox-store.ts";
import { focusedRow, focusRow, focusSearch } from "./list/focus.ts";
import { hashOf } from "./store/address.ts";
import { leaveField } from "./ui/focus.ts";

const fields = "input:not([type=checkbox]), textarea, select, dialog, [role=menu]";

/** Runs what the shortcuts of the inbox stand for. */
export function listenForKeys(store: InboxStore): void {
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    const { key, target } = event;
    if (target instanceof Element && target.closest(fields) !== null) {
      if (key === "Escape" && target instanceof HTMLInputElement) leaveField(target);
      return;
    }
    const hasConversation = store.open.conversation.value !== undefined;
    const run =
      key === "Escape" ? goBack(store) : (shortcuts[key] ?? (hasConversation ? conversationShortcuts[key] : undefined));
    if (run === undefined || (!store.canWrite && writing.has(key))) return;
    event.preventDefault();
    run(store);
  });
}

type Shortcuts = Readonly<Record<string, (store: InboxStore) => void>>;

const shortcuts: Shortcuts = {
  j: () => focusRow(1),
  k: () => focusRow(-1),
  x: choose,
  "/": focusSearch,
  u: ({ actions }) => void actions.undo(),
  "?": ({ dialog }) => (dialog.value = { kind: "shortcuts" }),
};

/** Shortcuts without a button: the others are not offered to viewers. */
const writing: ReadonlySet<string> = new Set(["x", "u", "r", "n", "m"]);

/** Shortcuts for the open conversation. */
const conversationShortcuts: Shortcuts = {
  r: ({ sending }) => sending.choose("reply"),
  n: ({ sending }) => sending.choose("note"),
  m: ({ dialog }) => (dialog.value = { kind: "macros" }),
  a({ isShowingDetails }) {
    // On a small screen the details are not shown yet.
    isShowingDetails.value ||= document.querySelector<HTMLElement>(".details-pane")?.offsetParent === null;
    requestAnimationFrame(() => press(".details-pane", "a"));
  },
  c: () => press(".thread-head", "c"),
  e: () => press(".thread-head", "e"),
  s: () => press(".thread-head", "s"),
  g: () => press(".thread-head", "g"),
};

/** A shortcut is its button: an action that is not offered cannot be done by its key either. */
function press(part: string, key: string): void {
  document.querySelector<HTMLButtonElement>(`${part} [aria-keyshortcuts="${key}"]`)?.click();
}

/** Chooses the conversation that has the focus or is open, to change several at once. */
function choose({ open, list, selection, notices }: InboxStore): void {
  const id = focusedRow() ?? open.selected.value;
  if (id !== undefined && list.items.value.some((item) => item.id === id)) selection.toggle(id);
  else notices.problem("Go to a conversation with j and k first.");
}

/** Undefined: there is nothing to go back from. */
function goBack({ isShowingDetails, selection, open, list }: InboxStore): (() => void) | undefined {
  if (isShowingDetails.value) return () => (isShowingDetails.value = false);
  if (selection.isOpen.value) return () => selection.stop();
  if (open.selected.value === undefined) return undefined;
  return () => (location.hash = hashOf(list.view.value));
}
