/** What became of messages on their way. */
export interface Tally {
  readonly lost: number;
  /** Copies beyond the first. */
  readonly doubled: number;
  /** Messages that stand behind one that was written after them. */
  readonly disordered: number;
}

/** `wanted` messages, numbered from 1; `got`: the numbers as they arrived. */
export function tally(wanted: number, got: readonly number[]): Tally {
  const first = got.filter((number, at) => got.indexOf(number) === at);
  const strange = first.filter((number) => number < 1 || number > wanted);
  if (strange.length > 0) throw new Error(`nobody has written number ${strange.join()}`);
  return {
    lost: wanted - first.length,
    doubled: got.length - first.length,
    disordered: first.filter((number, at) => first.slice(0, at).some((before) => before > number)).length,
  };
}

/** As it stands in a table. */
export const tallyText = ({ lost, doubled, disordered }: Tally): string => `${lost} · ${doubled} · ${disordered}`;

/** The numbers that stand behind this word, in the order of the texts: `reply 3` → 3. */
export function numbersBehind(word: string, texts: readonly string[]): readonly number[] {
  const pattern = new RegExp(`\\b${word} (\\d+)\\b`, "g");
  return texts.flatMap((text) => [...text.matchAll(pattern)].map(([, number]) => Number(number)));
}
