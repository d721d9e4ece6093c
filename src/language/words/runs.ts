const isAscii = /^\p{ASCII}*$/u;

/** Accents, and the Arabic marks that writers leave out: hamza above and below, vowels, the stretched line. */
const marks = /[\u0300-\u036f\u0640\u064b-\u0655]/g;

/**
 * Lower case without accents, so that "Café" and "cafe" are one word, and so are "ışık" and "IŞIK", "إرجاع" and "ارجاع".
 * Marks of scripts that need them stay.
 */
export function fold(text: string): string {
  if (isAscii.test(text)) return text.toLowerCase();
  return text
    .normalize("NFKD")
    .replaceAll(marks, "")
    .normalize("NFC")
    .toLowerCase()
    .replaceAll("ı", "i")
    .replaceAll("ى", "ي");
}

// Some keyboards put the sign U+02BC for an apostrophe.
const runPattern = /[\p{L}\p{N}\p{M}]+(?:['’ʼ][\p{L}\p{M}]+)*/gu;

/** The runs of letters, digits and marks of a text, with apostrophes inside. */
export function runsOf(text: string): readonly string[] {
  return text.match(runPattern) ?? [];
}

/** Scripts that write words without spaces between them. */
const unspaced =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;

export const isUnspaced = (text: string): boolean => unspaced.test(text);
