/** Characters and words that some parser takes for the start or the end of something. */
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

/** The repeated pieces that the texts consist of: an atom and white space after it. */
const pieces: readonly string[] = [...new Set(atoms.flatMap((atom) => joins.map((join) => `${atom}${join}`)))];

/** Pieces over which a parser once took quadratic time. Every parser reads all of them. */
const onceQuadratic = new Set(["=\n", "==\n", "[", "+ ", "1. ", "- ", "> ", "a@", ",", "東", ", "]);
/** Each parser reads one in `share` of the other pieces, since all take minutes. FUZZ=all reads all. */
const share = process.env["FUZZ"] === "all" ? 1 : 4;

/** Processor time for one long text and for several short ones with the same number of characters. */
export interface Growth {
  readonly piece: string;
  readonly shortMs: number;
  readonly longMs: number;
}

/** Faster readings do no harm, and are too short to be measured. */
const noticedMs = 50;
const shortTexts = 4;
/** The ratio of the long text's time to the short ones' is 1 for linear time and 4 for quadratic time. */
const ratioMax = 2.25;
/** Garbage collection can slow any reading, so the majority of these rounds decides once the first one shows growth. */
const roundsMax = 7;

/** Changes with each parser, so that each reads another share. */
let turn = 0;
/** Parsers cache results of recent texts, so each text is made unique. */
let textsMade = 0;
const fresh = (text: string): string => `${text}${(textsMade += 1)}`;

async function millisecondsOf(run: () => unknown): Promise<number> {
  const before = process.threadCpuUsage();
  await run();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1_000;
}

/** Undefined for linear time, and for times that are too short to matter. */
async function growthOver(piece: string, read: (text: string) => unknown, size: number): Promise<Growth | undefined> {
  const textOf = (characters: number): string =>
    piece.repeat(Math.ceil(characters / piece.length)).slice(0, characters);
  const long = textOf(size);
  const short = textOf(size / shortTexts);
  // One fast reading is enough to pass. It also warms up the code for the measurement below.
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

/** Returns the pieces, `own` included, over which `read` takes more than linear time. */
export async function worseThanLinear(
  read: (text: string) => unknown,
  size: number,
  own: readonly string[] = [],
): Promise<readonly Growth[]> {
  const found: Growth[] = [];
  turn += 1;
  for (const piece of [...pieces.filter((each, at) => (at + turn) % share === 0 || onceQuadratic.has(each)), ...own]) {
    const growth = await growthOver(piece, read, size);
    if (growth !== undefined) found.push(growth);
  }
  return found;
}
