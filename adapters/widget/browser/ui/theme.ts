import type { Rgb } from "./color.ts";
import { contrast, cssOf, ink, mix, parseColor, readableOn, textOn, white } from "./color.ts";
import type { Settings } from "../settings.ts";

const defaultAccent: Rgb = [31, 111, 235];
const surfaces: Readonly<Record<"light" | "dark", Rgb>> = { light: [255, 255, 255], dark: [23, 25, 31] };

export interface Theme {
  setColor(color: string | undefined): void;
}

/** Sets colours on the root: light or dark as the customer's system prefers, and an accent that is readable on both. */
export function createTheme(root: HTMLElement, wanted: Settings["theme"], ended: AbortSignal): Theme {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  let accent = defaultAccent;
  const apply = (): void => {
    const scheme = wanted === "auto" ? (dark.matches ? "dark" : "light") : wanted;
    const surface = surfaces[scheme];
    root.classList.toggle("dark", scheme === "dark");
    // An accent close to the surface is mixed until its shapes can be seen.
    const fill = contrast(accent, surface) >= 1.6 ? accent : mix(accent, scheme === "dark" ? white : ink, 0.35);
    const set = (name: string, color: Rgb): void => root.style.setProperty(name, cssOf(color));
    set("--accent", fill);
    set("--on-accent", textOn(fill));
    set("--link", readableOn(accent, mix(surface, scheme === "dark" ? white : ink, 0.06)));
    set("--tint", mix(surface, accent, scheme === "dark" ? 0.22 : 0.1));
    set("--on-tint", readableOn(accent, mix(surface, accent, scheme === "dark" ? 0.22 : 0.1)));
  };
  dark.addEventListener("change", apply, { signal: ended });
  apply();
  return {
    setColor(color) {
      accent = parseColor(color) ?? defaultAccent;
      apply();
    },
  };
}
