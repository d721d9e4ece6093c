/** Counts of lost, duplicated and disordered messages. */
export interface Tally {
  readonly lost: number;
  /** Copies after the first. */
  readonly doubled: number;
  /** Messages that arrived after one that was written later. */
  readonly disordered: number;
}

/** `sent`: the number of messages, numbered from 1; `got`: the numbers as they arrived. */
export function tally(sent: number, got: readonly number[]): Tally {
  const first = got.filter((number, at) => got.indexOf(number) === at);
  const strange = first.filter((number) => number < 1 || number > sent);
  if (strange.length > 0) throw new Error(`there is no message number ${strange.join()}`);
  return {
    lost: sent - first.length,
    doubled: got.length - first.length,
    disordered: first.filter((number, at) => first.slice(0, at).some((before) => before > number)).length,
  };
}

/** The form used in the documentation's tables. */
export const tallyText = ({ lost, doubled, disordered }: Tally): string => `${lost} · ${doubled} · ${disordered}`;

/** The numbers after this word, in the order of the texts: `reply 3` → 3. */
export function numbersBehind(word: string, texts: readonly string[]): readonly number[] {
  const pattern = new RegExp(`\\b${word} (\\d+)\\b`, "g");
  return texts.flatMap((text) => [...text.matchAll(pattern)].map(([, number]) => Number(number)));
}
