import style from "../style.css";
import { el } from "./dom.ts";

/** Puts `root` and the style sheet into a shadow tree of `host`. */
export function attachShadow(host: HTMLElement, root: HTMLElement): ShadowRoot {
  const shadow = host.attachShadow({ mode: "open" });
  try {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(style);
    shadow.adoptedStyleSheets = [sheet];
  } catch {
    // Browsers without constructable style sheets.
    shadow.append(el("style", {}, style));
  }
  shadow.append(root);
  return shadow;
}
