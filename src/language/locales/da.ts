import type { Locale } from "../locale.ts";

/** Danish. */
export const da: Locale = {
  bot: {
    handover: "Jeg giver samtalen videre til mine kolleger. Et menneske svarer dig her.",
    unknown:
      "Det ved jeg ikke: jeg fandt ikke svaret i vores dokumentation. Du kan stille spørgsmålet på en anden måde eller bede om at tale med et menneske.",
    waiting: "Din besked er nået frem til vores team. Et menneske svarer dig her.",
    survey:
      "Hvordan var vores hjælp? Svar med et tal fra 1 (dårlig) til 5 (meget god). Efter et komma kan du tilføje en kommentar.",
    rated: "Tak for din bedømmelse!",
    uncertain: "Jeg er ikke sikker, men dette kan måske hjælpe:",
    hello: "Hej! Hvad kan jeg hjælpe med?",
    thanks: "Selv tak! Er der andet, jeg kan hjælpe med?",
    goodbye: "Farvel! Kom tilbage, når du har et spørgsmål.",
    pleased: "Det er godt at høre. Er der andet, jeg kan hjælpe med?",
    about:
      "Jeg er {bot}, en automatisk assistent: jeg svarer ud fra vores dokumentation. Vil du hellere tale med et menneske, så sig det bare.",
    files_only:
      "Jeg kan ikke se ind i filer. Din er gemt med samtalen. Skriv, hvad du har brug for, eller bed om at tale med et menneske, som kan åbne den.",
    lookup_failed:
      "Det kunne jeg ikke slå op lige nu. Prøv igen om et par minutter, eller bed om at tale med et menneske.",
    lookup_unsure:
      "Jeg kunne ikke se, om det gik igennem. Prøv ikke igen endnu: bed om at tale med et menneske, som kan undersøge det.",
    lookup_unverified:
      "Det kan jeg kun slå op for kunder, der er logget ind. Log ind og spørg igen, eller bed om at tale med et menneske.",
    lead_kept: "Tak, det har jeg noteret. Vi kontakter dig ad den vej.",
    lead_wanted: "Skriv din e-mailadresse eller dit telefonnummer, så kontakter vi dig.",
    hours_open: "Vi har åbent nu, til kl. {time} ({timezone}).",
    hours_today: "Vi har lukket nu og åbner igen i dag kl. {time} ({timezone}).",
    hours_later: "Vi har lukket nu og åbner igen på {day} kl. {time} ({timezone}).",
    hours_closed: "Vi har lukket i øjeblikket.",
    lookup_none: "Det fandt jeg intet om. Se efter, hvad du skrev, eller bed om at tale med et menneske.",
    unknown_language:
      "Vores dokumentation er på et andet sprog: {language}. Et spørgsmål på det sprog finder måske mere.",
    did_you_mean: "Mente du noget af dette? Svar med nummeret.",
  },
  widget: null,
  voice: null,
  stopWords: `hvordan hvad hvem hvor hvornår hvorfor hvilken hvilke hvilket kan får tak hej venligst gør findes mit mine
    mig man har`,
  documentWords: "bruge klik side oplysninger åbne ny",
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
    continuing: "og|men|eller|så|også|hvad med",
    pointing: "dette|dertil|derfor",
    final: "det|den|dette|denne|dem",
    measuring: "tager|tage|koster|koste|varer|lang|langt|længe|tid|meget",
  },
  clauses: { contrasts: "", conjunctions: "", ranges: "", leaning: "", pronouns: "" },
  negations: "",
  numbers: {},
  courtesies: {
    hello: "goddag|god aften",
    thanks: "mange tak|tusind tak|tak skal du have|tak",
    goodbye: "farvel|hav en god dag",
    beside: "for hjælpen|og",
  },
  pleasantries: [],
  letters: { salutations: "", closings: "" },
  handover: {
    talk: "tale snakke chatte",
    talkLast: "",
    transfer:
      "stil mig|stille mig|sat mig|saet mig|viderestil mig|forbind mig|giv mig|fa fat i|fa fat pa|i kontakt med|kontakt med|send mig videre|komme igennem til|stilles om til|stillet om til",
    want: "jag vil have|jeg vil have|vil have|jeg vil gerne have|jeg skal bruge|jeg har brug for|har brug for|er der|findes der|har i|kan jeg fa|ma jeg fa|jeg onsker|onsker|hellere",
    staff:
      "nogen menneske mennesker person personer medarbejder medarbejdere kundeservice radgiver chef leder kollega support supporten agent konsulent tekniker ansatte ansat supporter",
    idioms:
      "rigtigt menneske|rigtig person|levende menneske|rigtig medarbejder|ring til mig|ring mig op|ringer mig op|blive ringet op|kontakte mig|kontakter mig|viderestil|overtage chatten|levende supporter|stop bot|stop botten|stop robotten|ring mig",
    asks: "er du|er det|taler jeg|snakker jeg|hvordan|hvad|hvilken|hvilke|hvor|hvornar|hvem",
    unspaced: "",
    persons: "menneske medarbejder kundeservice supporter ansatte",
    beside: "tak venligst",
    negations: "ikke uden",
    trailing: "",
    clauses: "",
    wishes: "jeg vil",
    wishVerbs: "",
    whys: "hvorfor",
    cans: "far kan kunne",
    pronouns: "jeg",
  },
  denial: {
    persons: "menneske mennesker medarbejder nogen",
    negations: "ikke intet uden",
    others: "jeg vil har brug for behøver tale snakke med et en rigtigt",
    joins: "men",
    without: "uden",
    pattern: "",
  },
  anger: {
    strong:
      "svindel svindlere fup advokat skandale skandalost fanden satans helvede rasende lort tyve pis idioter forbrugerklagenaevnet",
    medium:
      "uacceptabelt latterligt frygteligt forfaerdeligt vaerste elendig elendigt ubrugelig ubrugeligt vred frustreret skuffet inkompetente skammeligt pinligt haabloest uduelige",
    mild: "igen stadig aldrig ingen intet dage uger maneder ventet ignorerer",
    negations: "ikke ej",
    phrases:
      "det er (?:sgu |simpelthen |fandeme |jo )?(?:en |et )?(?:joke|vits|skandale|svindel|til grin|under al kritik|for darligt|utroligt)|(?:vil have|giv mig) mine penge|aldrig mere|nu er det nok|har faet nok|traet af|(?:tredje|fjerde|femte|tiende) gang|(?:tillykke|bravo|flot|super|godt gaet)[ ,!.]+(?:[a-z]+ ){0,2}tredje|tager i pis|er i klar over|forbrugerradet|darligste (?:service|kundeservice)|hvad fanden|under al kritik|flot klaret|klap jer selv|behandlet som en idiot|tak for endnu et|hvor svaert kan det|skam jer|til konkurrenten|fup og svindel",
    unspaced: "",
  },
  unfinished: {
    announces:
      "undskyld|hejsa|hej med jer|godmorgen|(?:bare |lige )?(?:et )?(?:hurtigt |lille )?spørgsmal|jeg har (?:lige )?(?:et|en|nogle|to)(?: hurtigt| lille)? (?:spørgsmal|problem)|ma jeg spørge (?:om noget)?|kan (?:du|i) hjælpe mig|altsa|og",
    continues: "en et den det de mit mine din jeres og eller men fordi at med om af som nar jeg vi til fra pa mellem",
    begins: "om angaende for med uden pa fra til og men eller den det de en et min mit mine denne dette",
    lacksObject:
      "(?:og |men )?(?:hvordan|hvor|hvornar|hvorfor)(?: (?:kan|ændrer|finder|far|gor))?(?: (?:jeg|vi|man))?|(?:kan|ma|skal|er)(?: (?:jeg|vi|man|det))?|hvad(?: (?:er|koster))?|jeg (?:vil|skal)(?: gerne)?",
    states: "jeg vi min mit vores det er har havde ikke fik kom virker bliver",
    requests: "slet aflys annuller send venligst",
  },
  references: {
    things: "ordre|bestillings|faktura|booking|kunde|reference|referanse|sags|saks|konto|forsendelse|pakke",
    numbers: "nummeret",
    owned: "mit",
    being: "er|lyder",
    mine: "mit",
  },
  openingHours: ["åbningstider", "har i åbent"],
  linkBySms: [],
};
