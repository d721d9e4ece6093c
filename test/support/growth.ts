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

/** Processor time for the same number of characters: one long text, and several short ones. */
export interface Growth {
  readonly piece: string;
  readonly shortMs: number;
  readonly longMs: number;
}

/** Texts that are read faster than this do no harm, and are too short to be measured. */
const noticedMs = 50;
const shortTexts = 4;
/** One long text takes as long as the short ones where time is linear, and four times as long where it is quadratic. */
const ratioMax = 2.25;
/** A collection of garbage can slow any reading, so most of these rounds decide where the first one found growth. */
const roundsMax = 7;

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

/** Undefined where it takes linear time, or too little to be noticed. */
async function growthOver(piece: string, read: (text: string) => unknown, size: number): Promise<Growth | undefined> {
  const textOf = (characters: number): string =>
    piece.repeat(Math.ceil(characters / piece.length)).slice(0, characters);
  const long = textOf(size);
  const short = textOf(size / shortTexts);
  // One reading is enough where nothing is wrong. It also compiles what is measured below.
  if ((await millisecondsOf(() => read(fresh(long)))) < noticedMs) return undefined;
  const rounds: Growth[] = [];
  while (rounds.length < roundsMax) {
    const longMs = await millisecondsOf(() => read(fresh(long)));
    const shortMs = await millisecondsOf(async () => {
      for (let text = 0; text < shortTexts; text += 1) await read(fresh(short));
    });
    rounds.push({ piece, shortMs, longMs });
    if (rounds.filter(isLinear).length > (rounds.length === 1 ? 0 : roundsMax / 2)) return undefined;
  }
  return rounds.find((round) => !isLinear(round));
}

const isLinear = ({ shortMs, longMs }: Growth): boolean => longMs < noticedMs || longMs <= ratioMax * shortMs;

/** The pieces, and those of `own`, over which `read` takes more than linear time. */
export async function worseThanLinear(
  read: (text: string) => unknown,
  size: number,
  own: readonly string[] = [],
): Promise<readonly Growth[]> {
  const found: Growth[] = [];
  turn += 1;
  for (const piece of [...pieces.filter((each, at) => (at + turn) % share === 0 || known.has(each)), ...own]) {
    const growth = await growthOver(piece, read, size);
    if (growth !== undefined) found.push(growth);
  }
  return found;
}
