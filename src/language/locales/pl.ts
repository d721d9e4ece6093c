import type { Locale } from "../locale.ts";
import { unrecognised } from "../unrecognised.ts";

/** Polish. */
export const pl: Locale = {
  bot: null,
  widget: null,
  voice: null,
  ...unrecognised,
  stopWords: "i jest sa moj moja jak co gdzie kiedy dlaczego moge ja to z dla mam nie prosze do w na sie",
  anger: {
    strong:
      "oszusci oszustwo oszustow zlodzieje adwokat prawnik skandal skandaliczne kurwa cholera cholerny wsciekly wsciekla kpina kpiny zenada zenujace uokik dziadostwo idioci",
    medium:
      "niedopuszczalne smieszne okropne straszne fatalne fatalna fatalny beznadziejne beznadziejna beznadziejny najgorsza najgorszy bezuzyteczne zdenerwowany wkurzony zirytowany rozczarowany niekompetentni tragedia masakra porazka",
    mild: "znowu ciagle nadal nigdy nikt nic dni tygodni tygodnie miesiecy czekam ignorujecie",
    negations: "nie",
    phrases:
      "to (?:jest )?(?:jakis |jakas |jakies )?(?:kpina|zart|skandal|oszustwo|kpiny|jaja)|(?:oddajcie|chce|zwroccie) (?:moje |mi )?(?:moje )?pieniadze|nigdy wiecej|mam (?:juz )?(?:dosc|dosyc)|(?:trzeci|czwarty|piaty|dziesiaty) raz|(?:brawo|gratulacje|super|swietnie)[ ,!.]+(?:[a-z]+ ){0,2}trzeci|robicie sobie jaja|co to ma byc|ile mozna|jakis zart|gdzie sa moje pieniadze|serdecznie dosyc|do uokik|do sadu|do konkurencji|banda|zenada|wstyd mi|rezygnuje ze wszystkiego|kpina|oszusci|jaja sobie|robicie z ludzi",
    unspaced: "",
  },
  unfinished: {
    announces:
      "siema|hejka|hej|jest ktos|dzien dobry|dobry|czesc|witam|(?:tylko |jeszcze )?(?:jedno |krotkie |male )?pytanie|mam (?:jedno |takie |krotkie |pewne )?(?:pytanie|pytania|pytanko|problem)|(?:czy )?moge (?:o cos )?(?:zapytac|spytac)|(?:czy )?(?:mozesz|mozecie|moze pan|moze pani) mi pomoc|wiec|i",
    continues: "i lub albo ale bo z ze w o na dla od jesli gdy moj moja moje do miedzy",
    begins: "o odnosnie dla z bez w na od po i ale lub moj moja moje ten ta to",
    lacksObject:
      "(?:i |a |ale )?(?:jak|gdzie|kiedy|dlaczego)(?: (?:moge|mozna|zmienic|znalezc))?|(?:czy)(?: (?:moge|mozna|jest))?|co(?: to)?|(?:chce|chcialbym|chcialabym|potrzebuje)",
    states: "ja my moj moja moje nasz to jest sa byl bylo mam mamy nie",
    requests: "prosze anuluj usun wyslij anulowac",
  },
};
