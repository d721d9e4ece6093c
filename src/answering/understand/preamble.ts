import { withoutDenial } from "#answering/classify/denial.ts";
import { runsOf } from "#language/tokens.ts";

/** Phrases around a question that ask for nothing. Greetings and thanks are stop words already. */
const phrases = [
  "(?:(?:i(?:'ve| have)?(?: got)?|just|got) )?(?:a |one |another )?(?:quick|short|small|little|simple|general) question(?: for you)?",
  "i(?:'ve| have)? (?:got )?(?:a|one|another) question(?: for you)?",
  "(?:can|could|would) (?:you|u|someone|somebody|anyone|anybody) (?:please |pls |plz )?help(?: me)?(?: out| with this)?(?= *[.,:;!?\\n])",
  "(?:please|pls|plz|pleas) help(?: me)?|help(?: me)?(?: please| pls| plz)?(?= *!+| *$)",
  "i(?:'m| am| was) (?:just )?wondering(?: if| whether)?",
  "sorry (?:to bother you|for bothering you)|thanks in advance|good (?:morning|afternoon|evening|day)",
  "(?:eine )?(?:kurze|kleine) frage|ich (?:habe|hab|hätte) (?:eine|ne|mal eine) (?:kurze |kleine )?frage|(?:können|könnt|kannst) (?:sie|ihr|du) mir (?:bitte )?helfen",
  "(?:une )?petite question|j['’]ai une (?:petite )?question|pouvez-vous m['’]aider|aidez[- ]moi",
  "tengo una (?:pregunta|duda)|una (?:pregunta|duda)(?= *[,:])|(?:me )?pueden? ayudar(?:me)?",
  "ho una domanda|una domanda(?= *[,:])|(?:mi )?pu(?:ò|oi|oʻ) aiutar(?:mi|e)?|potete aiutarmi",
  "tenho uma (?:pergunta|dúvida)|uma (?:pergunta|dúvida)(?= *[,:])|pode(?:m)? (?:me )?ajudar",
  "(?:een )?(?:korte|kleine) vraag|ik heb een (?:korte )?vraag|(?:kunt u|kun je|kunnen jullie) (?:mij|me) helpen",
];
const preamble = new RegExp(`(?<![\\p{L}\\p{N}])(?:${phrases.join("|")})(?![\\p{L}\\p{N}])`, "giu");
const textMax = 2_000;

/** Removes such phrases and denials. Returns the text without denials when nothing else would be left. */
export function stripPreamble(text: string): string {
  if (text.length > textMax) return text;
  const wanted = withoutDenial(text);
  const rest = wanted.replaceAll(preamble, " ");
  return runsOf(rest).length === 0 ? wanted : rest;
}
