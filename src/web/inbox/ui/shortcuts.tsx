type Shortcut = readonly [keys: readonly string[], effect: string];

/** Shortcuts that lead to a conversation. */
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
  [["m"], "Apply a macro"],
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

export const ShortcutList = ({ list }: { readonly list: readonly Shortcut[] }) => (
  <dl class="shortcuts">
    {list.map(([keys, effect]) => (
      <div key={effect}>
        <dt>{keys.flatMap((key, index) => [index > 0 && " ", <kbd key={key}>{key}</kbd>])}</dt>
        <dd>{effect}</dd>
      </div>
    ))}
  </dl>
);
