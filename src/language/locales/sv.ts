import type { Locale } from "../locale.ts";

/** Swedish. */
export const sv: Locale = {
  bot: {
    handover: "Jag lämnar över samtalet till mina kollegor. En person svarar dig här.",
    unknown:
      "Det vet jag inte: jag hittade inget svar i vår dokumentation. Du kan ställa frågan på ett annat sätt eller be att få prata med en person.",
    waiting: "Ditt meddelande har nått vårt team. En person svarar dig här.",
    survey:
      "Hur var vår hjälp? Svara med en siffra från 1 (dålig) till 5 (mycket bra). Efter ett kommatecken kan du lägga till en kommentar.",
    rated: "Tack för ditt betyg!",
    uncertain: "Jag är inte säker, men det här kan hjälpa:",
    hello: "Hej! Vad kan jag hjälpa dig med?",
    thanks: "Varsågod! Kan jag hjälpa till med något mer?",
    goodbye: "Hej då! Kom tillbaka när du har en fråga.",
    pleased: "Vad bra. Kan jag hjälpa till med något mer?",
    about:
      "Jag är {bot}, en automatisk assistent: jag svarar ur vår dokumentation. Vill du hellre prata med en människa, säg bara till.",
    files_only:
      "Jag kan inte läsa filer. Din fil sparas med samtalet. Skriv vad du behöver, eller be att få prata med en person, som kan öppna den.",
    lookup_failed:
      "Jag kunde inte slå upp det just nu. Försök igen om några minuter, eller be att få prata med en person.",
    lookup_unsure:
      "Jag kunde inte se om det gick igenom. Försök inte igen ännu: be att få prata med en person, som kan kontrollera det.",
    lookup_unverified:
      "Det kan jag bara slå upp för kunder som är inloggade. Logga in och fråga igen, eller be att få prata med en person.",
    lead_kept: "Tack, det har jag antecknat. Vi hör av oss den vägen.",
    lead_wanted: "Ange din e-postadress eller ditt telefonnummer, så hör vi av oss.",
    hours_open: "Vi har öppet nu, till {time} ({timezone}).",
    hours_today: "Vi har stängt nu och öppnar igen i dag klockan {time} ({timezone}).",
    hours_later: "Vi har stängt nu och öppnar igen på {day} klockan {time} ({timezone}).",
    hours_closed: "Vi har stängt för tillfället.",
    lookup_none: "Jag hittade inget om det. Kontrollera vad du skrev, eller be att få prata med en person.",
    unknown_language: "Vår dokumentation är på ett annat språk: {language}. En fråga på det språket kan ge mer.",
    did_you_mean: "Menade du något av detta? Svara med numret.",
  },
  widget: null,
  voice: null,
  stopWords: `hur vad vem var när varför vilken vilka vilket kan får vill behöver tack hej snälla måste finns gör man mitt
    mina`,
  documentWords: "använda klicka sida uppgifter öppna ny",
  functionWords: "",
  spelling: { signs: /[åäö]/u, restored: [], elides: false },
  questions: {
    and: "och",
    asks: "hur vad vem var när varför vilken vilka vilket kan",
    opens: "",
    tells: "",
    indirect: "",
    whether: "",
    preambles: [],
  },
  followUp: {
    continuing: "och|men|eller|så|också|hur är det med",
    pointing: "detta|därför|därmed",
    final: "det|den|detta|denna|dem",
    measuring: "tar|ta|kostar|kosta|varar|lång|långt|länge|tid|mycket",
  },
  clauses: { contrasts: "", conjunctions: "", ranges: "", leaning: "", pronouns: "" },
  negations: "",
  numbers: {},
  courtesies: {
    hello: "hej|hejsan|god morgon|god dag|god kväll",
    thanks: "tack|tack så mycket|stort tack",
    goodbye: "hej då|adjö|vi hörs",
    beside: "för hjälpen|och",
  },
  pleasantries: [],
  letters: { salutations: "", closings: "" },
  handover: {
    talk: "prata tala snacka chatta",
    talkLast: "",
    transfer:
      "koppla mig|koppla in|kan du koppla|kan ni koppla|kopplas till|bli kopplad till|vidarekoppla mig|ge mig|skicka mig|fa tag pa|fa tag i|fa kontakt med|i kontakt med|kontakt med|fa prata|far jag prata",
    want: "jag vill ha|vill ha|jag behover|behover|finns det|finns|har ni|kan jag fa|far jag|jag kraver|hellre|onskar",
    staff:
      "nagon manniska manniskor person personer medarbetare handlaggare kollega kundtjanst kundservice radgivare chef chefen supporten support agent tekniker en_av kollegor anstalld anstallda teamet",
    idioms:
      "riktig manniska|levande manniska|riktig person|riktig kundtjanst|mansklig agent|ring mig|ring upp mig|ringa upp mig|bli uppringd|aterkoppling fran en manniska|ringer upp mig|inte en bot|aterkomma till mig|aterkommer till mig|slussa mig|stoppa boten|stoppa botten|bli kontaktad|kontakta mig|levande person",
    asks: "ar du|ar det|pratar jag|hur|vad|vilken|vilka|var|nar|vem",
    unspaced: "",
    persons: "manniska medarbetare kundtjanst handlaggare",
    beside: "tack",
    negations: "inte ingen utan aldrig",
    trailing: "",
    clauses: "",
    wishes: "jag vill",
    wishVerbs: "",
    whys: "varfor",
    cans: "far kan kunde",
    pronouns: "jag vi",
  },
  denial: {
    persons: "människa människor person någon",
    negations: "inte ingen utan aldrig",
    others: "jag vill behöver prata tala med en riktig",
    joins: "men",
    without: "utan",
    pattern: "",
  },
  anger: {
    strong:
      "bedragare bedrageri lurendrejare advokat skandal skandalost javla helvete forbannad rasande skit tjuvar idioter",
    medium:
      "oacceptabelt lojligt hemskt fruktansvart varsta vardelos vardelost vardelosa samst arg arga frustrerad besviken inkompetenta skamligt skams skam usel uselt urdalig trott katastrof",
    mild: "igen fortfarande aldrig ingen inget dagar veckor manader vantat ignorerar",
    negations: "inte ej",
    phrases:
      "det har ar (?:ett |en |ju ett |ju )?(?:skamt|skandal|bluff|bedrageri|katastrof)|(?:vill ha|ge mig) (?:tillbaka )?mina pengar|aldrig mer|nu racker det|fatt nog|less pa|(?:tredje|fjarde|femte|tionde) gangen|(?:grattis|bravo|toppen|snyggt|bra jobbat)[ ,!.]+(?:[a-z]+ ){0,2}tredje|skamtar ni|driver ni med|vad fan|konsumentverket|samsta (?:service|kundtjanst)[a-z]*|fy fan|under all kritik|grattis till mig|stralande jobbat|fan vara nog|skitforetag|ni bryr er|hur svart kan det|vilket skamt|noll hjalp|ni har lurat|skams|sager upp allt|till konkurrenten|jakla|javla",
    unspaced: "",
  },
  unfinished: {
    announces:
      "tja|tjena|halla|nagon dar|(?:bara |en |jag har )?(?:en )?(?:snabb |liten )?fraga|jag har (?:en|ett|nagra|tva)(?: snabb| liten)? (?:fraga|fragor|problem)|(?:kan|far) jag fraga (?:en sak|nagot)|kan (?:du|ni) hjalpa mig|alltsa|och",
    continues: "en ett den det de mitt mina din er och eller men for att med om av som nar jag vi till fran pa mellan",
    begins: "om angaende for med utan pa fran till och men eller den det de en ett min mitt mina denna detta",
    lacksObject:
      "(?:och |men )?(?:hur|var|nar|varfor)(?: (?:kan|andrar|hittar|far|gor|byter))?(?: (?:jag|vi|man))?|(?:kan|far|maste|ar)(?: (?:jag|vi|man|det))?|vad(?: (?:ar|kostar))?|jag (?:vill|behover)",
    states: "jag vi min mitt var det ar har hade inte fick kom fungerar blir",
    requests: "avboka skicka radera snalla",
  },
  references: {
    things: "order|faktura|boknings|kund|referens|ärende|konto|försändelse|beställnings",
    numbers: "numret",
    owned: "mitt|min",
    being: "är|er",
    mine: "min|mitt",
  },
  openingHours: ["öppettider", "har ni öppet"],
  linkBySms: [],
};
