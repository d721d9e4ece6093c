/** Runs in the page: how well each text can be told from what is behind it. */
export function contrastsInPage(): Record<string, number> {
  const shadow = document.querySelector("parley-chat")?.shadowRoot;
  const numbers = (color: string): number[] => (color.match(/[\d.]+/gu) ?? []).map(Number);
  const luminance = (color: string): number => {
    const [red = 0, green = 0, blue = 0] = numbers(color).map((value) => {
      const share = value / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const behind = (element: Element | null): string => {
    for (let each = element; each !== null; each = each.parentElement) {
      const color = getComputedStyle(each).backgroundColor;
      if ((numbers(color)[3] ?? 1) > 0) return color;
    }
    return "rgb(255, 255, 255)";
  };
  const result: Record<string, number> = {};
  for (const selector of [
    ".user .bubble",
    ".bot .bubble",
    ".bubble a",
    ".launcher",
    ".standing",
    ".title",
    ".row .meta",
    ".day",
    "header .avatar",
  ]) {
    const element = shadow?.querySelector(selector) ?? null;
    if (element === null) continue;
    const [one, other] = [luminance(getComputedStyle(element).color), luminance(behind(element))];
    result[selector] = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
  }
  return result;
}
