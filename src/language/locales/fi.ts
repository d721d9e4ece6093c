import type { Locale } from "../locale.ts";

/** Finnish. */
export const fi: Locale = {
  bot: {
    handover: "Siirrän keskustelun kollegoilleni. Ihminen vastaa sinulle täällä.",
    unknown:
      "En tiedä: en löytänyt vastausta dokumentaatiostamme. Voit esittää kysymyksen toisin tai pyytää saada puhua ihmisen kanssa.",
    waiting: "Viestisi on saapunut tiimillemme. Ihminen vastaa sinulle täällä.",
    survey:
      "Millaista apumme oli? Vastaa numerolla 1 (huonoa) – 5 (erittäin hyvää). Voit lisätä kommentin pilkun jälkeen.",
    rated: "Kiitos arviostasi!",
    uncertain: "En ole varma, mutta tästä voi olla apua:",
    hello: "Hei! Miten voin auttaa?",
    thanks: "Ole hyvä! Voinko auttaa vielä jossakin?",
    goodbye: "Näkemiin! Palaa, kun sinulla on kysyttävää.",
    pleased: "Hienoa. Voinko auttaa vielä jossakin?",
    about:
      "Olen {bot}, automaattinen avustaja: vastaan dokumentaatiomme perusteella. Jos puhut mieluummin ihmisen kanssa, sano vain.",
    files_only:
      "En voi lukea tiedostoja. Tiedostosi säilyy tämän keskustelun yhteydessä. Kerro sanoin, mitä tarvitset, tai pyydä saada puhua ihmisen kanssa, joka voi avata sen.",
    lookup_failed:
      "En voinut tarkistaa asiaa juuri nyt. Yritä uudelleen muutaman minuutin kuluttua tai pyydä saada puhua ihmisen kanssa.",
    lookup_unsure:
      "En voinut varmistaa, onnistuiko se. Älä yritä vielä uudelleen: pyydä saada puhua ihmisen kanssa, joka voi tarkistaa asian.",
    lookup_unverified:
      "Voin tarkistaa tämän vain kirjautuneille asiakkaille. Kirjaudu sisään ja kysy uudelleen tai pyydä saada puhua ihmisen kanssa.",
    lead_kept: "Kiitos, merkitsin sen muistiin. Otamme sinuun yhteyttä sitä kautta.",
    lead_wanted: "Kerro sähköpostiosoitteesi tai puhelinnumerosi, niin otamme sinuun yhteyttä.",
    hours_open: "Olemme nyt avoinna, sulkemisaika {time} ({timezone}).",
    hours_today: "Olemme nyt kiinni ja avaamme uudelleen tänään klo {time} ({timezone}).",
    hours_later: "Olemme nyt kiinni. Avaamme uudelleen: {day} klo {time} ({timezone}).",
    hours_closed: "Olemme tällä hetkellä kiinni.",
    lookup_none: "En löytänyt siitä mitään. Tarkista, mitä kirjoitit, tai pyydä saada puhua ihmisen kanssa.",
    unknown_language: "Dokumentaatiomme on toisella kielellä: {language}. Kysymys sillä kielellä voi löytää enemmän.",
    did_you_mean: "Tarkoititko jotakin näistä? Vastaa sen numerolla.",
  },
  widget: null,
  voice: null,
  stopWords: `miten mikä mitä kuka missä milloin miksi kuinka voinko voiko voin haluan kiitos hei pitää onko paljonko`,
  documentWords: "käyttää napsauta sivu tiedot avata uusi",
  functionWords: "",
  spelling: { signs: /[äö]/u, restored: [], elides: false },
  questions: {
    and: "ja|sekä",
    asks: "miten mikä mitä kuka missä milloin miksi kuinka voiko voinko paljonko",
    opens: "",
    tells: "",
    indirect: "",
    whether: "",
    preambles: [],
  },
  followUp: {
    continuing: "ja|mutta|tai|entä|entäs|myös|sitten",
    pointing: "sen|sitä|siitä|siihen|tämä|tämän",
    final: "se|sen|tämä|ne|sitä",
    measuring: "kestää|kestääkö|kesti|maksaa|maksaako|maksavat|kauan|kauanko|aikaa",
  },
  clauses: { contrasts: "", conjunctions: "", ranges: "", leaning: "", pronouns: "" },
  negations: "",
  numbers: {},
  courtesies: {
    hello: "moi|terve|hyvää päivää|hyvää huomenta|hyvää iltaa",
    thanks: "kiitos|kiitoksia|paljon kiitoksia|kiitos paljon",
    goodbye: "näkemiin|hei hei|moi moi",
    beside: "avusta|ja",
  },
  pleasantries: [],
  letters: { salutations: "", closings: "" },
  handover: {
    talk: "puhua jutella keskustella puhuisin yhdistaa chatata yhdistamaan juttelemaan puhun juttelisin keskustelisin chattailla chattaa puhumaan keskustelemaan yhteyden yhteytta tavoittaa tavoitan asioida asioisin",
    talkLast:
      "puhua jutella keskustella puhumaan juttelemaan yhdista yhdistaa puhelimeen puhun puhuisin keskustelemaan yhteyden yhteytta chatata chattaamaan puheille linjoille asioida",
    transfer:
      "yhdista|yhdistakaa|yhdistaisitko|yhdistaisitteko|voitko yhdistaa|voitteko yhdistaa|siirra|siirra minut|yhdistaa minut|siirra mut|siirtakaa|yhdistatko|siirratko|siirretaan|ohjaa|ohjatkaa|ohjaisitko|pyyda|pyytakaa|kutsu|kutsukaa|eskaloi|valita|valittakaa",
    want: "haluan|haluaisin|tarvitsen|tarvitsisin|onko|loytyyko|saisiko|saako|vaadin|haluun|haluisin|tahdon|tarviin|tarttisin|tarvis|toivon|onko siella|onks siella|saisinko|saanko|annas|anna|antakaa|missa on|mieluummin|mielummin|kunnon|pliis|pyydan|pyytaisin|saisko|saisiks|kaipaan|kaipaisin|haluaisimme|haluamme|halutaan|tarvitaan|tarvitsemme|annappa|hommaa|tahtoisin|toivoisin|voinko|voisinko|onks|miten saan|hanki|hae",
    articles:
      "se tuo jokin jonkun joku teidan sinun ihan vain vaan nyt heti jotain siella siellä teilla edes mulle minulle meille mua minua taa tahan tassa jo yksi yhden oma",
    staff:
      "ihminen ihmisen ihmiselle ihmista ihmisia joku jonkun jollekin henkilo henkilon henkilolle asiakaspalvelija asiakaspalvelijan asiakaspalvelijalle asiakaspalvelijaa asiakaspalveluun asiakaspalvelun asiakaspalvelu esimies esimiehen paallikko edustaja edustajan virkailija virkailijan virkailijalle tyontekija tyontekijan tyontekijalle myyjan asiantuntijan henkilokunta ketaan tyypeille tyypille immeisen kaverille ihmi* jotakuta jollain jokun henkilo* asiakaspalvel* esimie* paallik* edusta* virkailij* tyokaver* asiantunti* ketään tyyp* immei* kolleg* pomo* johtaj* tukihenkil* tukeen neuvoj* konsult* agent* vastuuhenkil* kasittelij* operaattorill* ammattilai* teista laskutuks* tyypill* aspa aspaan aspalle aspaa palvelija* herra rouva",
    real: "oike* elav* aito aidon aidolle kunno* tavalli* todelli* lihaa",
    act: "soittaisi|soittaako|soittakaa|ottaa yhteytta|ottaisi yhteytta|ottaisi minuun|ottaa minuun|yhteytta|vastaisi|vastaisiko|katsoisi|katsomaan|vilkaista|vilkaisisi|tarkistaisi|selvittaa|selvittaisi|kasittelisi|hoitaisi|ottaa koppi|ottaisi koppia|auttaa oikeasti|paikalla|langan paassa|toisessa paassa|linjoilla|tavoitettavissa|vapaana|joka ymmartaa|joka tietaa|joka puhuu|joka ei ole|jonka kanssa|kenen kanssa",
    mine: "minun mun oma omani meidan hanen heidan",
    being: "oletko|oletteko|onko tama|onko tämä|puhunko|ootko|onks tama|olet|oletkos|juttelenko",
    idioms:
      "oikea ihminen|oikean ihmisen|oikealle ihmiselle|oikeaa ihmista|elava ihminen|elavan ihmisen|soittakaa minulle|soita minulle|soittaisi minulle|soittopyynto|soittopyynnon|takaisinsoitto|en botin kanssa|ihmista linjoille|ottaisi minuun yhteytta|ottakaa minuun yhteytta|ota minuun yhteytta|otetaan minuun yhteytta|elavaa asiakaspalvelijaa|lopeta botti|onko siella ketaan|onks siella ketaan|onko ketaan|onks ketaan|onko siella joku|ketaan paikalla|joku teista|jonkun teista|jotain muuta kuin bottia|elava olento|ihan oikea|oikeen ihmisen|oikee ihminen|oikeeta ihmista|oikeaan ihmiseen|oikean ihmisen kanssa|ihmisasiakaspalvelu|ihmiskontakti|henkilokohtaista palvelua|koneen kanssa|koneille|robotin kanssa|robotille|botin kanssa|botille|bottien kanssa|robottien kanssa|ei botti|ei bottia|ei konetta|ei tekoaly|tekoalyn kanssa|botti riittaa|riittaa botti|tarpeeksi botista|kyllastynyt bottiin|ulos botista|botin ohi|botin sijaan|robotin sijaan|botin tilalle|stop botti|soita mulle|soittakaa mulle|soittakaa takaisin|soita takaisin|soittaa takaisin|soittaisitteko|soittaisitko|takaisinsoiton|takaisin soitto|yhteydenotto|yhteydenottoa|yhteydenottopyynto|olkaa yhteydessa|ottakaa yhteytta|ota yhteytta minuun|puhua puhelimessa|puhelimitse jonkun|yhdista minut|yhdistakaa minut|yhdista mut|yhdistakaa mut|siirra minut|ihminen kiitos|virkailija kiitos|asiakaspalvelija kiitos|ihmisen kiitos|ihminen pliis|eskaloi|esimies puhelimeen|esimiehen puheille|pomon puheille|pomolle|jonkun kanssa|jonkun muun|botista paasee|botista ihmiselle|paasee ihmiselle|paasen ihmiselle|ihmissilma*|taas asioida|hoiti asiani|aspa pls|aspa kiitos|aspaan|aspalle|aspaa|ylemmalle taholle|ylempaan|seuraavalle tasolle|ylospain|suomenkielist*|ruotsinkielist*|englanninkielist*|jatkaa joku|joku muu|jollekin muulle|anna jonkun|teknisen tuen kanssa|tekniseen tukeen|puhelimessa jonkun|kenen kanssa voin|kenen kaa|kenelle voin puhua|kenelle voin soittaa|tyontekija tasta|ottakoon|ottaa tasta kopin|koppia tasta|jonoon|jonossa chattiin|chattijono*|tyoskenteleeko siella|onko siella toissa|onko teilla ihmisia|onko teilla oikeita|toista ihmista|elavan olennon|jonkun elavan|miten tast botista|miten tasta botista|miten botista|soittaa mulle|soittaa minulle|soittaisi mulle|soittais mulle|joku soittaa|joku soittaisi|soitatteko|voitteko soittaa|voitko soittaa|voisitteko soittaa|voisitko soittaa|ihmisen langan|langan paahan|ihmisen puhelimeen|ihmista puhelimeen|ihmisen kiinni|saa ihmisen|saan ihmisen|saada ihmisen|saanko ihmisen|saisinko ihmisen|ihmista kiinni|saan kiinni ketaan|saada kiinni|oikeaa tyyppia|oikean tyypin|jonkun oikean|asiakaspalvelijan puheille|puheille|ottaisiko joku|ottaako joku|voiko joku|voisko joku|voisiko joku|pystyyko joku|osaisiko joku|joku ihminen|joku teilta|jonkun teilta|jollekulle|jotakuta|kehen voin|keneen voin|ketka|miten saan yhteyden|miten paasen puhumaan|miten paasee puhumaan|ihmiskasittely|ihmiskasittelyyn|eteenpain|ohjatkaa eteenpain|siirtakaa eteenpain|teikalaisen kanssa|teikalaisia|jonkun teikalaisen|mista numerosta saan|vastaako taalla|vastaako siella|vastaako kukaan|kukaan muu kuin|apua ihmiselta|joku neiti|joka juttelisi|ihminen puikkoihin|jonoon aspaan|miten taalta paasee|miten tasta paasee",
    asks: "oletko|onko tama|puhunko|miten|mika|mitka|missa|milloin|kuka|kuinka",
    unspaced: "",
    yes: "joo kylla juu ok okei jep kiitos selva",
    pass: "yhdist* siirr* siirt* ohjaa ohjat*",
    speaks: "puhu* keskust* juttel* chat* kirjoit* asioi* keskustele*",
    machines:
      "kone koneen konetta koneiden koneelle robot* botti* botin botille botteja bottien tietoko* tekoaly* ai automaat* ohjelma*",
    persons:
      "ihminen ihmista asiakaspalvelija asiakaspalvelijaa asiakaspalvelu asiakaspalvelij* virkailij* asiakaspalvelu* aspa",
    beside: "kiitos nyt pliis pls plz heti hei moi tanne",
    negations: "ei ala ilman",
    trailing: "",
    trailingClose: "",
    clauses: "",
    wishes: "mina haluan",
    wishVerbs: "haluan",
    exists: "onko|eiko|eiko ole|onks",
    whys: "miksi",
    cans: "voinko voisinko voi",
    pronouns: "",
  },
  denial: {
    persons: "ihminen ihmistä ihmisen ihmiselle",
    negations: "ei en älä ilman",
    others: "en halua tarvitse puhua kanssa oikea",
    joins: "mutta",
    without: "",
    pattern: "",
  },
  anger: {
    strong: "huijaus huijarit huijareita asianajaja hapea hapeallista vittu perkele saatana raivoissani paska varkaat",
    medium:
      "tormea naurettavaa kamala kauhea surkea surkeaa huono surkein turha vihainen turhautunut pettynyt kelvoton ala-arvoista kyllastynyt",
    mild: "taas edelleen vielakin koskaan kukaan mitaan paivaa viikkoa kuukautta odottanut",
    negations: "ei en",
    phrases:
      "en (?:enaa )?koskaan|nyt riittaa|(?:kolmas|neljas|viides|kymmenes) kerta|rahat(?:ni)? takaisin|ala-arvoista|mita vittua|kuluttajaneuvonta",
    unspaced: "",
  },
  unfinished: {
    announces:
      "moikka|moi|terve|(?:vain |pieni |nopea )?kysymys|(?:minulla|mulla) (?:on|olisi) (?:yksi |pari |pieni )?(?:kysymys|kysymysta|ongelma)|saanko kysya|voitko auttaa|voitteko auttaa|siis",
    continues: "tai mutta koska etta jos kun minun meidan se tama joka",
    begins: "koskien liittyen mutta tai",
    lacksObject:
      "(?:ja |mutta )?(?:miten|missa|milloin|miksi|kuinka)(?: (?:voin|voimme|saan|muutan|loydan))?|(?:voinko|saanko|onko)|mika(?: on)?|(?:haluan|haluaisin|tarvitsen)",
    states: "mina olen minun meidan se on oli ovat ei en",
  },
  references: {
    things: "tilaus|lasku|varaus|asiakas|viite|tapaus|lähetys|paketti",
    numbers: "numeroni",
    owned: "",
    being: "on",
    mine: "minun",
  },
  openingHours: ["aukioloajat", "oletteko auki"],
  linkBySms: [],
};
