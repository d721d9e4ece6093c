import { describe, expect, it } from "vitest";
import { humanRequestIn } from "./escalation.ts";
import { spokenLanguages } from "#language/locale.ts";
import type { SpokenLanguage } from "#language/locale.ts";
import { defaultSettings } from "#domain/workspace/settings.ts";

const asks = (text: string, phrases: readonly string[] | null = defaultSettings.escalationPhrases) =>
  humanRequestIn(text, phrases) !== undefined;

it.each([
  "I want to talk to a human",
  "TALK TO A HUMAN!!!",
  "please, talk   to a\nperson.",
  "Can I speak to an agent?",
  "real person now",
  "This does not work, I want a human",
  "I don't understand this. Get a human",
  "your answer is not helpful so connect me to an agent",
  "Why can't I talk to a human?",
  "can I not speak to someone about this",
  "don't you have a live agent?",
  "No! I need a human",
  "I'd rather talk to a human",
  "could I speak to a person instead",
  "talk to human",
  "let me speak with your manager",
  "Is there a human I can talk to?",
  "are there any humans here",
  "put me through to customer service",
  "I need to chat with support",
  "i want an actual person",
  "human please",
  "Human!",
  "agent, now",
  "Einen Mitarbeiter bitte",
  "un humain s'il vous plaît",
  "agente por favor",
  "оператор, пожалуйста",
  "can I reach one of your people",
  "can't I just speak with someone about the invoice",
  "get me your supervisor",
  "please have someone call me back",
  "how do I talk to a human",
  "Kann sich ein Kollege bei mir melden?",
  "ich möchte mit Ihrem Vorgesetzten sprechen",
  "passez-moi un responsable",
  "no podría hablar con algún encargado",
  "mi passi un collega",
  "me transfere pra um atendente",
  "kun je me doorverbinden met een medewerker",
  "kan jag få prata med någon på kundtjänst",
  "jeg vil gerne tale med en leder",
  "voitteko yhdistää minut asiakaspalvelijalle",
  "позовите менеджера",
  "担当の方とお話しできますか",
  "我要找真人客服",
  "상담원이랑 통화하고 싶어요",
])("recognises a request for a human: %s", (text) => {
  expect(asks(text)).toBe(true);
});

it.each([
  "I don't want a human",
  "no need to talk to a human",
  "I do not want to talk to a person",
  "I’d rather not speak to an agent",
  "I never want to talk to someone again",
  "you can answer without a human agent",
  "How do humans talk?",
  "I'd like to solve it here rather than talk to a human",
  "superhuman agents",
  "human resources",
  "Which agent has my conversation?",
  "Is there an agent field in the export?",
  "please do not connect me to a person",
  "can agents talk to customers?",
  "How do customers get a human?",
  "Can they talk to a human on Telegram?",
  "How do I transfer a chat to an agent?",
  "Does it talk with Slack?",
  "I don't need to transfer me to support",
  "please",
  "no human please",
  "talk to a humanoid",
  "Are you a real person?",
  "is this a live agent",
  "I talked to an agent yesterday and she sent me a form",
  "Ist das ein echter Mensch?",
  "Ich habe gestern mit einem Mitarbeiter gesprochen",
  "j'ai parlé à un conseiller hier",
  "How many agent seats do I need?",
  "",
])("does not recognise one in: %s", (text) => {
  expect(asks(text)).toBe(false);
});

it("matches a workspace's own phrases without case and accents, whole words only", () => {
  expect(asks("je veux parler À UN CONSEILLER", ["parler a un conseiller"])).toBe(true);
  expect(asks("Operator, please", ["operator"])).toBe(true);
  expect(asks("cooperators", ["operator"])).toBe(false);
  expect(asks("anything", ["", "  ", "…"])).toBe(false);
});

it("matches nothing if a workspace has no phrases", () => {
  expect(asks("human please", [])).toBe(false);
});

it("matches if one of the mentions is not negated", () => {
  expect(asks("I don't want a human agent from sales, I want a human from support")).toBe(true);
});

describe("requests in other languages", () => {
  const phrases = [
    "mit einem Menschen sprechen",
    "echte Person",
    "einen Mitarbeiter",
    "parler à un humain",
    "un conseiller",
    "hablar con una persona",
    "un agente humano",
    "talk to a human",
  ];

  it.each([
    "Ich möchte mit einem Menschen sprechen.",
    "Kann ich nicht mit einem Menschen sprechen?",
    "Warum kann ich hier nicht mit einem Menschen sprechen",
    "Das hilft mir nicht, ich will mit einem Menschen sprechen!",
    "Nicht mit einem Bot, sondern mit einem Menschen sprechen will ich",
    "Je veux parler à un humain",
    "Je ne comprends pas, je veux parler à un humain",
    "Pourquoi je ne peux pas parler à un humain ?",
    "Puis-je parler à un humain ?",
    "Quiero hablar con una persona",
    "¿No puedo hablar con una persona?",
    "Esto no funciona, quiero hablar con una persona",
    "¿Por qué no puedo hablar con una persona?",
  ])("%s", (text) => {
    expect(humanRequestIn(text, phrases) !== undefined).toBe(true);
  });

  it.each([
    "Ich möchte nicht mit einem Menschen sprechen.",
    "Bitte keine echte Person",
    "Mit einem Menschen sprechen möchte ich nicht.",
    "Ich brauche einen Mitarbeiter gerade nicht",
    "Je ne veux pas parler à un humain",
    "Je n'ai pas besoin de parler à un humain",
    "Sans parler à un humain, s'il vous plaît",
    "No quiero hablar con una persona",
    "Prefiero resolverlo sin hablar con una persona",
    "Nunca quise hablar con una persona",
    "I don't want to talk to a human",
    "Zwischenmenschen sprechen",
  ])("does not match: %s", (text) => {
    expect(humanRequestIn(text, phrases) !== undefined).toBe(false);
  });
});

describe("a negation, in the bot's languages", () => {
  it.each([
    "Non voglio parlare con una persona",
    "Não quero falar com uma pessoa",
    "Ik wil niet met een medewerker praten",
    "Jag vill inte prata med en människa",
    "Jeg vil ikke tale med et menneske",
    "Jeg vil ikke snakke med et menneske",
    "Не хочу говорить с человеком",
  ])("cancels the request: %s", (text) => {
    expect(asks(text)).toBe(false);
  });

  it.each([
    "Non funziona voglio parlare con una persona",
    "Perché non posso parlare con una persona?",
    "Isso não funciona, quero falar com uma pessoa",
    "isso nao funciona quero falar com uma pessoa",
    "Het werkt niet ik wil met een medewerker praten",
    "Kan ik niet met een medewerker praten?",
    "Det fungerar inte, jag vill prata med en människa",
    "Не работает, хочу поговорить с человеком",
  ])("does not cancel the request if it applies to another thing: %s", (text) => {
    expect(asks(text)).toBe(true);
  });
});

describe("without phrases of the workspace, the wording of the bot's own offer is recognised in", () => {
  const asked: Readonly<Record<SpokenLanguage, string>> = {
    en: "I'd rather talk to a human",
    de: "Ich möchte mit einem Menschen sprechen",
    fr: "Je voudrais parler à une personne, s'il vous plaît",
    es: "Quiero hablar con una persona",
    it: "Vorrei parlare con una persona",
    pt: "Quero falar com uma pessoa",
    nl: "Ik wil met een medewerker praten",
    sv: "Jag vill prata med en människa",
    da: "Jeg vil gerne tale med et menneske",
    nb: "Kan jeg få snakke med et menneske?",
    fi: "Haluan puhua ihmisen kanssa",
    ru: "Соедините меня с человеком, пожалуйста",
    ja: "担当者と話したいです。",
    zh: "请帮我转人工客服",
    ko: "상담원 연결해 주세요",
    ar: "أريد التحدث مع موظف",
    he: "אני רוצה לדבר עם נציג",
    fa: "می‌خواهم با اپراتور صحبت کنم",
    ur: "میں کسی نمائندے سے بات کرنا چاہتا ہوں",
    tr: "Bir temsilciyle görüşmek istiyorum",
  };
  it.each(spokenLanguages)("%s", (language) => {
    expect(asks(asked[language])).toBe(true);
  });

  it("finds a phrase of a script without spaces within its sentence", () => {
    expect(asks("すみません、責任者を呼んでくださいませんか", ["責任者を呼んで"])).toBe(true);
    expect(asks("責任を感じています", ["責任者を呼んで"])).toBe(false);
  });
});

it("names the words that were recognised", () => {
  const named = (text: string) => humanRequestIn(text, ["talk to a human", "担当者"]);
  expect(named("Please let me TALK to a human now")).toBe("talk to a human");
  expect(named("担当者をお願いします")).toBe("担当者");
  expect(named("Agent, please!")).toBe("agent please");
});
