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
    talk: "tale snakke chatte taler snakker chatter kontakte",
    talkLast: "",
    transfer:
      "stil mig|stille mig|sat mig|saet mig|viderestil mig|forbind mig|giv mig|fa fat i|fa fat pa|i kontakt med|kontakt med|send mig videre|komme igennem til|stilles om til|stillet om til|stille|stilles|stillet|viderestil|viderestilles|viderestillet|sat os|forbind|forbinde|forbindes|send mig|send videre|sende mig|tilkald|fa fat|far fat i|far fat pa|far jeg fat|komme i kontakt|kommer jeg i kontakt|komme igennem|kommer jeg igennem|tale med|snakke med|chatte med|hjaelp fra|hjaelp af|hore fra|eskaler|eskalere|eskaleres|videre til|overgiv til|inddrag|hjælp fra|hjælp af|svar fra|svar af|sæt mig",
    want: "jag vil have|jeg vil have|vil have|jeg vil gerne have|jeg skal bruge|jeg har brug for|har brug for|er der|findes der|har i|kan jeg fa|ma jeg fa|jeg onsker|onsker|hellere|vil have en|vil gerne have en|vil gerne have|vil bare have en|vil hellere have en|skal bruge en|har brug for en|er der en|er der ikke en|findes der en|har i en|kan jeg fa en|ma jeg fa en|kraever|kraever en|forlanger|onsker en|hellere en|giv mig|giv mig en|hvor er|bare en|soger|gerne en|vil|behov for|brug for|giv|hent|hente|kald pa|jeg ønsker|ønsker|kræver|kræver en|ønsker en|søger",
    articles: "en et den det de jeres din med af bare nu gerne hellere anden rigtig have fa",
    staff:
      "nogen menneske mennesker person personer medarbejder medarbejdere kundeservice radgiver chef leder kollega support supporten agent konsulent tekniker ansatte ansat supporter nogle menneske* personale* medarbejder* kundeservice* kundecenter* radgiver* chef* leder* kolleg* support* agent* konsulent* tekniker* ansat* specialist* ansvarlig* ledelse* sagsbehandler* medhjaelper* operator* administration bogholderi* regnskab* vejleder* medarb medarbj* fru hr medhjælper*",
    real: "rigtig* levende menneskelig* virkelig* fysisk* kompetent*",
    act: "ringe mig|ringer mig|kontakte mig|kontakter mig|vende tilbage|vender tilbage|tage over|tager over|overtage|overtager|kigger pa|tage et kig|gennemga|vurderer|svare mig|svarer mig|handtere|handterer|tage sig af|tager sig af|traede ind|hjaelpe mig rigtigt|til radighed|tilgaengelig|pa vagt|til stede|i roret|i den anden ende|bag skaermen|der forstar|der svarer|der ikke er|jeg kan tale|jeg kan snakke|jeg kan chatte|jeg kan ringe|man kan tale|man kan snakke|at tale med|at snakke med|at chatte med|derude|jeg kan fa fat|ringe til os|tage den|håndterer|træde ind|hjælpe mig rigtigt|til rådighed|i røret|bag skærmen",
    mine: "min mit mine vores hans hendes deres sin",
    being: "er du|er det|er i|taler jeg|snakker jeg|er jeg|er det her|er dette|skriver jeg med",
    idioms:
      "rigtigt menneske|rigtig person|levende menneske|rigtig medarbejder|ring til mig|ring mig op|ringer mig op|blive ringet op|kontakte mig|kontakter mig|viderestil|overtage chatten|levende supporter|stop bot|stop botten|stop robotten|ring mig|er der nogen der|nogen derude|nogen hjemme|nogen ledig|nogen til stede|nogen pa vagt|en af jer|nogen af jer|en fra jer|et levende|rigtige mennesker|menneskelig kontakt|menneskelig hjaelp|menneskelig support|menneskelig medarbejder|med maskiner|med en maskine|med robotter|med en robot|med botter|med bots|med en bot|med en computer|ikke ai|ikke en bot|ikke en maskine|ingen bot|slut med bot|slut med botten|nok af bot|nok af den bot|nok med bot|nok af robotter|traet af botten|traet af den her bot|traet af bot|traet af robotter|i stedet for en bot|i stedet for bot|i stedet for en robot|istedet for en bot|istedet for en robot|ud af botten|forbi botten|sluk botten|sluk bot|ringe mig op|ringet op|blive ringet|blive kontaktet|kontakt mig|ring tilbage|ringe tilbage|tilbagekald|tale telefonisk|personlig kontakt|personlig betjening|personlig hjaelp|eskaler|eskaleres|stil mig|stil om|stillet om|stilles om|stille mig videre|viderestilles|menneske tak|medarbejder tak|kundeservice tak|supporter tak|agent tak|din chef|jeres chef|snakke med en|tale med en|er der nogen derinde|nogen derinde|med et menneske|med nogen hos|med en hos|hos jer|bede om et opkald|et opkald pa|menneskeojne|par menneske*|ojne pa den|ansatte man kan|ansatte jeg kan|i overhovedet ansatte|er * pa arbejde|op i systemet|hojere op|naeste niveau|en leder ind|ind over|der taler tysk|en der taler|nogen der taler|find en person|find et menneske|i ko til|i ko for|i koen|saet mig i ko|lad en anden|lad nogen|lad et menneske|en anden tage|ring lige|ring lige til mig|ringe til os|ringe til mig|over telefonen|hvem kan jeg tale|hvem kan jeg snakke|hvem kan hjaelpe mig|hvem skal jeg tale|radgiver i roret|i roret|nogen i roret|levende vaesen|medarb pls|medarb tak|kundeservice medarb|kan en af jeres|kan en af dine|en radgiver i roret|rigtige folk|kan i ringe|kan nogen ringe|vil i ringe|ringer i til mig|ringe til mig pa|kan du fa nogen|fa nogen til|bed nogen|bede nogen|bed en kollega|bed en af|kontaktet af|hvor kan jeg tale|hvordan far jeg fat|hvordan far jeg kontakt|hvordan kommer jeg i kontakt|kan man tale med|kan man snakke med|kan man fa fat|kan jeg fa nogen|kan jeg fa en person|rigtige personer|hvordan kommer jeg ud af|hvordan kommer jeg forbi|en fra jeres|menneskelig hjælp|træt af botten|træt af den her bot|træt af bot|træt af robotter|personlig hjælp|menneskeøjne|øjne pa den|højere op|næste niveau|i kø til|i kø for|i køen|sæt mig i kø|hvem kan hjælpe mig|radgiver i røret|i røret|nogen i røret|levende væsen|en radgiver i røret",
    asks: "er du|er det|taler jeg|snakker jeg|hvordan|hvad|hvilken|hvilke|hvor|hvornar|hvem",
    unspaced: "",
    yes: "ja jo ok okay gerne fint tak",
    pass: "stil* viderestil* send* forbind* videre overlad*",
    speaks: "tal* snak* skriv* chat*",
    machines: "maskin* robot* bot bots botten computer* ai chatbot* program*",
    persons:
      "menneske medarbejder kundeservice supporter ansatte medarbejder* kundeservice* ansat* kundeservicemedarbejder sagsbehandler radgiver personale operator medarb medarbj*",
    beside: "tak venligst pls plz nu hej bare en et straks",
    negations: "ikke uden",
    trailing: "",
    trailingClose: "ikke",
    clauses: "",
    wishes: "jeg vil",
    wishVerbs: "",
    exists: "er der|findes der|har i",
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
      "svindel svindlere fup advokat skandale skandalost fanden satans helvede rasende lort tyve pis idioter forbrugerklagenaevnet skandal* svindl* svindel* tyve* lort* lorte* idiot* fup* fandeme sgu satan* helved* pis* pinlig* latterlig* elendig* ubrugelig* uduelig* uacceptabel* loegn* løgn* amatør* amator* klovn* dilettant* skam* bedrag* rovere røvere",
    medium:
      "uacceptabelt latterligt frygteligt forfaerdeligt vaerste elendig elendigt ubrugelig ubrugeligt vred frustreret skuffet inkompetente skammeligt pinligt haabloest uduelige respektløst respektlost træt traet sur rasende arrogant katastrof* ringe uforskammet urimelig* under",
    mild: "igen stadig aldrig ingen intet dage uger maneder ventet ignorerer",
    negations: "ikke ej",
    phrases:
      "det er (?:sgu |simpelthen |fandeme |jo )?(?:en |et )?(?:joke|vits|skandale|svindel|til grin|under al kritik|for darligt|utroligt)|(?:vil have|giv mig) mine penge|aldrig mere|nu er det nok|har faet nok|traet af|(?:tredje|fjerde|femte|tiende) gang|(?:tillykke|bravo|flot|super|godt gaet)[ ,!.]+(?:[a-z]+ ){0,2}tredje|tager i pis|er i klar over|forbrugerradet|darligste (?:service|kundeservice)|hvad fanden|under al kritik|flot klaret|klap jer selv|behandlet som en idiot|tak for endnu et|hvor svaert kan det|skam jer|til konkurrenten|fup og svindel|tager i (?:gas|pis|fusen|røven|roven)|tager pis|sikke (?:et|en)|(?:sjette|femte|fjerde|syvende|tiende) gang|ingen (?:svarar|svarer|ringer|gør|gor|reagerer|hjælper)|endnu et standardsvar|standardsvar|arets arbejdsplads|(?:min|til min|en) advokat(?= ?(?:[.!,]|$|tager|overtager|kontakter|ind))|gar jeg til|hører jeg ikke|horer jeg ikke|forbruger(?:klage|rad|ombud)\\w*|ryger sagen|klagenævn\\w*|i er (?:sgu|da|jo|simpelthen|så|sa|godt nok|ubrugelige|elendige|til grin)|træt af (?:det|jer|at|den)|traet af|bliver man (?:spist|behandlet)|kunde i|behandler (?:i|man) (?:jeres|kunder)|hold nu (?:op|kæft)|hvor er i|kan i (?:ikke |overhovedet )?læse|læser i|læser nogen|en stjerne|én stjerne|1 stjerne|nul stjerner|velbekomme|sidste (?:varsel|chance|advarsel|gang)|politianmeld\\w*|skifter (?:selskab|bank|udbyder|leverandør)|til konkurren\\w*|hvor mange gange|hvor svært|(?:min|mit) (?:hund|kat|barn|mormor|farmor)[a-zæøå ]{0,15}(?:giver|kan|kunne|gør|ville)|(?:tusind )?tak for (?:at )?(?:ødelægge|ingenting|spildt|lort)|ødelagt|ødelægge|har ødelagt|mine penge|for fanden|for helvede|hvad fanden|rend mig|tag jer sammen|skam jer|i burde skamme|under al|til grin|vittighed|joke|tålmodighed\\w*|talmodighed\\w*|(?:fem|fire|tre|seks|syv|ti|\\d+) (?:mails|beskeder|opkald)[a-zæøå ,]{0,20}(?:ingen|intet|ikke|nul)|tillykke|bravo|flot klaret|godt gået|imponerende|værste (?:firma|kundeservice|service)|det er for dårligt|simpelthen for dårligt|det kan i ikke være bekendt",
    unspaced: "",
  },
  unfinished: {
    announces:
      "hejsa|hej med jer|godmorgen|(?:bare |lige )?(?:et )?(?:hurtigt |lille )?spørgsmal|jeg har (?:lige )?(?:et|en|nogle|to)(?: hurtigt| lille)? (?:spørgsmal|problem)|ma jeg spørge (?:om noget)?|kan (?:du|i) hjælpe mig|altsa|og",
    continues: "en et den det de mit mine din jeres og eller men fordi at med om af som nar jeg vi",
    begins: "om angaende for med uden pa fra til og men eller",
    lacksObject:
      "(?:og |men )?(?:hvordan|hvor|hvornar|hvorfor)(?: (?:kan|ændrer|finder|far|gor))?(?: (?:jeg|vi|man))?|(?:kan|ma|skal|er)(?: (?:jeg|vi|man|det))?|hvad(?: (?:er|koster))?|jeg (?:vil|skal)(?: gerne)?",
    states: "jeg vi min mit vores det er har havde ikke",
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
