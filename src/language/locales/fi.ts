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
    talk: "puhua jutella keskustella puhuisin yhdistaa chatata yhdistamaan juttelemaan",
    talkLast: "puhua jutella keskustella puhumaan juttelemaan yhdista yhdistaa puhelimeen",
    transfer:
      "yhdista|yhdistakaa|yhdistaisitko|yhdistaisitteko|voitko yhdistaa|voitteko yhdistaa|siirra|siirra minut|yhdistaa minut|siirra mut|siirtakaa",
    want: "haluan|haluaisin|tarvitsen|tarvitsisin|onko|loytyyko|saisiko|saako|vaadin",
    staff:
      "ihminen ihmisen ihmiselle ihmista ihmisia joku jonkun jollekin henkilo henkilon henkilolle asiakaspalvelija asiakaspalvelijan asiakaspalvelijalle asiakaspalvelijaa asiakaspalveluun asiakaspalvelun asiakaspalvelu esimies esimiehen paallikko edustaja edustajan virkailija virkailijan virkailijalle tyontekija tyontekijan tyontekijalle myyjan asiantuntijan henkilokunta ketaan tyypeille tyypille immeisen kaverille",
    idioms:
      "oikea ihminen|oikean ihmisen|oikealle ihmiselle|oikeaa ihmista|elava ihminen|elavan ihmisen|soittakaa minulle|soita minulle|soittaisi minulle|soittopyynto|soittopyynnon|takaisinsoitto|en botin kanssa|ihmista linjoille|ottaisi minuun yhteytta|ottakaa minuun yhteytta|ota minuun yhteytta|otetaan minuun yhteytta|elavaa asiakaspalvelijaa|lopeta botti",
    asks: "oletko|onko tama|puhunko|miten|mika|mitka|missa|milloin|kuka|kuinka",
    unspaced: "",
    persons: "ihminen ihmista asiakaspalvelija asiakaspalvelijaa asiakaspalvelu",
    beside: "kiitos nyt",
    negations: "ei ala ilman",
    trailing: "",
    clauses: "",
    wishes: "mina haluan",
    wishVerbs: "haluan",
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
    begins: "koskien liittyen mutta tai minun meidan se tama",
    lacksObject:
      "(?:ja |mutta )?(?:miten|missa|milloin|miksi|kuinka)(?: (?:voin|voimme|saan|muutan|loydan))?|(?:voinko|saanko|onko)|mika(?: on)?|(?:haluan|haluaisin|tarvitsen)",
    states: "mina olen minun meidan se on oli ovat ei en",
    requests: "peru peruuttakaa poistakaa poista lahettakaa",
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
