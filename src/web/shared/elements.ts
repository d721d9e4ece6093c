/** Elements for the widget and for parsed texts. Without a library: the widget is loaded by the pages of others. */

type Child = Node | string | undefined | null | false;

/** An element with attributes and children. Texts become text nodes: nothing is ever parsed as HTML. */
export function el<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Readonly<Record<string, string | undefined>> = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) if (value !== undefined) element.setAttribute(name, value);
  element.append(...children.filter((child) => child !== undefined && child !== null && child !== false));
  return element;
}

/** Outlines on a 24 by 24 grid, of the widget and of the inbox. */
export const outlines = {
  chat: "M12 3.5c-5 0-9 3.4-9 7.6 0 2.4 1.3 4.5 3.3 5.9-.1 1.1-.6 2.3-1.6 3.3-.2.2 0 .5.3.5 1.9-.2 3.5-.9 4.7-1.8.7.1 1.5.2 2.3.2 5 0 9-3.4 9-7.6s-4-8.1-9-8.1Z",
  close: "M6 6l12 12M18 6L6 18",
  down: "M5.5 9l6.5 6.5L18.5 9",
  send: "M12 19.5V5M5.5 11.5L12 5l6.5 6.5",
  spark:
    "M12 3.5l1.9 5.1a2.6 2.6 0 0 0 1.5 1.5l5.1 1.9-5.1 1.9a2.6 2.6 0 0 0-1.5 1.5L12 20.5l-1.9-5.1a2.6 2.6 0 0 0-1.5-1.5L3.5 12l5.1-1.9a2.6 2.6 0 0 0 1.5-1.5L12 3.5Z",
  out: "M8 16L16.5 7.5M9.5 7h7.5v7.5",
  clip: "M18.5 11.5l-6.8 6.8a4.2 4.2 0 0 1-6-6l7.4-7.4a2.8 2.8 0 0 1 4 4l-7.2 7.2a1.4 1.4 0 0 1-2-2l6.3-6.3",
  thumb: "M7.5 20V10.5L11.5 3.5a2 2 0 0 1 2 2.3L13 9.5h5a2 2 0 0 1 2 2.4l-1.2 6.5A2 2 0 0 1 16.8 20ZM7.5 10.5H4V20h3.5",
  forward: "M14.5 6L20 11.5L14.5 17M19.5 11.5H10a6 6 0 0 0-6 6V19",
  reply: "M9.5 6L4 11.5L9.5 17M4.5 11.5H14a6 6 0 0 1 6 6V19",
  smile: "M12 3.5a8.5 8.5 0 1 0 0 17a8.5 8.5 0 0 0 0-17ZM8.5 14c1.7 2.4 5.3 2.4 7 0M9.3 9.6v.3M14.7 9.6v.3",
  page: "M7 3.5h7l4 4v12.5H7zM13.5 3.5V8H18",
} as const;

/** A picture that has no meaning by itself. */
export function drawing(
  outline: string,
  {
    size,
    stroke,
    filled = false,
  }: { readonly size: string; readonly stroke: string; readonly filled?: boolean | undefined },
): SVGSVGElement {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  for (const [key, value] of Object.entries({
    viewBox: "0 0 24 24",
    width: size,
    height: size,
    fill: filled ? "currentColor" : "none",
    stroke: filled ? "none" : "currentColor",
    "stroke-width": stroke,
    "stroke-linecap": "round",
    "stroke-linejoin": "round",
    "aria-hidden": "true",
    focusable: "false",
  })) {
    svg.setAttribute(key, value);
  }
  path.setAttribute("d", outline);
  svg.append(path);
  return svg;
}
