/** Signs and words that some parser treats as the beginning or the end of something. */
const atoms = [
  ..."= == - -- * ** _ ~~ ` ``` # > | |-| + 1. : , . ? ! / // \\ @ & % ( ) [ ] { } < </ <!-- ' \" “ — 0 12 12:".split(
    " ",
  ),
  ..."a Aß é 東 。 か 한 ا ก 😀 a. a, a? a@ a: a= a- *a _a [a]( ![ [a] [^a]: <a> <p> </p> &amp; &# www.a. http://a".split(
    " ",
  ),
  ...'no and what? ich 5€ 49.90 2024-01-01 +49 0171 DE00 A-1 x@y.z <a@b> =?utf-8?q? [1, a,b "a",'.split(" "),
  "- [ ] ",
  "> a | a",
  " ",
  "\t",
  "\u200B",
  "\u0301",
  "\uD83D",
  "\0",
];

const joins = ["", " ", "\n", "\n\n"];

/** Texts that consist of one repeated piece each: a piece is an atom and what stands behind it. */
const pieces: readonly string[] = [...new Set(atoms.flatMap((atom) => joins.map((join) => `${atom}${join}`)))];

/** Pieces over which a parser took quadratic time once. Each of them is read by every parser. */
const known = new Set(["=\n", "==\n", "[", "+ ", "1. ", "- ", "> ", "a@", ",", "東", ", "]);
/** Of the other pieces each parser reads one in so many: all of them take minutes. FUZZ=all reads all. */
const share = process.env["FUZZ"] === "all" ? 1 : 4;

export interface Growth {
  readonly piece: string;
  readonly smallMs: number;
  readonly largeMs: number;
}

/** Texts that are read faster than this do no harm, and are too short to be measured. */
const noticedMs = 50;
/** Four times the text takes four times as long where time is linear, and sixteen times where it is quadratic. */
const ratioMax = 9;
const rounds = 3;

/** The next parser reads other pieces. */
let turn = 0;
/** Parsers keep what they have made of recent texts, so no text is read twice. */
let texts = 0;
const fresh = (text: string): string => `${text}${(texts += 1)}`;

async function millisecondsOf(run: () => unknown): Promise<number> {
  const before = process.threadCpuUsage();
  await run();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1_000;
}

async function leastOf(run: () => unknown): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < rounds; round += 1) least = Math.min(least, await millisecondsOf(run));
  return least;
}

/** The pieces over which `read` takes more than linear time, measured as the processor's time within one run. */
export async function worseThanLinear(read: (text: string) => unknown, size: number): Promise<readonly Growth[]> {
  const found: Growth[] = [];
  turn += 1;
  for (const piece of pieces.filter((each, at) => (at + turn) % share === 0 || known.has(each))) {
    const textOf = (characters: number): string =>
      piece.repeat(Math.ceil(characters / piece.length)).slice(0, characters);
    const small = textOf(size / 4);
    const large = textOf(size);
    // One reading is enough where nothing is wrong.
    if ((await millisecondsOf(() => read(fresh(large)))) < noticedMs) continue;
    const largeMs = await leastOf(() => read(fresh(large)));
    if (largeMs < noticedMs) continue;
    const smallMs = await leastOf(() => read(fresh(small)));
    if (largeMs > ratioMax * smallMs) found.push({ piece, smallMs, largeMs });
  }
  return found;
}
