import { locales, wordsOfAllLocales } from "#language/locales.ts";

const set = (words: string): ReadonlySet<string> => new Set(words.split(/\s+/).filter((word) => word !== ""));

/** Folded function words of languages other than English. `terms.ts` has those of English. */
export const functionWords: ReadonlySet<string> = new Set(wordsOfAllLocales((locale) => locale.functionWords));

const tens = "twenty thirty forty fifty sixty seventy eighty ninety".split(" ");

/** Number words. Words with another meaning in one of these languages are left out. */
export const numberWords: ReadonlyMap<string, number> = new Map(
  Object.values(locales).flatMap(({ numbers }) => Object.entries(numbers)),
);

/** True for the tens, which ones may follow ("twenty-four"). */
export const isTens = (word: string): boolean => tens.includes(word);
export const multipliers: ReadonlyMap<string, number> = new Map([
  ["hundred", 100],
  ["thousand", 1_000],
  ["million", 1_000_000],
  ["dozen", 12],
]);

/** Words and signs of each unit, one unit per line. The first word is its name. */
const unitLines = `
  second s sec secs seconds sekunde sekunden seconde secondes segundo segundos secondo secondi seconden 秒
  minute min mins minutes minuten minuto minutos minuti minuut 分 分钟 分鐘
  hour h hr hrs hours stunde stunden std heure heures hora horas ora ore uur uren 時間 小时 小時
  day d days tag tage tagen tages jour jours dia dias giorno giorni dag dagen werktag werktage werktagen 日 天 日間
  week weeks wk woche wochen semaine semaines semana semanas settimana settimane weken 週間 周 星期
  month months monat monate monaten mois mes meses mese mesi maand maanden ヶ月 个月 か月
  year years yr yrs jahr jahre jahren an ans annee annees ano anos anno anni jaar 年 年間
  night nights nacht nachte nuit nuits noche noches
  percent % prozent percentage procent
  euro € eur euros
  dollar $ usd dollars us$
  pound £ gbp
  yen ¥ jpy 円
  yuan cny rmb 元
  franc chf francs franken
  rupee ₹ inr rupees
  zloty zł pln
  krone kr sek nok dkk
  cent cents ct
  kilobyte kb kib
  megabyte mb mib megabytes
  gigabyte gb gib gigabytes
  terabyte tb tib terabytes
  milligram mg
  gram g grams gramm grammes
  kilogram kg kilograms kilo kilos
  lb lbs
  millimeter mm
  centimeter cm centimetres centimeters
  meter m meters metres metre
  kilometer km kilometers kilometres
  inch inches
  foot ft feet
  mile miles
  milliliter ml
  liter l liters litres litre liter
  celsius °c
  fahrenheit °f
  watt w watts
  kilowatt kw
  kwh
  volt v volts
  mah
  pixel px pixels
  am a.m
  pm p.m
  bar
  time times
  user users
  seat seats
  person persons people
  item items
  page pages
  character characters
  point points
`;

export const unitOf: ReadonlyMap<string, string> = new Map(
  unitLines
    .split("\n")
    .map((line) => line.trim().split(/\s+/))
    .flatMap((words) => words.filter((word) => word !== "").map((word): [string, string] => [word, words[0] ?? ""])),
);

/** Abbreviations that are a unit only right after the number. */
export const attachedOnly = set("s h d g m l w v an am pm");

/** Negations, folded and without apostrophes. */
export const denials: ReadonlySet<string> = new Set(wordsOfAllLocales(({ negations }) => negations));

/** Pairs of opposites. The source must contain the one that the statement uses. */
export const opposites: readonly (readonly [RegExp, RegExp])[] = [
  [/\bbefore\b/u, /\bafter\b/u],
  [/\bmore than\b|\bover\b|\babove\b/u, /\bless than\b|\bunder\b|\bbelow\b|\bfewer than\b/u],
  [/\bat least\b|\bminimum\b|\bmin\b/u, /\bat most\b|\bmaximum\b|\bmax\b|\bup to\b/u],
  [/\benabl(?:e|es|ed|ing)\b/u, /\bdisabl(?:e|es|ed|ing)\b/u],
  [/\binclud(?:e|es|ed|ing)\b/u, /\bexclud(?:e|es|ed|ing)\b/u],
  [/\b(?:allowed|permitted)\b/u, /\b(?:forbidden|prohibited|banned)\b/u],
  [/\b(?:turn|switch)(?:s|es|ed|ing)? (?:\S+ ){0,3}on\b/u, /\b(?:turn|switch)(?:s|es|ed|ing)? (?:\S+ ){0,3}off\b/u],
  [/\bincreas(?:e|es|ed|ing)\b/u, /\b(?:decreas|reduc)(?:e|es|ed|ing)\b/u],
  [/\b(?:mandatory|required|obligatory)\b/u, /\boptional(?:ly)?\b/u],
  [/\balways\b/u, /\bsometimes\b|\brarely\b/u],
  [/\bonline\b/u, /\boffline\b|\bin store\b/u],
  [/\bvor\b/u, /\bnach\b/u],
  [/\bavant\b/u, /\bapres\b/u],
];

/** Abbreviations that look like names, with the words that a source may have in their place. */
export const spelledOut: ReadonlyMap<string, readonly string[]> = new Map([
  ["sms", ["text message"]],
  ["tv", ["television"]],
  ["uk", ["united kingdom"]],
  ["us", ["united states", "u.s."]],
  ["usa", ["united states", "u.s."]],
  ["eu", ["european union"]],
  ["faq", ["frequently asked questions"]],
]);

/** Words that begin a sentence without being a name. */
export const openers = set(
  `yes no unfortunately please simply first second third then next finally additionally however note generally typically
  otherwise alternatively therefore furthermore moreover also yet still instead currently usually sure okay
  customers customer users user people everyone anyone visitors buyers members items item products orders it they you we
  if when once after before to for in on at by from with during within unless until while as since because although this
  that these those there here all each every some any most many both either only there`,
);

/** Words as critical as numbers, such as dates. They must be in the source. */
export const strictWords = set(
  `january february april june july august september october november december jan feb apr jun jul aug sep
  sept oct nov dec monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays
  saturdays sundays weekend weekends weekday weekdays calendar daily weekly monthly yearly annually hourly quarterly
  free unlimited lifetime forever guaranteed immediately instantly
  januar februar marz juni juli oktober dezember montag dienstag mittwoch donnerstag freitag samstag sonntag
  janvier fevrier avril juin juillet aout septembre octobre novembre decembre lundi mardi mercredi jeudi vendredi
  samedi dimanche enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre lunes martes
  miercoles jueves viernes sabado domingo kostenlos gratuit gratis`,
);
