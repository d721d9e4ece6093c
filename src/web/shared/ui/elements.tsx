import type { ButtonHTMLAttributes, ComponentChildren } from "preact";
import { outlines } from "#web/shared/elements.ts";

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
  settings:
    "M4 7.5h8M17 7.5h3M14.5 10a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5ZM4 16.5h3M12 16.5h8M9.5 19a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5Z",
  skip: "M12 20.5a8.5 8.5 0 1 0 0-17 8.5 8.5 0 0 0 0 17ZM6 6l12 12",
  slash:
    "M4.5 5h15A1.5 1.5 0 0 1 21 6.5v11a1.5 1.5 0 0 1-1.5 1.5h-15A1.5 1.5 0 0 1 3 17.5v-11A1.5 1.5 0 0 1 4.5 5ZM14 8.5l-4 7",
} as const;

export type IconName = keyof typeof shapes;

/** A shared outline by its name, or a page's own outline. */
export type Shape = IconName | `M${string}`;

const isShared = (shape: Shape): shape is IconName => Object.hasOwn(shapes, shape);

/** A picture that has no meaning by itself. */
export function Icon({ name, filled = false }: { readonly name: Shape; readonly filled?: boolean }) {
  const ink = "currentColor";
  return (
    <svg
      viewBox="0 0 24 24"
      width="18"
      height="18"
      fill={filled ? ink : "none"}
      stroke={filled ? "none" : ink}
      stroke-width="1.9"
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
      focusable="false"
    >
      <path d={isShared(name) ? shapes[name] : name} />
    </svg>
  );
}

interface ButtonProps extends ButtonHTMLAttributes {
  readonly label: string;
  /** Classes of the style sheet. An `icon` shows no label: that is its accessible name. */
  readonly kind?: string;
  readonly shape?: Shape;
  readonly shortcut?: string;
}

export function Button({ label, kind = "plain", shape, shortcut, ...rest }: ButtonProps) {
  const iconOnly = kind.split(" ").includes("icon");
  const title = shortcut === undefined ? label : `${label} (${shortcut})`;
  return (
    <button
      type="button"
      class={kind}
      aria-label={iconOnly ? label : undefined}
      title={iconOnly || shortcut !== undefined ? title : undefined}
      aria-keyshortcuts={shortcut}
      {...rest}
    >
      {shape !== undefined && <Icon name={shape} />}
      {!iconOnly && <span>{label}</span>}
    </button>
  );
}

/** A face that has no picture: initials on one of eight hues, the same for the same name. */
export function Avatar({ name }: { readonly name: string }) {
  let sum = 0;
  for (const letter of name) sum = (sum * 31 + (letter.codePointAt(0) ?? 0)) % 997;
  return (
    <span class={`avatar hue${sum % 8}`} aria-hidden="true">
      {initials(name)}
    </span>
  );
}

function initials(name: string): string {
  const words = name.trim().split(/[\s@.]+/u);
  const letters = [words[0], words.length > 1 ? words[1] : undefined].map((word) => [...(word ?? "")][0] ?? "");
  return letters.join("").toUpperCase();
}

/** Grey lines in place of what is being loaded. */
export const Skeleton = ({ kind = "skeleton", lines }: { readonly kind?: string; readonly lines: number }) => (
  <div class={kind} role="img" aria-label="Loading">
    {Array.from({ length: lines }, (_, index) => (
      <i key={index} />
    ))}
  </div>
);

/** A text in place of what is not there. */
export function Empty(props: {
  readonly shape?: Shape;
  readonly title: string;
  readonly isProblem?: boolean;
  readonly children: ComponentChildren;
}) {
  return (
    <div class="empty" role={props.isProblem === true ? "alert" : undefined}>
      {props.shape !== undefined && <Icon name={props.shape} />}
      <p class="empty-title">{props.title}</p>
      {props.children}
    </div>
  );
}

/** The name of a file, in the direction of its own words. */
export const FileName = ({ name }: { readonly name: string }) => (
  <span class="file-name" dir="auto">
    {name}
  </span>
);
