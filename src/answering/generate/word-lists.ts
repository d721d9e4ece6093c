const set = (words: string): ReadonlySet<string> => new Set(words.split(/\s+/).filter((word) => word !== ""));

/** Folded function words of languages other than English. `terms.ts` has those of English. */
export const functionWords = set(
  `der die das den dem des ein eine einer eines einem einen und oder aber ist sind war wird werden wurde haben hat kann
  konnen sie ihr ihre ihren ihrer er es wir uns ich du mit von vom zu zum zur auf aus bei bis durch fur gegen in im ins
  nach ohne um unter vor wahrend wenn weil dass als auch nur noch schon so wie was wer wo man sich diese dieser dieses
  innerhalb uber an am
  le la les l un une des du de d et ou mais est sont etait sera avoir peut peuvent vous votre vos il elle ils elles nous
  notre je tu avec sans pour par dans en sur sous vers chez que qui quoi dont ou si ce cet cette ces se ne plus au aux
  el los las lo una unos unas y o pero es son fue ser esta estan puede pueden usted ustedes su sus nosotros con sin para
  por en sobre desde hasta que quien cuando si no se al del como mas
  il gli i uno e ma sono essere puo possono lei loro nostro con senza per da di nel nella nei su tra fra che chi non piu
  os as um uma ao aos pelo pela nos nas com sem ate mais nao voce pode podem
  de het een en of maar is zijn was wordt worden kan kunnen u uw hij zij wij met van tot op uit bij voor naar door om
  onder als dat die dit deze er te niet ook nog`,
);

const tenToNineteen = "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split(" ");
const tens = "twenty thirty forty fifty sixty seventy eighty ninety".split(" ");

/** Number words. Words with another meaning in one of these languages are left out. */
export const numberWords: ReadonlyMap<string, number> = new Map([
  ...Object.entries({ zero: 0, one: 1, two: 2, three: 3, four: 4, five: 5, six: 6, seven: 7, eight: 8, nine: 9 }),
  ...tenToNineteen.map((word, index): [string, number] => [word, 10 + index]),
  ...tens.map((word, index): [string, number] => [word, 20 + 10 * index]),
  ...Object.entries({ zwei: 2, drei: 3, vier: 4, funf: 5, sechs: 6, sieben: 7, acht: 8, neun: 9, zehn: 10, zwolf: 12 }),
  ...Object.entries({ deux: 2, trois: 3, quatre: 4, cinq: 5, huit: 8, neuf: 9, dix: 10, onze: 11, douze: 12 }),
  ...Object.entries({ dos: 2, tres: 3, cuatro: 4, cinco: 5, seis: 6, siete: 7, ocho: 8, nueve: 9, diez: 10, doce: 12 }),
  ...Object.entries({ tre: 3, quattro: 4, cinque: 5, sette: 7, otto: 8, nove: 9, dieci: 10, dodici: 12 }),
  ...Object.entries({ dois: 2, duas: 2, quatro: 4, sete: 7, oito: 8, dez: 10, doze: 12 }),
  ...Object.entries({ twee: 2, drie: 3, vijf: 5, zes: 6, zeven: 7, negen: 9, tien: 10, twaalf: 12 }),
  ...Object.entries({ dreissig: 30, vierzehn: 14, trente: 30, quinze: 15, treinta: 30, quince: 15, trenta: 30 }),
]);

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
export const denials = set(
  `not no never none nothing nobody nowhere neither nor cannot cant dont doesnt didnt isnt arent wasnt werent wont wouldnt
  shouldnt couldnt hasnt havent hadnt mustnt neednt aint without unable impossible excluded
  nicht kein keine keinen keiner keines keinem nie niemals ohne weder
  jamais aucun aucune sans
  nunca ningun ninguna ninguno sin tampoco
  non nessun nessuna nessuno senza
  nao nenhum nenhuma sem
  niet geen nooit zonder`,
);

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
