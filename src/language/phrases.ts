// The sign that some keyboards put for an apostrophe is one too.
const wordPattern = /[\p{L}\p{N}\p{M}]+(?:['’ʼ][\p{L}\p{M}]+)*/gu;
/** Scripts that write words without spaces between them. */
const unspaced =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;

export const isUnspaced = (text: string): boolean => unspaced.test(text);

/** Lower case without accents. */
export function foldText(text: string): string {
  return text
    .normalize("NFKD")
    .replaceAll(/[\u0300-\u036f]/g, "")
    .normalize("NFC")
    .toLowerCase();
}

/** A text as its words: in lower case, without accents and apostrophes. */
export interface Words {
  readonly folded: string;
  readonly words: readonly string[];
}

export function wordsIn(text: string): Words {
  const folded = foldText(text);
  return { folded, words: [...folded.matchAll(wordPattern)].map(([word]) => word.replaceAll(/['’ʼ]/gu, "")) };
}

/** Whether the text has this phrase, word for word; where a script has no spaces, anywhere. */
export function hasPhrase({ folded, words }: Words, phrase: string): boolean {
  if (isUnspaced(phrase)) return folded.includes(foldText(phrase).trim());
  const wanted = wordsIn(phrase).words;
  if (wanted.length === 0) return false;
  for (let at = 0; at + wanted.length <= words.length; at += 1) {
    if (wanted.every((word, offset) => words[at + offset] === word)) return true;
  }
  return false;
}
