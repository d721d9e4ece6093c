import { namesOf } from "./clauses.ts";
import { hardFactsOf, plain } from "./hard-facts.ts";

const charactersMax = 120;

/** Sentences that need no source: greetings, transitions and closings without a statement. */
const phrases = [
  "(?:hi|hello|hey)(?: there)?",
  "(?:sure|certainly|absolutely|of course|gladly|no problem|great question|good question)(?: thing)?",
  "(?:i'm |i am |i'd be |i would be )?(?:happy|glad) to help(?: you)?(?: with (?:that|this))?",
  "thanks?(?: you)? for (?:asking|your (?:question|message)|reaching out|getting in touch)",
  "(?:i'm |i am )?sorry (?:to hear that|for the (?:trouble|inconvenience))",
  "here(?:'s| is| are)(?: (?:how|what|the (?:steps|details|answer|overview)|a (?:short |quick )?(?:summary|overview)|some (?:details|more details)|what (?:you can do|i found|to do)|how (?:it works|to do (?:it|that|this))))+",
  "(?:just |simply |please )?follow these (?:simple )?steps",
  "(?:to do (?:so|that|this|it)|in short|in summary|to sum up|in detail|step by step|the steps are|these are the steps|steps|summary|details|note|please note|for example|in addition|also|next|then|finally|afterwards|otherwise|alternatively)",
  "(?:please )?(?:let me know|tell me|feel free to ask|just ask)(?: (?:if|should|whether) (?:you|there)(?:'s| is| are| have| need| has)?(?: (?:any|more|further|other|anything|else|questions?|help|i can|you'd like|to know|have|need|with|that|this|your|about|it|a|something|not clear|unclear))*)?",
  "(?:if you have|should you have) (?:any )?(?:more |further |other )?questions,? (?:please )?(?:let me know|just ask|feel free to ask|i'm happy to help)",
  "(?:i hope|hope) (?:this|that) helps",
  "is there anything else (?:i can (?:help(?: you)? with|do for you))?",
  "have a (?:nice|great|good) day",
  "(?:gerne|hallo|guten tag|so geht(?:'s| es)|bitte beachten sie|melden sie sich gerne?,? wenn sie (?:weitere )?fragen haben)",
  "(?:bonjour|bien sûr|voici comment(?: faire)?|n'hésitez pas(?: si vous avez d'autres questions)?)",
  "(?:hola|claro|por supuesto|así se hace|espero que (?:esto )?(?:le |te )?ayude)",
];
const pattern = new RegExp(`^(?:(?:${phrases.join("|")})[\\s,.!:;–—?]*){1,3}$`, "iu");

export function isPleasantry(sentence: string): boolean {
  if (sentence.length > charactersMax) return false;
  const said = plain(sentence)
    .replaceAll("’", "'")
    .replaceAll(/[*_]/gu, "")
    .replaceAll(/\p{Extended_Pictographic}|\ufe0f/gu, "")
    .trim();
  if (/[`<>[\]()@/\\]/u.test(said)) return false;
  const { quantities, letters } = hardFactsOf(said);
  const named = namesOf(said.slice(1)).length > 0 && !/^(?:hallo|guten)/iu.test(said);
  return quantities.every(({ vague }) => vague) && letters.length === 0 && !named && pattern.test(said);
}
