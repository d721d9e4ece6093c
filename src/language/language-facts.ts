import { stopwords as danishStops } from "@orama/stopwords/danish";
import { stopwords as dutchStops } from "@orama/stopwords/dutch";
import { stopwords as finnishStops } from "@orama/stopwords/finnish";
import { stopwords as frenchStops } from "@orama/stopwords/french";
import { stopwords as germanStops } from "@orama/stopwords/german";
import { stopwords as italianStops } from "@orama/stopwords/italian";
import { stopwords as norwegianStops } from "@orama/stopwords/norwegian";
import { stopwords as portugueseStops } from "@orama/stopwords/portuguese";
import { stopwords as russianStops } from "@orama/stopwords/russian";
import { stopwords as spanishStops } from "@orama/stopwords/spanish";
import { stopwords as swedishStops } from "@orama/stopwords/swedish";
import { stemmer as danish } from "@orama/stemmers/danish";
import { stemmer as dutch } from "@orama/stemmers/dutch";
import { stemmer as finnish } from "@orama/stemmers/finnish";
import { stemmer as french } from "@orama/stemmers/french";
import { stemmer as german } from "@orama/stemmers/german";
import { stemmer as italian } from "@orama/stemmers/italian";
import { stemmer as norwegian } from "@orama/stemmers/norwegian";
import { stemmer as portuguese } from "@orama/stemmers/portuguese";
import { stemmer as russian } from "@orama/stemmers/russian";
import { stemmer as spanish } from "@orama/stemmers/spanish";
import { stemmer as swedish } from "@orama/stemmers/swedish";

/** Languages whose words are known in their forms. Texts of any other are compared word by word. */
export const wordLanguages = ["en", "de", "fr", "es", "it", "pt", "nl", "sv", "da", "nb", "fi", "ru"] as const;
export type WordLanguage = (typeof wordLanguages)[number];
/** English has finer rules, where they are used. */
export type OtherLanguage = Exclude<WordLanguage, "en">;

/** All that is known of the words of a language. */
export interface LanguageFacts {
  /** Words that carry no subject of their own. */
  readonly stops: readonly string[];
  /** Words of questions that say nothing of what is asked, and that the list does not have. */
  readonly asking: string;
  readonly stem: (word: string) => string;
  /** Signs that only some languages write. */
  readonly signs?: RegExp;
  /** Many type without accents; the endings are known with theirs. */
  readonly restored?: readonly (readonly [RegExp, string])[];
  /** Writes an article or preposition before an apostrophe: "l'article", "dell'ordine". */
  readonly elides?: true;
  /** How a question goes on from the one before. */
  readonly followUp: FollowUp;
}

/** Words and phrases, parted by "|". */
export interface FollowUp {
  /** Begin a question that goes on from the one before. */
  readonly continuing: string;
  /** Stand for what was spoken of before, wherever they are. */
  readonly pointing: string;
  /** Do so where nothing follows that they could belong to. */
  readonly final: string;
  /** Ask how long it takes and what it costs, and say nothing of what, parted by spaces. */
  readonly measuring: string;
}

export const languageFacts: Readonly<Record<OtherLanguage, LanguageFacts>> = {
  de: {
    stops: germanStops,
    asking: `wie was wer wen wem wessen wo wohin woher wann warum wieso weshalb welche kann können möchte möchten bitte gibt geht
    eigentlich mal habt dürfen darf müssen sollen danke hallo lange oft ihn wäre würde eure`,
    stem: german,
    signs: /[äöüß]/u,
    followUp: {
      continuing: "und|aber|oder|also|dann|sowie|auch|wie ist es|was ist mit",
      pointing: "dafür|davon|damit|dazu|dabei|darüber|daran|darauf|dessen",
      final: "das|es|dies|dieser|diese|sie|er|ihn",
      measuring: "dauert dauern dauerte kostet kosten lang lange zeit viel",
    },
  },
  fr: {
    stops: frenchStops,
    asking: `comment quand où pourquoi combien quoi dont est-ce puis peux peut pouvez pouvons dois doit faut faire fait voudrais
    veux avoir être merci bonjour svp plus très si donc alors lorsque jusque jusqu qu`,
    stem: french,
    signs: /[çêèùœîôû]|\b(?:qu|l|d|j|n|c)['’]/u,
    elides: true,
    followUp: {
      continuing: "et|mais|ou|alors|donc|aussi|qu'en est-il",
      pointing: "ça|cela|celui-ci|celle-ci|ceux-ci",
      final: "ça|cela|il|elle|ils|elles|ce|le|la",
      measuring: "prend prendre prends coûte coûtent coûter dure durer temps longtemps",
    },
  },
  es: {
    stops: spanishStops,
    asking: `cómo qué cuál cuáles cuándo dónde quién quiénes cuánto cuánta puedo puede pueden quiero quisiera hacer tengo debo gracias
    hola favor necesito`,
    stem: spanish,
    signs: /[ñ¿¡áíóé]/u,
    restored: [[/([cs])ion$/, "$1ión"]],
    followUp: {
      continuing: "y|pero|o|entonces|también|además|qué hay de",
      pointing: "eso|esto|ello|ése|ésa",
      final: "eso|esto|él|ella|ellos",
      measuring: "tarda tardan tardar tardará dura durar cuesta cuestan costar vale tiempo demora",
    },
  },
  it: {
    stops: italianStops,
    asking: `come cosa quando dove chi perché quanto quanta quali posso può possono puoi vorrei voglio devo fare essere avere grazie
    ciao favore c'è dell all nell dall sull quest`,
    stem: italian,
    signs: /[àèìòù]|\b(?:dell|all|nell|dall|un|l)['’]/u,
    elides: true,
    followUp: {
      continuing: "e|ma|o|oppure|allora|quindi|anche|inoltre",
      pointing: "ciò|quello|questo",
      final: "questo|quello|esso|essa|lui|lei",
      measuring: "dura durare costa costano costare tempo vuole impiega richiede",
    },
  },
  pt: {
    stops: portugueseStops,
    asking: `como que qual quais quando onde quem porque porquê quanto quanta quantos posso pode podem quero queria gostaria fazer
    tenho devo obrigado obrigada olá favor preciso vocês`,
    stem: portuguese,
    signs: /[ãõçêâ]/u,
    restored: [
      [/cao$/, "ção"],
      [/coes$/, "ções"],
    ],
    followUp: {
      continuing: "e|mas|ou|então|também|além disso",
      pointing: "isso|isto|disso|disto|nisso",
      final: "isso|isto|ele|ela|aquilo",
      measuring: "demora demorar dura custa custam custar leva levar tempo",
    },
  },
  nl: {
    stops: dutchStops,
    asking: `hoe wat wie waar wanneer waarom welke welk hoeveel kan kunt mag wil graag alstublieft bedankt hallo jullie zijn is moeten
    krijg er ik mijn`,
    stem: dutch,
    followUp: {
      continuing: "en|maar|of|dus|dan|ook|hoe zit het met",
      pointing: "daarvoor|daarvan|daarmee|daarbij|daarover|ervoor|ervan|ermee",
      final: "dat|het|dit|deze|die",
      measuring: "duurt duren kost kosten lang tijd",
    },
  },
  sv: {
    stops: swedishStops,
    asking: `hur vad vem var när varför vilken vilka vilket kan får vill behöver tack hej snälla måste finns gör man mitt mina`,
    stem: swedish,
    signs: /[åäö]/u,
    followUp: {
      continuing: "och|men|eller|så|också|hur är det med",
      pointing: "detta|därför|därmed",
      final: "det|den|detta|denna|dem",
      measuring: "tar ta kostar kosta varar lång långt länge tid mycket",
    },
  },
  da: {
    stops: danishStops,
    asking: `hvordan hvad hvem hvor hvornår hvorfor hvilken hvilke hvilket kan får tak hej venligst gør findes mit mine mig man har`,
    stem: danish,
    signs: /[æøå]/u,
    followUp: {
      continuing: "og|men|eller|så|også|hvad med",
      pointing: "dette|dertil|derfor",
      final: "det|den|dette|denne|dem",
      measuring: "tager tage koster koste varer lang langt længe tid meget",
    },
  },
  nb: {
    stops: norwegianStops,
    asking: `hvordan hva hvem hvor når hvorfor hvilken hvilke hvilket kan får takk hei vennligst gjør finnes mitt mine man jeg`,
    stem: norwegian,
    signs: /[æøå]/u,
    followUp: {
      continuing: "og|men|eller|så|også|hva med",
      pointing: "dette|dertil|derfor",
      final: "det|den|dette|denne|dem",
      measuring: "tar ta koster koste varer lang langt lenge tid mye",
    },
  },
  fi: {
    stops: finnishStops,
    asking: `miten mikä mitä kuka missä milloin miksi kuinka voinko voiko voin haluan kiitos hei pitää onko paljonko`,
    stem: finnish,
    signs: /[äö]/u,
    followUp: {
      continuing: "ja|mutta|tai|entä|entäs|myös|sitten",
      pointing: "sen|sitä|siitä|siihen|tämä|tämän",
      final: "se|sen|tämä|ne|sitä",
      measuring: "kestää kestääkö kesti maksaa maksaako maksavat kauan kauanko aikaa",
    },
  },
  ru: {
    stops: russianStops,
    asking: `как что кто где когда почему зачем сколько какой какая какие могу можно нужно хочу пожалуйста спасибо здравствуйте мне
    мой моя мои ли это есть`,
    stem: russian,
    followUp: {
      continuing: "и|а|но|или|тогда|также|а что",
      pointing: "это|этого|этому|этим|него|неё",
      final: "это|он|она|оно|они|этого",
      measuring: "занимает займёт длится стоит стоят долго времени время",
    },
  },
};

/** How a further question is joined to one in a sentence, and with what words questions begin. English has finer rules. */
export const questionWords: readonly { readonly and: string; readonly asks: string }[] = [
  {
    and: "und|sowie",
    asks: "wie was wer wen wem wo wohin wann warum wieso welche welcher welches kann können gibt ist sind",
  },
  { and: "et", asks: "comment quand où pourquoi combien quel quelle quels quelles qui est-ce puis-je peut-on" },
  { and: "y|e", asks: "cómo como qué que cuál cual cuándo cuando dónde donde quién cuánto cuanto cuánta puedo puede" },
  { and: "e|ed", asks: "come quando dove perché chi quale quali quanto quanta posso cosa" },
  { and: "e", asks: "como quando onde quem qual quais quanto quanta posso" },
  { and: "en", asks: "hoe wat wie waar wanneer waarom welke hoeveel kan kunnen is" },
  { and: "och", asks: "hur vad vem var när varför vilken vilka vilket kan" },
  { and: "og", asks: "hvordan hvad hva hvem hvor hvornår når hvorfor hvilken hvilke kan" },
  { and: "ja|sekä", asks: "miten mikä mitä kuka missä milloin miksi kuinka voiko voinko paljonko" },
  { and: "и|а", asks: "как что кто где когда почему сколько какой какая какие можно" },
];
