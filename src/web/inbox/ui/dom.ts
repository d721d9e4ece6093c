import { drawing, el, outlines } from "#web/shared/elements.ts";

export { el } from "#web/shared/elements.ts";

/** Outlines on a 24 by 24 grid. */
const shapes = {
  ...outlines,
  inbox:
    "M4 13l2.6-7.2A2 2 0 0 1 8.5 4.5h7a2 2 0 0 1 1.9 1.3L20 13v4.5a2 2 0 0 1-2 2H6a2 2 0 0 1-2-2V13Zm0 0h4.5l1.2 2.2h4.6l1.2-2.2H20",
  person: "M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8ZM4.5 20a7.5 7.5 0 0 1 15 0",
  people:
    "M9 12a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7ZM2.5 19.5a6.5 6.5 0 0 1 13 0M15.5 5.3a3.5 3.5 0 0 1 0 6.4M18 13.8a6.5 6.5 0 0 1 3.5 5.7",
  alert: "M12 8v5M12 16.5v.1M10.3 4.4 2.9 17.2A2 2 0 0 0 4.6 20h14.8a2 2 0 0 0 1.7-2.8L13.7 4.4a2 2 0 0 0-3.4 0Z",
  clock: "M12 7v5l3.2 2M20.5 12a8.5 8.5 0 1 1-17 0 8.5 8.5 0 0 1 17 0Z",
  calendar:
    "M5.5 6h13A1.5 1.5 0 0 1 20 7.5v11a1.5 1.5 0 0 1-1.5 1.5h-13A1.5 1.5 0 0 1 4 18.5v-11A1.5 1.5 0 0 1 5.5 6ZM4 10.5h16M8 3.5V8M16 3.5V8",
  sort: "M5 7h14M7.5 12h9M10 17h4",
  check: "M5 12.5l4.5 4.5L19 7.5",
  layers: "M12 4 3.5 8.5 12 13l8.5-4.5L12 4ZM3.5 13 12 17.5l8.5-4.5",
  checks: "M2.5 12.5l4 4L15 8M11 15.5l1 1L20.5 8",
  search: "M10.5 17a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13ZM15.5 15.5 20 20",
  back: "M15 5l-7 7 7 7",
  bell: "M12 4a5.5 5.5 0 0 0-5.5 5.5c0 4-1.5 5.5-2.5 6.5h16c-1-1-2.5-2.5-2.5-6.5A5.5 5.5 0 0 0 12 4ZM10 19.5a2.2 2.2 0 0 0 4 0",
  lock: "M7.5 11V8a4.5 4.5 0 0 1 9 0v3M6.5 11h11a1.5 1.5 0 0 1 1.5 1.5v6a1.5 1.5 0 0 1-1.5 1.5h-11A1.5 1.5 0 0 1 5 18.5v-6A1.5 1.5 0 0 1 6.5 11Z",
  panel:
    "M4.5 5h15A1.5 1.5 0 0 1 21 6.5v11a1.5 1.5 0 0 1-1.5 1.5h-15A1.5 1.5 0 0 1 3 17.5v-11A1.5 1.5 0 0 1 4.5 5ZM15 5v14",
  leave: "M14 4.5h4A1.5 1.5 0 0 1 19.5 6v12a1.5 1.5 0 0 1-1.5 1.5h-4M10 8l-4 4 4 4M6 12h9",
  keys: "M4.5 7h15A1.5 1.5 0 0 1 21 8.5v7a1.5 1.5 0 0 1-1.5 1.5h-15A1.5 1.5 0 0 1 3 15.5v-7A1.5 1.5 0 0 1 4.5 7ZM7 10.5h.1M10.3 10.5h.1M13.6 10.5h.1M17 10.5h.1M8.5 13.7h7",
  slash:
    "M4.5 5h15A1.5 1.5 0 0 1 21 6.5v11a1.5 1.5 0 0 1-1.5 1.5h-15A1.5 1.5 0 0 1 3 17.5v-11A1.5 1.5 0 0 1 4.5 5ZM14 8.5l-4 7",
} as const;

export type IconName = keyof typeof shapes;

export const icon = (name: IconName, filled = false): SVGSVGElement =>
  drawing(shapes[name], { size: "18", stroke: "1.9", filled });

export function button(
  label: string,
  press: (event: MouseEvent) => void,
  {
    kind = "plain",
    shape,
    iconOnly = false,
    key,
  }: { kind?: string; shape?: IconName; iconOnly?: boolean; key?: string } = {},
): HTMLButtonElement {
  const element = el(
    "button",
    {
      type: "button",
      class: kind,
      ...(iconOnly ? { "aria-label": label, title: key === undefined ? label : `${label} (${key})` } : {}),
      ...(iconOnly || key === undefined ? {} : { title: `${label} (${key})` }),
      ...(key === undefined ? {} : { "aria-keyshortcuts": key }),
    },
    shape !== undefined && icon(shape),
    !iconOnly && el("span", {}, label),
  );
  element.addEventListener("click", press);
  return element;
}

/** The node that was drawn in place of another. */
const successors = new WeakMap<Node, HTMLElement>();

/**
 * Puts the nodes in this order. It moves only those that are not in their place, so that scrolling stays. A node that is
 * moved or drawn again keeps the focus.
 */
export function place(parent: Element, nodes: readonly Node[]): void {
  const focused = document.activeElement;
  const holder = [...parent.childNodes].find((child) => focused !== null && child.contains(focused));
  const wanted = new Set(nodes);
  const others = [...parent.childNodes].filter((child) => !wanted.has(child));
  for (const child of others) child.remove();
  nodes.forEach((node, index) => {
    if (parent.childNodes[index] !== node) parent.insertBefore(node, parent.childNodes[index] ?? null);
  });
  if (holder === undefined || focused === null || document.activeElement === focused) return;
  const heir = wanted.has(holder) ? focused : counterpart(holder, focused);
  if (heir instanceof HTMLElement) heir.focus({ preventScroll: true });
}

/** The element at the same position of the node that replaced `holder`. */
function counterpart(holder: Node, focused: Element): Element | undefined {
  let heir = successors.get(holder);
  for (let next = heir; next !== undefined; next = successors.get(next)) heir = next;
  const path: number[] = [];
  for (let node = focused; node !== holder && node.parentElement !== null; node = node.parentElement) {
    path.unshift([...node.parentElement.children].indexOf(node));
  }
  let found: Element | undefined = heir;
  for (const index of path) found = found?.children[index];
  return found?.tagName === focused.tagName ? found : undefined;
}

/** Nodes that are drawn again only when what they show has changed. */
export interface KeptNodes {
  (key: string, shows: unknown, draw: () => HTMLElement): HTMLElement;
  /** Forgets the nodes that were not asked for since the last call. */
  prune(): void;
}

export function createKept(): KeptNodes {
  const kept = new Map<string, { readonly shows: string; readonly node: HTMLElement }>();
  const used = new Set<string>();
  const get = (key: string, shows: unknown, draw: () => HTMLElement): HTMLElement => {
    used.add(key);
    const signature = JSON.stringify(shows);
    const known = kept.get(key);
    if (known?.shows === signature) return known.node;
    const node = draw();
    if (known !== undefined) successors.set(known.node, node);
    kept.set(key, { shows: signature, node });
    return node;
  };
  const prune = (): void => {
    for (const key of kept.keys()) if (!used.has(key)) kept.delete(key);
    used.clear();
  };
  return Object.assign(get, { prune });
}

/** Initials of at most two words, for a face that has no picture. */
function initials(name: string): string {
  const words = name.trim().split(/[\s@.]+/u);
  const letters = [words[0], words.length > 1 ? words[1] : undefined].map((word) => [...(word ?? "")][0] ?? "");
  return letters.join("").toUpperCase();
}

/** One of eight calm hues, the same for the same name. */
export function avatar(name: string): HTMLElement {
  let sum = 0;
  for (const letter of name) sum = (sum * 31 + (letter.codePointAt(0) ?? 0)) % 997;
  return el("span", { class: `avatar hue${sum % 8}`, "aria-hidden": "true" }, initials(name));
}
