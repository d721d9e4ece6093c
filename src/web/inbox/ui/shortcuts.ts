import { el } from "./dom.ts";

type Shortcut = readonly [keys: readonly string[], effect: string];

/** Those that lead to a conversation. */
const opening: readonly Shortcut[] = [
  [["j", "k"], "Next and previous conversation"],
  [["Enter"], "Open it"],
  [["/"], "Search"],
  [["x"], "Choose several conversations"],
];

export const shortcuts: readonly Shortcut[] = [
  ...opening,
  [["r"], "Write a reply"],
  [["n"], "Write an internal note"],
  [["/"], "Insert a saved reply, in the field, with its name"],
  [["Ctrl", "Enter"], "Send (⌘ Enter on a Mac)"],
  [["c"], "Claim"],
  [["a"], "Assign to a colleague"],
  [["s"], "Snooze"],
  [["g"], "Go to the first message, to a date or to the latest message"],
  [["e"], "Resolve, and open the next conversation"],
  [["u"], "Undo the last resolve"],
  [["Esc"], "Leave the field, or go back to the list"],
  [["?"], "These shortcuts"],
];

export const openingShortcuts: readonly Shortcut[] = [...opening, [["?"], "All shortcuts"]];

export const shortcutList = (list: readonly Shortcut[]): HTMLElement =>
  el(
    "dl",
    { class: "shortcuts" },
    ...list.map(([keys, effect]) =>
      el(
        "div",
        {},
        el("dt", {}, ...keys.flatMap((key, index) => [index > 0 && " ", el("kbd", {}, key)])),
        el("dd", {}, effect),
      ),
    ),
  );
