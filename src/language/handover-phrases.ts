import type { SpokenLanguage } from "./bot-texts/languages.ts";

/** English puts the same few verbs before the same few names; a kind of person ("a real person") is enough alone. */
function english(): readonly string[] {
  const each = (befores: readonly string[], names: readonly string[]): readonly string[] =>
    befores.flatMap((before) => names.map((name) => `${before} ${name}`));
  const talk = each(["talk", "speak", "chat"], ["to", "with"]);
  const someone = ["a human", "a person", "an agent", "a representative", "an operator", "someone", "somebody"];
  const others = ["human", "agent", "representative", "an advisor", "a manager", "your manager", "a supervisor"];
  const teams = ["support", "customer service", "customer support", "your team", "your support", "a colleague"];
  const connect = ["connect me to", "connect me with", "transfer me to", "put me through to", "pass me to"];
  return [
    ...each(talk, [...someone, ...others, ...teams]),
    ...each(connect, [...someone, ...others, ...teams]),
    ...each(["need", "want", "get", "contact"], ["a human", "human help"]),
    ...each(["is there", "are there"], ["a human", "a person", "any human", "any humans", "any person"]),
    ...each(["real", "live", "actual"], ["person", "human", "agent"]),
    "human agent",
    "human support",
    "customer service representative",
  ];
}

/** Phrases by which a customer asks for a person, in every language in which the bot offers one. */
const byLanguage: Readonly<Record<SpokenLanguage, readonly string[]>> = {
  en: english(),
  de: [
    "mit einem Menschen sprechen",
    "mit einem Menschen reden",
    "mit einer Person sprechen",
    "mit einem Mitarbeiter sprechen",
    "mit einer Mitarbeiterin sprechen",
    "mit jemandem sprechen",
    "einen Menschen sprechen",
    "einen Mitarbeiter sprechen",
    "echten Menschen",
    "menschlichen Mitarbeiter",
  ],
  fr: [
    "parler à une personne",
    "parler avec une personne",
    "parler à quelqu'un",
    "parler avec quelqu'un",
    "parler à un humain",
    "parler avec un humain",
    "parler à un conseiller",
    "parler à un agent",
    "vraie personne",
  ],
  es: [
    "hablar con una persona",
    "hablar con alguien",
    "hablar con un humano",
    "hablar con un agente",
    "persona real",
    "agente humano",
  ],
  it: [
    "parlare con una persona",
    "parlare con qualcuno",
    "parlare con un operatore",
    "parlare con un umano",
    "operatore umano",
    "persona reale",
  ],
  pt: [
    "falar com uma pessoa",
    "falar com alguém",
    "falar com um atendente",
    "falar com um humano",
    "atendente humano",
    "pessoa real",
  ],
  nl: [
    "met een medewerker praten",
    "met een medewerker spreken",
    "een medewerker spreken",
    "met een mens praten",
    "met een mens spreken",
    "praten met een mens",
    "praten met een medewerker",
    "echt mens",
  ],
  sv: [
    "prata med en människa",
    "prata med en person",
    "prata med någon",
    "tala med en människa",
    "tala med en person",
    "riktig människa",
  ],
  da: [
    "tale med et menneske",
    "tale med en person",
    "tale med en medarbejder",
    "snakke med et menneske",
    "rigtigt menneske",
  ],
  nb: ["snakke med et menneske", "snakke med en person", "snakke med noen", "prate med et menneske", "ekte menneske"],
  fi: ["puhua ihmisen kanssa", "puhua ihmiselle", "puhua asiakaspalvelijan kanssa", "oikea ihminen"],
  ru: [
    "поговорить с человеком",
    "поговорить с оператором",
    "говорить с человеком",
    "соедините с человеком",
    "соедините меня с человеком",
    "соедините с оператором",
    "соедините меня с оператором",
    "живой человек",
    "живым человеком",
  ],
  ja: [
    "担当者と話",
    "担当者とお話",
    "担当者との会話",
    "担当者につない",
    "担当者に繋い",
    "人間と話",
    "人と話したい",
    "オペレーターと話",
    "オペレーターにつない",
  ],
  zh: ["转人工", "轉人工", "人工客服", "真人客服", "找人工", "和真人", "跟真人"],
  ko: [
    "상담원 연결",
    "상담원 연결을",
    "상담원 연결해",
    "상담원과 연결해",
    "상담원과 이야기하고",
    "상담원과 대화하고",
    "사람과 이야기하고",
    "사람과 대화하고",
  ],
};

export const handoverPhrases: readonly string[] = Object.values(byLanguage).flat();
