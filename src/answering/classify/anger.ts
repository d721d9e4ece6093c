import { foldText } from "#language/phrases.ts";

/** Folded words of angry messages in English, German, French and Spanish, by weight. */
const lexicon: readonly (readonly [number, string])[] = [
  [
    0.55,
    `furious outraged outrageous disgusting disgusted scam scammers scammed fraud fraudsters thieves lawyer lawsuit
    sue pathetic bullshit fuck fucking fucked wtf asshole idiots idiot morons damn bastards crap
    unverschamt unverschamtheit betrug betruger abzocke abzocker anwalt verarscht verarschen scheisse scheiss
    frechheit idioten sauerei wutend
    arnaque arnaqueurs escroquerie escrocs avocat honteux scandaleux merde foutre inadmissible furieux furieuse
    estafa estafadores abogado verguenza vergonzoso mierda indignante furioso furiosa ladrones joder`,
  ],
  [
    0.4,
    `unacceptable ridiculous terrible horrible awful worst useless garbage rubbish hate angry fed ripoff disgrace joke
    infuriating frustrating frustrated annoyed annoying incompetent stupid nonsense disappointed appalling
    inakzeptabel katastrophe katastrophal furchtbar schrecklich nutzlos lacherlich mies miserabel sauer genervt
    frustriert enttauscht inkompetent unmoglich dumm schlimmste schlechteste
    inacceptable ridicule terrible horrible nul nulle inutile pire enerve enervee decu decue marre incompetents
    inaceptable ridiculo terrible horrible inutil peor harto harta enfadado enfadada decepcionado decepcionada
    incompetentes pesimo basura`,
  ],
  [
    0.15,
    `again still never nobody nothing days weeks months waiting ignored ignoring already times ever
    schon wieder immer noch nie niemand nichts tage wochen monate warte ignoriert endlich
    encore toujours jamais personne rien jours semaines mois attends ignore
    otra vez todavia nunca nadie nada dias semanas meses esperando ignoran`,
  ],
];

const weights = new Map(
  lexicon.flatMap(([weight, words]) => words.split(/\s+/u).map((word) => [word, weight] as const)),
);
/** Phrases about the company or the bot, by weight. */
const phrases: readonly (readonly [number, RegExp])[] = [
  [
    0.45,
    /\b(?:this is|das ist|c'?est|esto es) (?:a |an |ein |eine |une? |una? )?(?:joke|disgrace|scam|witz|frechheit|blague|broma|verguenza)\b/u,
  ],
  [
    0.45,
    /\b(?:want|give|geben|will|rendez|devuelv\w*|quiero) (?:me )?(?:my|mein|moi|mon|mi) (?:money|geld|argent|dinero)(?: back| zuruck)?\b/u,
  ],
  [
    0.4,
    /\b(?:waste of (?:my )?time|sick of|had enough|fed up|last time|never again|nie wieder|reicht(?:'s| es)? jetzt|ras le bol|ya basta|estoy hart[oa])\b/u,
  ],
  [
    0.3,
    /\b(?:(?:you|this) (?:bot|thing)?\s?(?:is|are) (?:useless|stupid|dumb)|does ?n.?t (?:help|work) at all|hilft (?:mir )?(?:uberhaupt )?nicht)\b/u,
  ],
];
const negations = new Set("not no never dont isnt wasnt arent nicht kein keine nie pas jamais sin tampoco".split(" "));
/** Up to this weight a word counts only together with heavier ones. */
const small = 0.15;
const charactersMax = 4_000;

/**
 * How angry or frustrated a message reads, 0 to 1, by its words, capitals and exclamation marks. A single strong word is
 * not enough for 0.8; two are, or one that is shouted.
 */
export function angerOf(text: string): number {
  const sample = text.slice(0, charactersMax);
  const folded = foldText(sample).replaceAll("’", "'");
  const words = folded.match(/[\p{L}\p{M}']+/gu) ?? [];
  const plain = words.map((word) => word.replaceAll("'", ""));
  let strong = 0;
  let weak = 0;
  const seen = new Set<string>();
  for (const [at, word] of plain.entries()) {
    const weight = weights.get(word);
    if (weight === undefined || seen.has(word)) continue;
    seen.add(word);
    if (weight <= small) {
      weak += weight;
      continue;
    }
    // Skip negated words: "not angry", "no scam".
    if ([plain[at - 1], plain[at - 2]].some((before) => negations.has(before ?? ""))) continue;
    strong += weight;
  }
  for (const [weight, pattern] of phrases) if (pattern.test(folded)) strong += weight;
  if (strong === 0) return 0;
  const score = strong + Math.min(weak, 0.3) + shouting(sample);
  return Math.min(1, Math.round(score * 100) / 100);
}

/** Extra weight for capitals and repeated exclamation marks. Must not count alone. */
function shouting(text: string): number {
  const words = text.match(/\p{L}{3,}/gu) ?? [];
  const loud = words.filter((word) => word === word.toUpperCase() && word !== word.toLowerCase()).length;
  const capitals = words.length >= 2 && loud / words.length >= 0.4 ? 0.3 : 0;
  const marks = (/[!?]*!{2,}[!?]*|\?!|!\?/u.test(text) ? 0.15 : 0) + (/!{3,}/u.test(text) ? 0.1 : 0);
  return capitals + marks;
}
