// What people write above and below what they ask, in a letter and often in a chat too. Names that stand there are no words
// that an answer has to know of.

const salutations = [
  "hi|hello|hey|dear|greetings|good (?:morning|afternoon|evening|day)|to whom it may concern",
  "hallo|guten (?:tag|morgen|abend)|moin|servus|liebe[rs]?|sehr geehrte[rs]?",
  "bonjour|bonsoir|salut|cher|chère|chers|madame|monsieur",
  "hola|buenos días|buenas (?:tardes|noches)|estimad[oa]s?|querid[oa]s?",
  "ciao|buongiorno|buonasera|salve|gentil[ei]|egregi[oa]?",
  "olá|oi|bom dia|boa (?:tarde|noite)|prezad[oa]s?|car[oa]s?",
  "beste|geachte|goede(?:morgen|middag|navond|ndag)|hoi|hej|hei",
];
const closings = [
  "(?:best|kind|warm|kindest|warmest)(?: regards| wishes)?|regards|best|cheers|sincerely|yours(?: (?:sincerely|faithfully|truly))?|(?:many )?thanks(?: (?:a lot|so much|again|in advance|and regards|for (?:your|any|the) [a-z]+))?|thank you(?: (?:very much|so much|in advance|for your [a-z]+))?|thx",
  "(?:mit )?(?:freundliche[nm]?|beste[nm]?|liebe[nm]?|viele[nm]?|herzliche[nm]?|schöne[nm]?) gr(?:ü|ue)(?:ß|ss)e?n?|gr(?:ü|ue)(?:ß|ss)e|gru(?:ß|ss)|mfg|lg|vg|(?:vielen |herzlichen |besten )?dank(?: im voraus)?|danke(?: schön| im voraus)?",
  "(?:bien )?cordialement|(?:bien )?à vous|bien à toi|merci(?: beaucoup| d['’]avance)?|sincères salutations|salutations(?: distinguées)?",
  "(?:un )?(?:cordial )?saludos?(?: cordiales)?|atentamente|(?:muchas )?gracias(?: de antemano)?",
  "(?:cordiali|distinti) saluti|saluti|(?:molte )?grazie(?: mille| in anticipo)?",
  "atenciosamente|cumprimentos|abraços?|(?:muito )?obrigad[oa](?: desde já)?",
  "(?:met )?vriendelijke groeten?|groeten?|groetjes|alvast bedankt|bedankt",
];
const salutation = new RegExp(
  `^(?:${salutations.join("|")})(?![\\p{L}\\p{N}])[^?\\n]{0,60}?(?<comma>[,!:.–-]?)$`,
  "iu",
);
/** With no more than a name behind it. */
const closing = new RegExp(
  `^(?:${closings.join("|")})(?:[ ,.!;:–-]{1,4}(?:\\p{L}[\\p{L}.'’-]{0,30} ?){0,3})?[ ,.!–-]{0,3}$`,
  "iu",
);

const textMax = 20_000;
const wordsMax = 4;
/** Below the closing: a name, a company, a place. */
const linesBelowMax = 4;

const words = (line: string): number => line.split(/\s+/u).length;

/** What a message asks or says, without its salutation, its closing and the names below. Never nothing. */
export function letterBody(text: string): string {
  if (text.length > textMax || !text.trim().includes("\n")) return text;
  const lines = text.split("\n").map((line) => line.trim());
  const written = lines.flatMap((line, at) => (line === "" ? [] : [at]));
  // A subject may stand above it.
  const first = written.slice(0, 2).find((at) => isSalutation(lines[at] ?? ""));
  const last = written.slice(-linesBelowMax - 1).find((at) => closing.test(lines[at] ?? "") && isClosed(lines, at));
  const kept = lines.filter((line, at) => {
    if (at === first) return false;
    // A number that somebody puts there may be what it is all about.
    return last === undefined || at < last || (at > last && /\d/.test(line));
  });
  const body = kept.join("\n").trim();
  return /[\p{L}\p{N}]/u.test(body) ? body : text;
}

function isSalutation(line: string): boolean {
  const found = salutation.exec(line);
  return found !== null && (found.groups?.["comma"] !== "" || words(line) <= wordsMax);
}

/** Nothing is asked below it any more. */
function isClosed(lines: readonly string[], at: number): boolean {
  const below = lines.slice(at + 1).filter((line) => line !== "");
  return below.length <= linesBelowMax && below.every((line) => line.length <= 80 && !/[?？]/u.test(line));
}
