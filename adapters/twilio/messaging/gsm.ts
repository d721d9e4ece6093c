/** The alphabet of text messages (3GPP TS 23.038): what a message holds of it alone takes seven bits a sign. */
const basic = new Set(
  "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà",
);
/** These take the room of two. */
const extension = new Set("^{}\\[~]|€\f");

export function isGsm(text: string): boolean {
  for (const sign of text) if (!basic.has(sign) && !extension.has(sign)) return false;
  return true;
}

/** What a stretch of text takes of a message in this alphabet. */
export function septets(text: string): number {
  let size = 0;
  for (const sign of text) size += extension.has(sign) ? 2 : sign.length;
  return size;
}

/** How many messages a telephone puts together for this text. */
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

/** The same text with signs that keep it in the alphabet, where there are such that read alike. */
export const softened = (text: string): string =>
  text.replaceAll(
    /[‘’‚‛′`´“”„‟″«»‹›‐‑‒–—―−•·…☑☐\t\u00A0\u2002\u2003\u2009\u202F\u00AD\u200B\uFEFF]/gu,
    (sign) => lookAlikes[sign] ?? sign,
  );
