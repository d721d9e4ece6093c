/** Abbreviations inside a sentence; compared in lower case, without the final full stop. */
const abbreviations = new Set(
  `dr mr mrs ms prof rev hon st sr jr gen col capt lt sgt e.g i.e cf vs etc al approx appt apt dept est fig figs inc ltd co
  corp no nos vol pp p ed eds min max tel ext resp incl excl a.m p.m u.s u.k jan feb mar apr jun jul aug sep sept oct nov
  dec mon tue tues wed thu thur thurs fri sat sun`.split(/\s+/),
);
/** Abbreviations that may end a sentence when a capital follows. */
const mayEnd = new Set([
  "etc",
  "a.m",
  "p.m",
  "inc",
  "ltd",
  "co",
  "corp",
  "u.s",
  "u.k",
  "no",
  "min",
  "max",
  "sun",
  "sat",
  "mar",
  "al",
  "p",
  "ed",
]);

/** Characters read before a break. The bound keeps a run of abbreviations linear. */
const abbreviationReach = 24;

const segmenter = new Intl.Segmenter("en", { granularity: "sentence" });

/** Whether the break between `before` and `after` is inside a sentence. */
function continues(before: string, after: string): boolean {
  const word = /(?:^|[\s("'“‘])([\p{L}\p{N}.]+)\.\s*$/u.exec(before.slice(-abbreviationReach))?.[1];
  if (word === undefined) return false;
  const key = word.toLowerCase();
  // Initials: "J. Smith".
  if (/^\p{Lu}$/u.test(word)) return true;
  if (!abbreviations.has(key)) return false;
  return !mayEnd.has(key) || !/^["'“‘(]?\p{Lu}/u.test(after);
}

/** Cuts one paragraph into its sentences; joined by spaces they are the paragraph again. */
export function splitSentences(paragraph: string): string[] {
  const sentences: string[] = [];
  let open = "";
  for (const { segment } of segmenter.segment(paragraph)) {
    if (open !== "" && !continues(open, segment)) {
      sentences.push(open.trim());
      open = "";
    }
    open += segment;
  }
  if (open.trim() !== "") sentences.push(open.trim());
  return sentences;
}
