import { fold } from "#language/english.ts";
import { runsOf } from "#language/tokens.ts";

const setOf = (words: string): ReadonlySet<string> =>
  new Set(words.split(/\s+/).map((word) => fold(word).replaceAll("'", "")));

/** Words for agents, in the supported languages. */
const persons = setOf(
  `human humans person people agent agents operator representative rep someone anybody anyone staff colleague bot robot
  mensch menschen mitarbeiter mitarbeiterin person personen berater jemanden jemandem
  humain humains personne conseiller conseillère quelquun persona personas humano humanos agente agentes alguien
  operatore umano qualcuno pessoa humano atendente alguém mens mensen medewerker iemand
  människa människor person någon menneske mennesker medarbejder nogen noen ihminen ihmistä ihmisen ihmiselle
  человек человека человеком оператор оператора оператором людей`,
);
const negations = setOf(
  `not no never dont without instead nicht kein keine keinen keinem keiner ohne nie pas sans aucun aucune jamais
  sin ningún ninguna nunca non senza nessun nessuno não nem sem nenhum niet geen zonder nooit
  inte ingen utan aldrig ikke intet uden uten aldri ei en älä ilman не нет без никакой`,
);
/** Other words of such a denial. A clause with any further word is not a denial. */
const besides = setOf(
  `i id im do does did want wanna need like would rather to talk talking speak speaking chat chatting with a an the any have has had be of real
  live please just me us my we you connect get give put through transfer contact support now yet right here there
  thanks and but so is this it for
  ich möchte will brauche wir mit einem einer einen ein eine echten echter sprechen reden bitte jetzt mich
  je j ne n ai veux voudrais besoin de d parler à un une avec vrai réel sil vous plaît
  yo no quiero necesito hablar con un una por favor real ahora lo
  io voglio vorrei bisogno di parlare con un una per favore
  eu quero preciso falar com um uma de por favor
  ik wil hoef een met praten spreken echt alsjeblieft
  jag vill behöver prata tala med en riktig jeg vil har brug for behøver tale snakke med et en rigtigt
  en halua tarvitse puhua kanssa oikea мне я хочу нужен нужно говорить с живой пожалуйста надо`,
);
/** Denials in scripts without spaces, where words cannot be compared one by one. */
const unspacedDenial =
  /^\s*我?(?:不要|不需要|不用|不想|别).{0,6}(?:人工|客服|真人)|(?:担当者|人間|オペレーター|有人).{0,8}(?:不要|いらない|いりません|結構)|(?:상담원|사람).{0,8}(?:필요 ?없|말고|싫)/u;
const unspacedMax = 24;
/** Ends of clauses, and conjunctions between a denial and the question. */
const clauseEnd =
  /(?<=[.,;:!?)\n–—，、。？！；])|\s(?=(?:but|so|and|just|aber|sondern|nur|mais|pero|ma|però|mas|maar|men|mutta|но|только)\s)/iu;
const joining = /^\s*(?:but|so|and|just|aber|sondern|nur|mais|pero|ma|però|mas|maar|men|mutta|но|только)\s+/iu;
/** A denial after the question: "How do I cancel without talking to a human". */
const tail = /\s+(?:without|ohne|sans|sin|senza|sem|zonder|utan|uden|uten|без)\s+[^.,;:!?]*$/iu;
const textMax = 2_000;

function isDenial(clause: string): boolean {
  if (clause.length <= unspacedMax && unspacedDenial.test(clause)) return true;
  const words = runsOf(fold(clause)).map((word) => word.replaceAll(/['’ʼ]/gu, ""));
  const has = (set: ReadonlySet<string>): boolean => words.some((word) => set.has(word));
  return (
    has(persons) &&
    has(negations) &&
    words.every((word) => persons.has(word) || negations.has(word) || besides.has(word))
  );
}

/**
 * Removes a denial such as "I don't want a human" from a question. Called after the escalation check, which handles
 * requests for a human. A text that is only a denial is returned unchanged.
 */
export function withoutDenial(text: string): string {
  if (text.length > textMax) return text;
  const parts = text.split(clauseEnd);
  const asked = parts.filter((part) => !isDenial(part));
  const rest = asked.map((part, at) => {
    const whole = at === 0 && asked.length < parts.length ? part.replace(joining, "") : part;
    const end = /[\s.,;:!?]*$/u.exec(whole)?.[0] ?? "";
    const found = tail.exec(whole.slice(0, whole.length - end.length));
    return found !== null && isDenial(found[0]) ? `${whole.slice(0, found.index)}${end}` : whole;
  });
  const joined = rest.join(" ").replaceAll(/\s+/gu, " ").trim();
  const isSame = asked.length === parts.length && rest.every((part, at) => part === parts[at]);
  return isSame || runsOf(joined).length === 0 ? text : joined;
}
