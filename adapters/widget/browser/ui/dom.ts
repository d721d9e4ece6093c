import { drawing, el, outlines } from "#web/shared/elements.ts";

export { el } from "#web/shared/elements.ts";

/** A button that is not a form's. */
export function button(
  attributes: Readonly<Record<string, string>>,
  onClick: () => void,
  ...children: readonly (Node | string)[]
): HTMLButtonElement {
  const element = el("button", { type: "button", ...attributes }, ...children);
  element.addEventListener("click", onClick);
  return element;
}

/** With a tooltip that says the same. */
export const iconButton = (name: keyof typeof outlines, className: string, label: string, onClick: () => void) =>
  button({ class: className, "aria-label": label, title: label }, onClick, icon(name));

export const icon = (name: keyof typeof outlines, filled = false): SVGSVGElement =>
  drawing(outlines[name], { size: "24", stroke: "2", filled });

/** An agent's picture or initials; the chat's symbol for the assistant, and for an agent without a name. */
export function avatar(role: "assistant" | "agent", name: string, picture?: string): HTMLElement {
  if (picture !== undefined) {
    const image = el("img", { class: "avatar", src: picture, alt: "", referrerpolicy: "no-referrer" });
    // The page may forbid pictures of other hosts, or the picture was removed.
    image.addEventListener("error", () => image.replaceWith(avatar(role, name)), { once: true });
    return image;
  }
  const letters = role === "agent" ? initials(name) : "";
  return letters === ""
    ? el("span", { class: "avatar", "aria-hidden": "true" }, icon("spark", true))
    : el("span", { class: "avatar person", "aria-hidden": "true" }, letters);
}

/** The first letters of the first and the last word. */
function initials(name: string): string {
  const words = name.trim().split(/\s+/u);
  const letters = [words[0], words.length > 1 ? words.at(-1) : undefined].map((word) => [...(word ?? "")][0] ?? "");
  return letters.join("").toUpperCase();
}
