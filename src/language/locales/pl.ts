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
      "oszusci oszustwo oszustow zlodzieje adwokat prawnik skandal skandaliczne kurwa cholera cholerny wsciekly wsciekla kpina kpiny zenada zenujace uokik dziadostwo idioci oszus* zlodziej* złodziej* skandal* kpin* żenad* zenad* dziadost* idiot* debil* matoł* matol* kurw* cholern* gówn* gown* bezczeln* klamc* kłamc* partacz* amator* wstyd* hańb* hanb* porazk* porażk* masakr* szlag beznadziej* nieudoln* burdel* cyrk* smiech* śmiech* rzecznik*",
    medium:
      "niedopuszczalne smieszne okropne straszne fatalne fatalna fatalny beznadziejne beznadziejna beznadziejny najgorsza najgorszy bezuzyteczne zdenerwowany wkurzony zirytowany rozczarowany niekompetentni tragedia masakra porazka niepoważn* niepowazn* niedopuszczaln* zirytowan* rozczarowan* wsciek* wściek* wkurz* fataln* okropn* tragiczn* lekceważ* lekcewaz* brak mam dosc dość chamstw*",
    mild: "znowu ciagle nadal nigdy nikt nic dni tygodni tygodnie miesiecy czekam ignorujecie",
    negations: "nie",
    phrases:
      "to (?:jest )?(?:jakis |jakas |jakies )?(?:kpina|zart|skandal|oszustwo|kpiny|jaja)|(?:oddajcie|chce|zwroccie) (?:moje |mi )?(?:moje )?pieniadze|nigdy wiecej|mam (?:juz )?(?:dosc|dosyc)|(?:trzeci|czwarty|piaty|dziesiaty) raz|(?:brawo|gratulacje|super|swietnie)[ ,!.]+(?:[a-z]+ ){0,2}trzeci|robicie sobie jaja|co to ma byc|ile mozna|jakis zart|gdzie sa moje pieniadze|serdecznie dosyc|do uokik|do sadu|do konkurencji|banda|zenada|wstyd mi|rezygnuje ze wszystkiego|kpina|oszusci|jaja sobie|robicie z ludzi|jaja robicie|robicie (?:sobie )?(?:ze mnie )?jaja|(?:szosty|trzeci|czwarty|piaty|siodmy|dziesiaty) raz|po raz (?:trzeci|czwarty|piaty|kolejny)|i cisza|zero odpowiedzi|brak odpowiedzi(?= ?[!])|brawo|gratulacje|mistrzostwo swiata|szczyt wszystkiego|do adwokata|moj (?:adwokat|prawnik)|w sadzie|do sadu|na policj\\w*|do prokuratur\\w*|uokik|rzecznik\\w* (?:konsument\\w*|praw)|cierpliwosc|oddawajcie|oddajcie|moje pieniadze(?= ?[!])|moja kase|tak mnie traktujecie|traktujecie klient\\w*|tak (?:sie )?traktuje|mam (?:was |tego |juz |po )*(?:serdecznie )?(?:dosc|dosyc|dziurki)|umiecie (?:wy )?(?:w ogole )?czytac|czy (?:wy|ktos) (?:w ogole |tam )*(?:czyta|pracuje|mysli)|jedna gwiazdk\\w*|zero gwiazdek|co za (?:dziadostwo|firma|kpina|bezczelnosc|cyrk|wstyd|syf|banda|porazka)|ostatnie wezwanie|ostatni\\w* (?:szansa|raz|ostrzezenie)|ile razy|dzieki (?:wielkie )?za (?:zepsut\\w*|nic|zmarnowan\\w*)|zepsut\\w* swieta|zniszczyliscie|zmarnowaliscie|szlag|trafi|do konkurencji|przechodze do|odchodze do|(?:moj|moja) (?:pies|kot|babcia)[a-z ]{0,15}(?:lepiej|zrobil\\w*|ogarn\\w*)|nikt (?:nie )?(?:odpisuje|odbiera|odpowiada|reaguje)|wstyd(?:zcie sie)?|ile jeszcze|to jest (?:chore|niepojete|niedopuszczalne)|banda|zlodziejstwo|najgorsz\\w* (?:firma|obsluga|serwis|bank)|wy sobie|kpicie|za kogo (?:mnie|wy)|nabijacie|w konia",
    unspaced: "",
  },
  unfinished: {
    announces:
      "siema|hejka|hej|jest ktos|dzien dobry|dobry|czesc|witam|(?:tylko |jeszcze )?(?:jedno |krotkie |male )?pytanie|mam (?:jedno |takie |krotkie |pewne )?(?:pytanie|pytania|pytanko|problem)|(?:czy )?moge (?:o cos )?(?:zapytac|spytac)|(?:czy )?(?:mozesz|mozecie|moze pan|moze pani) mi pomoc|wiec|i",
    continues: "i lub albo ale bo z ze w o na dla od jesli gdy moj moja moje",
    begins: "o odnosnie dla z bez w na od po i ale lub",
    lacksObject:
      "(?:i |a |ale )?(?:jak|gdzie|kiedy|dlaczego)(?: (?:moge|mozna|zmienic|znalezc))?|(?:czy)(?: (?:moge|mozna|jest))?|co(?: to)?|(?:chce|chcialbym|chcialabym|potrzebuje)",
    states: "ja my moj moja moje nasz to jest sa byl bylo mam mamy nie",
  },
};
