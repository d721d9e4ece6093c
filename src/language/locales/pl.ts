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
};
