import type { Locale } from "../locale.ts";

/** Norwegian. */
export const nb: Locale = {
  bot: {
    handover: "Jeg gir samtalen videre til kollegene mine. Et menneske svarer deg her.",
    unknown:
      "Det vet jeg ikke: jeg fant ikke svaret i dokumentasjonen vår. Du kan stille spørsmålet på en annen måte eller be om å få snakke med et menneske.",
    waiting: "Meldingen din har kommet fram til teamet vårt. Et menneske svarer deg her.",
    survey:
      "Hvordan var hjelpen vår? Svar med et tall fra 1 (dårlig) til 5 (svært god). Etter et komma kan du legge til en kommentar.",
    rated: "Takk for vurderingen!",
    uncertain: "Jeg er ikke sikker, men dette kan hjelpe:",
    hello: "Hei! Hva kan jeg hjelpe deg med?",
    thanks: "Bare hyggelig! Er det noe mer jeg kan hjelpe med?",
    goodbye: "Ha det bra! Kom tilbake når du har et spørsmål.",
    pleased: "Godt å høre. Er det noe mer jeg kan hjelpe med?",
    about:
      "Jeg er {bot}, en automatisk assistent: jeg svarer fra dokumentasjonen vår. Vil du heller snakke med et menneske, er det bare å si fra.",
    files_only:
      "Jeg kan ikke lese filer. Din er lagret med samtalen. Skriv hva du trenger, eller be om å få snakke med et menneske, som kan åpne den.",
    lookup_failed:
      "Det kunne jeg ikke slå opp akkurat nå. Prøv igjen om noen minutter, eller be om å få snakke med et menneske.",
    lookup_unsure:
      "Jeg kunne ikke se om det gikk gjennom. Ikke prøv igjen ennå: be om å få snakke med et menneske, som kan sjekke det.",
    lookup_unverified:
      "Det kan jeg bare slå opp for kunder som er logget inn. Logg inn og spør igjen, eller be om å få snakke med et menneske.",
    lead_kept: "Takk, det har jeg notert. Vi tar kontakt den veien.",
    lead_wanted: "Oppgi e-postadressen eller telefonnummeret ditt, så tar vi kontakt.",
    hours_open: "Vi har åpent nå, til kl. {time} ({timezone}).",
    hours_today: "Vi har stengt nå og åpner igjen i dag kl. {time} ({timezone}).",
    hours_later: "Vi har stengt nå og åpner igjen på {day} kl. {time} ({timezone}).",
    hours_closed: "Vi har stengt for øyeblikket.",
    lookup_none: "Jeg fant ingenting om det. Sjekk hva du skrev, eller be om å få snakke med et menneske.",
    unknown_language:
      "Dokumentasjonen vår er på et annet språk: {language}. Et spørsmål på det språket finner kanskje mer.",
    did_you_mean: "Mente du noe av dette? Svar med nummeret.",
  },
  widget: null,
  voice: null,
  stopWords: `hvordan hva hvem hvor når hvorfor hvilken hvilke hvilket kan får takk hei vennligst gjør finnes mitt mine
    man jeg`,
  documentWords: "bruke klikk side opplysninger åpne ny",
  functionWords: "",
  spelling: { signs: /[æøå]/u, restored: [], elides: false },
  questions: {
    and: "og",
    asks: "hvordan hvad hva hvem hvor hvornår når hvorfor hvilken hvilke kan",
    opens: "",
    tells: "",
    indirect: "",
    whether: "",
    preambles: [],
  },
  followUp: {
    continuing: "og|men|eller|så|også|hva med",
    pointing: "dette|dertil|derfor",
    final: "det|den|dette|denne|dem",
    measuring: "tar|ta|koster|koste|varer|lang|langt|lenge|tid|mye",
  },
  clauses: { contrasts: "", conjunctions: "", ranges: "", leaning: "", pronouns: "" },
  negations: "",
  numbers: {},
  courtesies: {
    hello: "hei|god dag|god kveld",
    thanks: "takk|tusen takk|takk skal du ha|mange takk",
    goodbye: "ha det|ha det bra|ha en fin dag",
    beside: "for hjelpen|og",
  },
  pleasantries: [],
  letters: { salutations: "", closings: "" },
  handover: {
    talk: "snakke prate tale chatte",
    talkLast: "",
    transfer:
      "sett meg over|sett meg|koble meg|gi meg|fa tak i|fa kontakt med|i kontakt med|kontakt med|send meg videre|settes over til|bli satt over til",
    want: "jeg vil ha|vil ha|jeg trenger|trenger|finnes det|er det|har dere|kan jeg fa|far jeg|heller",
    staff:
      "noen menneske mennesker person personer medarbeider medarbeidere kundeservice radgiver sjef leder kollega support agent konsulent",
    idioms: "ekte menneske|ekte person|virkelig menneske|levende menneske|ring meg|bli ringt opp",
    asks: "er du|er det|snakker jeg|hvordan|hva|hvilken|hvilke|hvor|nar|hvem",
    unspaced: "",
    persons: "menneske medarbeider kundeservice",
    beside: "takk",
    negations: "ikke uten aldri",
    trailing: "",
    clauses: "",
    wishes: "jeg vil",
    wishVerbs: "",
    whys: "hvorfor",
    cans: "far",
    pronouns: "jeg",
  },
  denial: {
    persons: "noen",
    negations: "uten aldri",
    others: "jeg vil snakke med et en",
    joins: "men",
    without: "uten",
    pattern: "",
  },
  anger: {
    strong: "svindel svindlere lureri advokat skandale skandalost faen jaevla helvete rasende drit tyver idioter",
    medium:
      "uakseptabelt latterlig latterlige forferdelig grusomt verst verste elendig ubrukelig sint forbanna frustrert skuffet inkompetente pinlig skammelig",
    mild: "igjen fortsatt aldri ingen ingenting dager uker maneder ventet ignorerer",
    negations: "ikke",
    phrases:
      "dette er (?:en |et )?(?:vits|skandale|svindel|helt sykt)|(?:vil ha|gi meg) pengene mine|aldri mer|na er det nok|har fatt nok|(?:tredje|fjerde|femte|tiende) gang|hva faen|under enhver kritikk|forbrukerradet",
    unspaced: "",
  },
  unfinished: {
    announces:
      "heisann|halla|(?:bare |et )?(?:et )?(?:raskt |lite )?spørsmal|jeg har (?:et|en|noen|to)(?: raskt| lite)? (?:spørsmal|problem)|kan jeg spørre(?: om noe)?|kan (?:du|dere) hjelpe meg|altsa|og",
    continues:
      "en et ei den det de mitt mine din deres og eller men fordi at med om av som nar jeg vi til fra pa mellom",
    begins: "om angaende for med uten pa fra til og men eller den det de en et min mitt mine denne dette",
    lacksObject:
      "(?:og |men )?(?:hvordan|hvor|nar|hvorfor)(?: (?:kan|endrer|finner|far|gjor))?(?: (?:jeg|vi|man))?|(?:kan|ma|skal|er)(?: (?:jeg|vi|man|det))?|hva(?: (?:er|koster))?|jeg (?:vil|ma|skal)(?: gjerne)?",
    states: "jeg vi min mitt var det er har hadde ikke fikk kom virker blir",
    requests: "slett avbestill send vennligst",
  },
  references: { things: "", numbers: "", owned: "mitt|mit", being: "", mine: "" },
  openingHours: ["åpningstider", "har dere åpent"],
  linkBySms: [],
};
