/** The GSM 7-bit default alphabet (3GPP TS 23.038). A message of these characters alone takes seven bits each. */
const basic = new Set(
  "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà",
);
/** The extension table: each of these takes two septets. */
const extension = new Set("^{}\\[~]|€\f");

export function isGsm(text: string): boolean {
  for (const sign of text) if (!basic.has(sign) && !extension.has(sign)) return false;
  return true;
}

/** The length of a text in septets. */
export function septets(text: string): number {
  let size = 0;
  for (const sign of text) size += extension.has(sign) ? 2 : sign.length;
  return size;
}

/** The number of segments that carry this text. */
export function segmentsOf(text: string): number {
  const [size, single, joined] = isGsm(text) ? [septets(text), 160, 153] : [text.length, 70, 67];
  return size <= single ? 1 : Math.ceil(size / joined);
}

const lookAlikes: Readonly<Record<string, string>> = {
  "‘": "'",
  "’": "'",
  "‚": "'",
  "‛": "'",
  "′": "'",
  "`": "'",
  "´": "'",
  "“": '"',
  "”": '"',
  "„": '"',
  "‟": '"',
  "″": '"',
  "«": '"',
  "»": '"',
  "‹": "<",
  "›": ">",
  "‐": "-",
  "‑": "-",
  "‒": "-",
  "–": "-",
  "—": "-",
  "―": "-",
  "−": "-",
  "•": "-",
  "·": "-",
  "…": "...",
  "☑": "[x]",
  "☐": "[ ]",
  "\t": " ",
  "\u00A0": " ",
  "\u2002": " ",
  "\u2003": " ",
  "\u2009": " ",
  "\u202F": " ",
  "\u00AD": "",
  "\u200B": "",
  "\uFEFF": "",
};

/** Replaces characters by look-alikes of the GSM alphabet where it has them. */
export const softened = (text: string): string =>
  text.replaceAll(
    /[‘’‚‛′`´“”„‟″«»‹›‐‑‒–—―−•·…☑☐\t\u00A0\u2002\u2003\u2009\u202F\u00AD\u200B\uFEFF]/gu,
    (sign) => lookAlikes[sign] ?? sign,
  );
