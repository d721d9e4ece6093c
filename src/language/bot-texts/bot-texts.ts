import { situationTexts } from "./situations.ts";
import { skillTexts } from "./skills.ts";
import type { DefaultTexts } from "./default-texts.ts";
import { defaultTexts } from "./default-texts.ts";
import type { CannedKey, SpokenLanguage, Translations } from "./languages.ts";

/** The settings of a workspace that decide its texts. */
interface TextSettings extends DefaultTexts {
  readonly translations: Translations;
  readonly botName: string;
}

type Elsewhere = keyof (typeof skillTexts)["en"] | keyof (typeof situationTexts)["en"];
type Texts = Readonly<Record<Exclude<CannedKey, Elsewhere>, string>>;

const builtin: Readonly<Record<SpokenLanguage, Texts>> = {
  en: {
    handover: defaultTexts.handoverMessage,
    unknown: defaultTexts.unknownMessage,
    waiting: defaultTexts.waitingMessage,
    uncertain: "I'm not certain, but this may help:",
    hello: "Hello! What can I help you with?",
    thanks: "You're welcome! Is there anything else I can help with?",
    goodbye: "Goodbye! Come back whenever you have a question.",
    pleased: "Good to hear. Is there anything else I can help with?",
    about:
      "I'm {bot}, an automated assistant: I answer from our documentation. If you would rather talk to a human, just say so.",
  },
  de: {
    handover: "Ich gebe das Gespräch an meine Kolleginnen und Kollegen weiter. Hier antwortet Ihnen gleich ein Mensch.",
    unknown:
      "Das weiß ich nicht: In unserer Dokumentation habe ich keine Antwort gefunden. Sie können die Frage anders stellen oder nach einem Menschen fragen.",
    waiting: "Ihre Nachricht ist bei unserem Team angekommen. Hier antwortet Ihnen ein Mensch.",
    uncertain: "Ich bin nicht sicher, aber das könnte helfen:",
    hello: "Hallo! Wie kann ich Ihnen helfen?",
    thanks: "Gern geschehen! Kann ich sonst noch helfen?",
    goodbye: "Auf Wiedersehen! Melden Sie sich, wenn Sie eine Frage haben.",
    pleased: "Das freut mich. Kann ich sonst noch helfen?",
    about:
      "Ich bin {bot}, ein automatischer Assistent, und antworte aus unserer Dokumentation. Wenn Sie lieber mit einem Menschen sprechen möchten, sagen Sie es einfach.",
  },
  fr: {
    handover: "Je transmets cette conversation à mes collègues. Une personne vous répondra ici.",
    unknown:
      "Je ne sais pas : je n'ai pas trouvé la réponse dans notre documentation. Vous pouvez reformuler la question ou demander à parler à une personne.",
    waiting: "Votre message est bien parvenu à notre équipe. Une personne vous répondra ici.",
    uncertain: "Je n'en suis pas certain, mais ceci peut vous aider :",
    hello: "Bonjour ! Comment puis-je vous aider ?",
    thanks: "Je vous en prie ! Puis-je vous aider pour autre chose ?",
    goodbye: "Au revoir ! Revenez dès que vous avez une question.",
    pleased: "Tant mieux. Puis-je vous aider pour autre chose ?",
    about:
      "Je suis {bot}, un assistant automatique : je réponds à partir de notre documentation. Si vous préférez parler à une personne, dites-le simplement.",
  },
  es: {
    handover: "Paso esta conversación a mis compañeros. Una persona le responderá aquí.",
    unknown:
      "No lo sé: no he encontrado la respuesta en nuestra documentación. Puede hacer la pregunta de otra manera o pedir hablar con una persona.",
    waiting: "Su mensaje ha llegado a nuestro equipo. Una persona le responderá aquí.",
    uncertain: "No estoy seguro, pero esto puede ayudarle:",
    hello: "¡Hola! ¿En qué puedo ayudarle?",
    thanks: "¡De nada! ¿Puedo ayudarle en algo más?",
    goodbye: "¡Hasta luego! Vuelva cuando tenga una pregunta.",
    pleased: "Me alegro. ¿Puedo ayudarle en algo más?",
    about:
      "Soy {bot}, un asistente automático: respondo a partir de nuestra documentación. Si prefiere hablar con una persona, dígalo.",
  },
  it: {
    handover: "Passo questa conversazione ai miei colleghi. Una persona le risponderà qui.",
    unknown:
      "Non lo so: non ho trovato la risposta nella nostra documentazione. Può formulare la domanda in un altro modo o chiedere di parlare con una persona.",
    waiting: "Il suo messaggio è arrivato al nostro team. Una persona le risponderà qui.",
    uncertain: "Non ne sono certo, ma questo potrebbe aiutare:",
    hello: "Salve! Come posso aiutarla?",
    thanks: "Prego! Posso aiutarla in altro?",
    goodbye: "Arrivederci! Torni quando ha una domanda.",
    pleased: "Ne sono lieto. Posso aiutarla in altro?",
    about:
      "Sono {bot}, un assistente automatico: rispondo in base alla nostra documentazione. Se preferisce parlare con una persona, basta dirlo.",
  },
  pt: {
    handover: "Estou passando esta conversa aos meus colegas. Uma pessoa responderá aqui.",
    unknown:
      "Não sei: não encontrei a resposta na nossa documentação. Pode fazer a pergunta de outra forma ou pedir para falar com uma pessoa.",
    waiting: "A sua mensagem chegou à nossa equipe. Uma pessoa responderá aqui.",
    uncertain: "Não tenho certeza, mas isto pode ajudar:",
    hello: "Olá! Como posso ajudar?",
    thanks: "De nada! Posso ajudar em mais alguma coisa?",
    goodbye: "Até logo! Volte quando tiver uma pergunta.",
    pleased: "Que bom. Posso ajudar em mais alguma coisa?",
    about:
      "Sou {bot}, um assistente automático: respondo com base na nossa documentação. Se preferir falar com uma pessoa, é só dizer.",
  },
  nl: {
    handover: "Ik geef dit gesprek door aan mijn collega's. Een medewerker antwoordt je hier.",
    unknown:
      "Dat weet ik niet: ik heb het antwoord niet in onze documentatie gevonden. Je kunt de vraag anders stellen of vragen om een medewerker.",
    waiting: "Je bericht is bij ons team aangekomen. Een medewerker antwoordt je hier.",
    uncertain: "Ik weet het niet zeker, maar dit kan helpen:",
    hello: "Hallo! Waarmee kan ik helpen?",
    thanks: "Graag gedaan! Kan ik nog ergens mee helpen?",
    goodbye: "Tot ziens! Kom gerust terug als je een vraag hebt.",
    pleased: "Fijn om te horen. Kan ik nog ergens mee helpen?",
    about:
      "Ik ben {bot}, een automatische assistent: ik antwoord uit onze documentatie. Praat je liever met een mens, zeg het dan gewoon.",
  },
  sv: {
    handover: "Jag lämnar över samtalet till mina kollegor. En person svarar dig här.",
    unknown:
      "Det vet jag inte: jag hittade inget svar i vår dokumentation. Du kan ställa frågan på ett annat sätt eller be att få prata med en person.",
    waiting: "Ditt meddelande har nått vårt team. En person svarar dig här.",
    uncertain: "Jag är inte säker, men det här kan hjälpa:",
    hello: "Hej! Vad kan jag hjälpa dig med?",
    thanks: "Varsågod! Kan jag hjälpa till med något mer?",
    goodbye: "Hej då! Kom tillbaka när du har en fråga.",
    pleased: "Vad bra. Kan jag hjälpa till med något mer?",
    about:
      "Jag är {bot}, en automatisk assistent: jag svarar ur vår dokumentation. Vill du hellre prata med en människa, säg bara till.",
  },
  da: {
    handover: "Jeg giver samtalen videre til mine kolleger. Et menneske svarer dig her.",
    unknown:
      "Det ved jeg ikke: jeg fandt ikke svaret i vores dokumentation. Du kan stille spørgsmålet på en anden måde eller bede om at tale med et menneske.",
    waiting: "Din besked er nået frem til vores team. Et menneske svarer dig her.",
    uncertain: "Jeg er ikke sikker, men dette kan måske hjælpe:",
    hello: "Hej! Hvad kan jeg hjælpe med?",
    thanks: "Selv tak! Er der andet, jeg kan hjælpe med?",
    goodbye: "Farvel! Kom tilbage, når du har et spørgsmål.",
    pleased: "Det er godt at høre. Er der andet, jeg kan hjælpe med?",
    about:
      "Jeg er {bot}, en automatisk assistent: jeg svarer ud fra vores dokumentation. Vil du hellere tale med et menneske, så sig det bare.",
  },
  nb: {
    handover: "Jeg gir samtalen videre til kollegene mine. Et menneske svarer deg her.",
    unknown:
      "Det vet jeg ikke: jeg fant ikke svaret i dokumentasjonen vår. Du kan stille spørsmålet på en annen måte eller be om å få snakke med et menneske.",
    waiting: "Meldingen din har kommet fram til teamet vårt. Et menneske svarer deg her.",
    uncertain: "Jeg er ikke sikker, men dette kan hjelpe:",
    hello: "Hei! Hva kan jeg hjelpe deg med?",
    thanks: "Bare hyggelig! Er det noe mer jeg kan hjelpe med?",
    goodbye: "Ha det bra! Kom tilbake når du har et spørsmål.",
    pleased: "Godt å høre. Er det noe mer jeg kan hjelpe med?",
    about:
      "Jeg er {bot}, en automatisk assistent: jeg svarer fra dokumentasjonen vår. Vil du heller snakke med et menneske, er det bare å si fra.",
  },
  fi: {
    handover: "Siirrän keskustelun kollegoilleni. Ihminen vastaa sinulle täällä.",
    unknown:
      "En tiedä: en löytänyt vastausta dokumentaatiostamme. Voit esittää kysymyksen toisin tai pyytää saada puhua ihmisen kanssa.",
    waiting: "Viestisi on saapunut tiimillemme. Ihminen vastaa sinulle täällä.",
    uncertain: "En ole varma, mutta tästä voi olla apua:",
    hello: "Hei! Miten voin auttaa?",
    thanks: "Ole hyvä! Voinko auttaa vielä jossakin?",
    goodbye: "Näkemiin! Palaa, kun sinulla on kysyttävää.",
    pleased: "Hienoa. Voinko auttaa vielä jossakin?",
    about:
      "Olen {bot}, automaattinen avustaja: vastaan dokumentaatiomme perusteella. Jos puhut mieluummin ihmisen kanssa, sano vain.",
  },
  ru: {
    handover: "Передаю разговор коллегам. Здесь вам ответит человек.",
    unknown:
      "Я не знаю: в нашей документации я не нашёл ответа. Вы можете задать вопрос иначе или попросить соединить вас с человеком.",
    waiting: "Ваше сообщение получено нашей командой. Здесь вам ответит человек.",
    uncertain: "Я не уверен, но это может помочь:",
    hello: "Здравствуйте! Чем могу помочь?",
    thanks: "Пожалуйста! Могу ли я помочь ещё чем-нибудь?",
    goodbye: "До свидания! Обращайтесь, если появятся вопросы.",
    pleased: "Рад слышать. Могу ли я помочь ещё чем-нибудь?",
    about:
      "Я {bot}, автоматический помощник, и отвечаю по нашей документации. Если хотите поговорить с человеком, просто скажите.",
  },
  ja: {
    handover: "担当者におつなぎします。こちらで担当者がお返事いたします。",
    unknown:
      "申し訳ありませんが、分かりません。資料の中に答えが見つかりませんでした。別の言い方で質問するか、担当者との会話をご希望ください。",
    waiting: "メッセージは担当チームに届きました。こちらで担当者がお返事いたします。",
    uncertain: "確かではありませんが、参考になるかもしれません。",
    hello: "こんにちは。どのようなご用件でしょうか。",
    thanks: "どういたしまして。ほかにお手伝いできることはありますか。",
    goodbye: "ありがとうございました。ご質問があれば、またお越しください。",
    pleased: "それは良かったです。ほかにお手伝いできることはありますか。",
    about:
      "{bot}と申します。資料をもとにお答えする自動アシスタントです。担当者とお話しになりたい場合は、そうお伝えください。",
  },
  zh: {
    handover: "我正在把对话转给同事，会有人工客服在这里回复您。",
    unknown: "我不知道：在我们的文档中没有找到答案。您可以换一种方式提问，或者要求转人工客服。",
    waiting: "您的消息已送达我们的团队，会有人工客服在这里回复您。",
    uncertain: "我不太确定，但这些内容可能有帮助：",
    hello: "您好！请问有什么可以帮您？",
    thanks: "不客气！还有什么可以帮您的吗？",
    goodbye: "再见！有问题随时再来。",
    pleased: "很高兴听到这个消息。还有什么可以帮您的吗？",
    about: "我是{bot}，自动助手，根据我们的文档回答问题。如果您想和人工客服交谈，请直接告诉我。",
  },
  ko: {
    handover: "상담원에게 대화를 전달하겠습니다. 이곳에서 상담원이 답변드립니다.",
    unknown: "잘 모르겠습니다. 저희 문서에서 답을 찾지 못했습니다. 다르게 질문하시거나 상담원 연결을 요청해 주세요.",
    waiting: "메시지가 담당 팀에 전달되었습니다. 이곳에서 상담원이 답변드립니다.",
    uncertain: "확실하지는 않지만 도움이 될 수 있습니다:",
    hello: "안녕하세요! 무엇을 도와드릴까요?",
    thanks: "천만에요! 더 도와드릴 일이 있을까요?",
    goodbye: "안녕히 가세요! 궁금한 점이 있으면 다시 찾아 주세요.",
    pleased: "다행입니다. 더 도와드릴 일이 있을까요?",
    about: "저는 자동 도우미 {bot}입니다. 저희 문서를 바탕으로 답변합니다. 사람과 이야기하고 싶으시면 말씀해 주세요.",
  },
};

/**
 * A sentence in this language: the workspace's own for it, else the workspace's own for all languages, else the
 * built-in one.
 */
export function cannedText(settings: TextSettings, language: SpokenLanguage, key: CannedKey): string {
  const text =
    settings.translations[language]?.[key] ??
    forAll(settings, key) ??
    { ...builtin[language], ...skillTexts[language], ...situationTexts[language] }[key];
  return text.replaceAll("{bot}", () => settings.botName);
}

/** The same settings, with what the engine says by itself in this language. */
export function settingsIn<Settings extends TextSettings>(settings: Settings, language: SpokenLanguage): Settings {
  return {
    ...settings,
    handoverMessage: cannedText(settings, language, "handover"),
    unknownMessage: cannedText(settings, language, "unknown"),
    waitingMessage: cannedText(settings, language, "waiting"),
    filesOnlyMessage: cannedText(settings, language, "files_only"),
    lookupFailedMessage: cannedText(settings, language, "lookup_failed"),
    lookupUnsureMessage: cannedText(settings, language, "lookup_unsure"),
    lookupUnverifiedMessage: cannedText(settings, language, "lookup_unverified"),
  };
}

function forAll(settings: TextSettings, key: CannedKey): string | undefined {
  switch (key) {
    case "handover":
      return changed(settings, "handoverMessage");
    case "unknown":
      return changed(settings, "unknownMessage");
    case "waiting":
      return changed(settings, "waitingMessage");
    case "files_only":
      return changed(settings, "filesOnlyMessage");
    case "lookup_failed":
      return changed(settings, "lookupFailedMessage");
    case "lookup_unsure":
      return changed(settings, "lookupUnsureMessage");
    case "lookup_unverified":
      return changed(settings, "lookupUnverifiedMessage");
    case "lead_kept":
    case "lead_wanted":
    case "uncertain":
    case "hello":
    case "thanks":
    case "goodbye":
    case "pleased":
    case "about":
    case "hours_open":
    case "hours_today":
    case "hours_later":
    case "hours_closed":
    case "lookup_none":
    case "unknown_language":
      return undefined;
  }
}

function changed(settings: DefaultTexts, key: keyof DefaultTexts): string | undefined {
  return settings[key] === defaultTexts[key] ? undefined : settings[key];
}
