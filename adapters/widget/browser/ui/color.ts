/** Colours as red, green and blue, 0 to 255. */
export type Rgb = readonly [number, number, number];

export function parseColor(text: string | undefined): Rgb | undefined {
  const short = /^#([0-9a-f])([0-9a-f])([0-9a-f])$/iu.exec(text ?? "");
  const long = /^#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})$/iu.exec(text ?? "");
  const parts = long?.slice(1) ?? short?.slice(1).map((digit) => digit + digit);
  if (parts === undefined) return undefined;
  const [red = 0, green = 0, blue = 0] = parts.map((part) => Number.parseInt(part, 16));
  return [red, green, blue];
}

/** Contrast ratio of WCAG 2, 1 to 21. */
export function contrast(one: Rgb, other: Rgb): number {
  const [dark, light] = [luminance(one), luminance(other)].toSorted((a, b) => a - b);
  return ((light ?? 0) + 0.05) / ((dark ?? 0) + 0.05);
}

export const white: Rgb = [255, 255, 255];
const black: Rgb = [0, 0, 0];
export const ink: Rgb = [12, 14, 18];

/** A readable text colour: white if its contrast suffices, else near-black, else black. */
export function textOn(background: Rgb): Rgb {
  return [white, ink].find((text) => contrast(background, text) >= 4.5) ?? black;
}

/** The colour if it is readable on the surface, else the nearest lighter or darker one that is. */
export function readableOn(color: Rgb, surface: Rgb): Rgb {
  const toward: Rgb = luminance(surface) > 0.4 ? black : white;
  for (let share = 0; share < 1; share += 0.05) {
    const mixed = mix(color, toward, share);
    if (contrast(mixed, surface) >= 4.6) return mixed;
  }
  return toward;
}

export function mix(from: Rgb, to: Rgb, share: number): Rgb {
  const at = (index: 0 | 1 | 2): number => Math.round(from[index] + (to[index] - from[index]) * share);
  return [at(0), at(1), at(2)];
}

export const cssOf = (color: Rgb): string => `rgb(${color.join(" ")})`;

function luminance([red, green, blue]: Rgb): number {
  const linear = (value: number): number => {
    const share = value / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  };
  return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
}
