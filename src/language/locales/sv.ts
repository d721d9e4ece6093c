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
    talk: "prata tala snacka chatta pratar snackar talar chattar kontakt kontakta kommunicera",
    talkLast: "",
    transfer:
      "koppla mig|koppla in|kan du koppla|kan ni koppla|kopplas till|bli kopplad till|vidarekoppla mig|ge mig|skicka mig|fa tag pa|fa tag i|fa kontakt med|i kontakt med|kontakt med|fa prata|far jag prata|kopplad|kopplas|slussa|slussas|skicka detta|satt mig|vidare till|vidarebefordra|kom i kontakt med|komma i kontakt med|komma fram till|kommer jag fram till|kommer jag till|na fram till|far tag i|far tag pa|fatt i|fatt pa|eskalera till|eskalera|lamna over till|lamna over|overlat till|hjalp av|tala med|prata med|snacka med|chatta med|talas med|hora av|blanda in|tillkalla|hjalp fran|svar fran|svar av|stod fran|stod av",
    want: "jag vill ha|vill ha|jag behover|behover|finns det|finns|har ni|kan jag fa|far jag|jag kraver|hellre|onskar|vill ha en|vill jag ha en|behover en|jag behover en|kraver|kraver en|onskar en|hellre en|finns det en|finns det nan|finns nan|har ni en|kan jag fa en|ge mig|ge mig en|var ar|bara en|tack en|snalla en|soker en|begar|vill|ge|hamta|vill na|ta hit|ropa pa",
    articles: "en ett den det de er din eran med av bara nu garna hellre annan riktig fa ha prata",
    staff:
      "nagon manniska manniskor person personer medarbetare handlaggare kollega kundtjanst kundservice radgivare chef chefen supporten support agent tekniker en_av kollegor anstalld anstallda teamet nan nagan ngn manniskan manniska* personal* medarbetare* handlaggar* kolleg* kundtjanst* kundservice* radgivar* chef* supportpersonal agent* tekniker* anstall* specialist* saljare* ansvarig* ledning* arbetsledare* administrator* konsult* operator* receptionen ekonomi* fackfolk fru herr fakturaavdelning* supportteknik*",
    real: "riktig* levande mansklig* verklig* fysisk* kompetent*",
    act: "ringa mig|ringa upp|ringer mig|ringer upp|kontakta mig|kontaktar mig|aterkomma|aterkommer|hora av sig|hor av sig|ta over|tar over|overta|kollar pa|kika pa|kikar pa|ta en titt|svara mig|svarar mig|ta hand om|tar hand om|ga in och|hjalpa mig pa riktigt|tillganglig|tillgangliga|pa andra sidan|i luren|pa traden|som forstar|som fattar|som svarar|jag kan prata|jag kan chatta|jag kan ringa|man kan prata|man kan chatta|att prata med|att snacka med|att chatta med",
    mine: "min mitt mina var vart vara hans hennes deras sin",
    being: "ar du|ar det|ar ni|pratar jag|ar det har|ar jag|chattar jag|talar jag",
    idioms:
      "riktig manniska|levande manniska|riktig person|riktig kundtjanst|mansklig agent|ring mig|ring upp mig|ringa upp mig|bli uppringd|aterkoppling fran en manniska|ringer upp mig|inte en bot|aterkomma till mig|aterkommer till mig|slussa mig|stoppa boten|stoppa botten|bli kontaktad|kontakta mig|levande person|nagon dar|nan dar|ar det nagon dar|ar nagon dar|ar det nan dar|nagon hemma|nan hemma|nagon tillganglig|nagon av er|nan av er|en av er|nagon fran|nan fran|nagon i teamet|nan i teamet|nan riktig|nagon riktig|en levande|riktiga manniskor|nagon levande|nan levande|mansklig kontakt|mansklig hjalp|manskligt|mansklig support|mansklig handlaggare|mansklig personal|med maskiner|med en maskin|med robotar|med en robot|med bottar|med en bot|med datorer|inte ai|inte en maskin|slippa botten|slippa boten|slippa bot|slut med botten|nog med bot|nog av bot|trott pa botten|trott pa boten|less pa botten|leds pa botten|istallet for en bot|istallet for bot|istallet for en robot|i stallet for en bot|ur botten|forbi botten|stang av botten|ring tillbaka|bli uppringda|bli ringd|blir uppringd|ringa tillbaka|ringer tillbaka|aterkom till mig|aterkom per telefon|hor av er|hor av dig|hora av er|prata per telefon|eskalera|eskaleras|koppla mig|kopplas vidare|bli kopplad|manniska tack|kundtjanst tack|medarbetare tack|handlaggare tack|agent tack|din chef|er chef|ar det nan|ar det nagon|koppla mig till|kopplas till|direkt med nagon|direkt med nan|med nagon hos|med nan hos|nagon hos er|nan hos er|slipper jag boten|slipper jag botten|en riktig en|prata med en riktig|jobbar det folk|jobbar det nagon|jobbar nagon|jobbar det manniskor|pa plats|nasta niva|hogre upp|lyfta arendet|lyfta detta|i ko till|i ko for|i kon|koa till|hamta nan|hamta nagon|nan annan|nagon annan|personlig hjalp|personlig kontakt|personlig service|over telefon|over telefonen|vem kan jag prata|vem kan jag tala|vem pratar jag med om|vem ska jag prata|vem kan jag kontakta|slapp fram|ta over det har|nagon som pratar|nan som pratar|nagon som talar|nan som talar|med en av er|levande varelse|mansklig blick|manskliga ogon|manniska titta*|manniska kolla*|hur slipper jag|till fakturaavdelning*|kan ni ringa|kan nagon ringa|kan nan ringa|kan nan hora|kan nagon hora|be nagon|be nan|ringa mig|vill bli kontaktad|vill bli uppringd|kontakt med er|na er pa telefon|kan du be|hur nar jag|hur far jag tag|hur kommer jag i kontakt|hur kommer jag fram|nagon ur|hur kommer jag ur|hur kommer jag forbi",
    asks: "ar du|ar det|pratar jag|hur|vad|vilken|vilka|var|nar|vem",
    unspaced: "",
    yes: "ja japp ok okej absolut garna jo tack",
    pass: "koppla* slussa* skicka* slapp* vidare overlat*",
    speaks: "prat* snack* tal* chatt* skriv*",
    machines: "maskin* robot* bot bots bottar botten boten dator* ai chatbot* program*",
    persons:
      "manniska medarbetare kundtjanst handlaggare kundtjanst* operator kundtjanstmedarbetare radgivare personal agent chefen supporttekniker",
    beside: "tack snalla pls nu please hej genast bara en ett",
    negations: "inte ingen utan aldrig",
    trailing: "",
    trailingClose: "inte",
    clauses: "",
    wishes: "jag vill",
    wishVerbs: "",
    exists: "finns det|finns|har ni|ar det",
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
      "bedragare bedrageri lurendrejare advokat skandal skandalost javla helvete forbannad rasande skit tjuvar idioter skandal* bedrag* tjuv* skit* jävl* javl* fan idiot* dumma skam* usel* urusel* värdelös* vardelos* patetisk* lögn* logn* pinsam* inkompetent* amator* odugl* skräp* skrap* lurendrej* clowner oacceptabel* löjlig* lojlig*",
    medium:
      "oacceptabelt lojligt hemskt fruktansvart varsta vardelos vardelost vardelosa samst arg arga frustrerad besviken inkompetenta skamligt skams skam usel uselt urdalig trott katastrof oforskamt oforskamd* respektlos* bedrovlig* rasande less katastrof* daligt dåligt undermalig* skamlig*",
    mild: "igen fortfarande aldrig ingen inget dagar veckor manader vantat ignorerar",
    negations: "inte ej",
    phrases:
      "det har ar (?:ett |en |ju ett |ju )?(?:skamt|skandal|bluff|bedrageri|katastrof)|(?:vill ha|ge mig) (?:tillbaka )?mina pengar|aldrig mer|nu racker det|fatt nog|less pa|(?:tredje|fjarde|femte|tionde) gangen|(?:grattis|bravo|toppen|snyggt|bra jobbat)[ ,!.]+(?:[a-z]+ ){0,2}tredje|skamtar ni|driver ni med|vad fan|konsumentverket|samsta (?:service|kundtjanst)[a-z]*|fy fan|under all kritik|grattis till mig|stralande jobbat|fan vara nog|skitforetag|ni bryr er|hur svart kan det|vilket skamt|noll hjalp|ni har lurat|skams|sager upp allt|till konkurrenten|jakla|javla|(?:fem|fyra|tre|sex|sju|tio|\\d+) (?:mejl|mail|samtal|meddelanden)[a-z ,]{0,20}(?:inte|inget|ingen|noll)|inte ett enda|standardsvar|tack for (?:absolut )?(?:ingenting|inget|noll)|tack for att ni forstor|(?:kopplar|drar) (?:jag )?in (?:en |min )?advokat|min advokat|advokat (?:in|kopplas|tar)|loser ni inte|far jag inte|annars (?:anmaler|gar|kontaktar|blir|polisanmaler)|anmaln?ing|anmaler (?:er|jag|detta)|arn|konsumentverket|allmanna reklamation|polisanmal|dumma i huvudet|talamod\\w*|ta slut|mina pengar|era (?:tjuvar|bedragare|idioter|jävla|javla|clowner)|kund i|som luft|blir man behandlad|behandlar ni|hur (?:trog|dum|svart|korkad|manga ganger)|rent ut sagt|en stjarna|1 stjarna|noll stjarnor|byter (?:bank|bolag|leverantor|operator|abonnemang)|gar till konkurren\\w*|rena rama|grattis|bravo|applader|snyggt jobbat|bra jobbat|borde skammas|skams ta er|ni borde|forstor(?:t|a|de) (?:hela|min|var|mitt)|(?:min|mitt) (?:hund|katt|barn|mormor)[a-z ]{0,15}(?:hade|kan|gor|ger|skulle)|kan ni (?:inte |ens )?lasa|laser ni|laser nagon|sista (?:chansen|varningen|gangen)|(?:fjarde|femte|sjatte|sjunde|tionde) gangen|jag ar (?:sa )?(?:less|trott|rasande|forbannad|arg)|trott pa (?:er|att|detta|det har)|less pa|fatt nog|racker nu|nu racker|vad i helvete|for helvete|dra at|skarp er|skarpning|ingen (?:svarar|bryr|gor|hor)|under all|katastrofal|samsta|vilket (?:skamt|skit|cirkus|jävla|javla|haveri)|vilken (?:cirkus|skandal|skam|parodi|soppa)|driver ni|skojar ni|lurad|blast",
    unspaced: "",
  },
  unfinished: {
    announces:
      "tja|tjena|halla|nagon dar|(?:bara |en |jag har )?(?:en )?(?:snabb |liten )?fraga|jag har (?:en|ett|nagra|tva)(?: snabb| liten)? (?:fraga|fragor|problem)|(?:kan|far) jag fraga (?:en sak|nagot)|kan (?:du|ni) hjalpa mig|alltsa|och",
    continues: "en ett den det de mitt mina din er och eller men for att med om av som nar jag vi",
    begins: "om angaende for med utan pa fran till och men eller",
    lacksObject:
      "(?:och |men )?(?:hur|var|nar|varfor)(?: (?:kan|andrar|hittar|far|gor|byter))?(?: (?:jag|vi|man))?|(?:kan|far|maste|ar)(?: (?:jag|vi|man|det))?|vad(?: (?:ar|kostar))?|jag (?:vill|behover)",
    states: "jag vi min mitt var det ar har hade inte",
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
