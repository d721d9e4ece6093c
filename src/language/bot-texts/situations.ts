import type { CannedKey, SpokenLanguage } from "./languages.ts";

type Key = Extract<CannedKey, `hours_${string}` | "lookup_none" | "unknown_language">;

/**
 * What the bot says of its hours, of a look-up that found nothing, and of documents in another language than the
 * customer's. Days and languages stand where no case or article of them is needed.
 */
export const situationTexts: Readonly<Record<SpokenLanguage, Readonly<Record<Key, string>>>> = {
  en: {
    hours_open: "We are open now, until {time} ({timezone}).",
    hours_today: "We are closed now, and open again today at {time} ({timezone}).",
    hours_later: "We are closed now, and open again on {day} at {time} ({timezone}).",
    hours_closed: "We are closed at the moment.",
    lookup_none: "I found nothing for that. Please check what you wrote, or ask to talk to a human.",
    unknown_language:
      "Our documentation is in another language: {language}. A question in that language may find more.",
  },
  de: {
    hours_open: "Wir haben geöffnet, heute bis {time} Uhr ({timezone}).",
    hours_today: "Wir haben gerade geschlossen und öffnen heute wieder um {time} Uhr ({timezone}).",
    hours_later: "Wir haben gerade geschlossen und öffnen wieder am {day} um {time} Uhr ({timezone}).",
    hours_closed: "Wir haben zurzeit geschlossen.",
    lookup_none:
      "Dazu habe ich nichts gefunden. Prüfen Sie bitte, was Sie geschrieben haben, oder fragen Sie nach einem Menschen.",
    unknown_language:
      "Unsere Dokumentation ist in einer anderen Sprache: {language}. Eine Frage in dieser Sprache findet vielleicht mehr.",
  },
  fr: {
    hours_open: "Nous sommes ouverts, jusqu'à {time} ({timezone}).",
    hours_today: "Nous sommes fermés pour le moment, et rouvrons aujourd'hui à {time} ({timezone}).",
    hours_later: "Nous sommes fermés pour le moment, et rouvrons {day} à {time} ({timezone}).",
    hours_closed: "Nous sommes fermés en ce moment.",
    lookup_none:
      "Je n'ai rien trouvé à ce sujet. Vérifiez ce que vous avez écrit, ou demandez à parler à une personne.",
    unknown_language:
      "Notre documentation est dans une autre langue : {language}. Une question dans cette langue trouvera peut-être plus.",
  },
  es: {
    hours_open: "Estamos abiertos ahora, hasta las {time} ({timezone}).",
    hours_today: "Ahora estamos cerrados y abrimos de nuevo hoy a las {time} ({timezone}).",
    hours_later: "Ahora estamos cerrados y abrimos de nuevo el {day} a las {time} ({timezone}).",
    hours_closed: "En este momento estamos cerrados.",
    lookup_none: "No he encontrado nada sobre eso. Revise lo que ha escrito o pida hablar con una persona.",
    unknown_language:
      "Nuestra documentación está en otro idioma: {language}. Una pregunta en ese idioma quizá encuentre más.",
  },
  it: {
    hours_open: "Siamo aperti, fino alle {time} ({timezone}).",
    hours_today: "Ora siamo chiusi e riapriamo oggi alle {time} ({timezone}).",
    hours_later: "Ora siamo chiusi e riapriamo {day} alle {time} ({timezone}).",
    hours_closed: "Al momento siamo chiusi.",
    lookup_none: "Non ho trovato nulla. Controlli ciò che ha scritto, oppure chieda di parlare con una persona.",
    unknown_language:
      "La nostra documentazione è in un'altra lingua: {language}. Una domanda in quella lingua può trovare di più.",
  },
  pt: {
    hours_open: "Estamos abertos agora, até às {time} ({timezone}).",
    hours_today: "Estamos fechados agora e abrimos de novo hoje às {time} ({timezone}).",
    hours_later: "Estamos fechados agora e abrimos de novo: {day}, às {time} ({timezone}).",
    hours_closed: "No momento estamos fechados.",
    lookup_none: "Não encontrei nada sobre isso. Verifique o que escreveu ou peça para falar com uma pessoa.",
    unknown_language:
      "A nossa documentação está em outra língua: {language}. Uma pergunta nessa língua talvez encontre mais.",
  },
  nl: {
    hours_open: "We zijn nu open, tot {time} uur ({timezone}).",
    hours_today: "We zijn nu gesloten en gaan vandaag weer open om {time} uur ({timezone}).",
    hours_later: "We zijn nu gesloten en gaan op {day} weer open om {time} uur ({timezone}).",
    hours_closed: "We zijn op dit moment gesloten.",
    lookup_none: "Daar heb ik niets over gevonden. Controleer wat je hebt geschreven, of vraag om een medewerker.",
    unknown_language:
      "Onze documentatie is in een andere taal: {language}. Een vraag in die taal vindt misschien meer.",
  },
  sv: {
    hours_open: "Vi har öppet nu, till {time} ({timezone}).",
    hours_today: "Vi har stängt nu och öppnar igen i dag klockan {time} ({timezone}).",
    hours_later: "Vi har stängt nu och öppnar igen på {day} klockan {time} ({timezone}).",
    hours_closed: "Vi har stängt för tillfället.",
    lookup_none: "Jag hittade inget om det. Kontrollera vad du skrev, eller be att få prata med en person.",
    unknown_language: "Vår dokumentation är på ett annat språk: {language}. En fråga på det språket kan ge mer.",
  },
  da: {
    hours_open: "Vi har åbent nu, til kl. {time} ({timezone}).",
    hours_today: "Vi har lukket nu og åbner igen i dag kl. {time} ({timezone}).",
    hours_later: "Vi har lukket nu og åbner igen på {day} kl. {time} ({timezone}).",
    hours_closed: "Vi har lukket i øjeblikket.",
    lookup_none: "Det fandt jeg intet om. Se efter, hvad du skrev, eller bed om at tale med et menneske.",
    unknown_language:
      "Vores dokumentation er på et andet sprog: {language}. Et spørgsmål på det sprog finder måske mere.",
  },
  nb: {
    hours_open: "Vi har åpent nå, til kl. {time} ({timezone}).",
    hours_today: "Vi har stengt nå og åpner igjen i dag kl. {time} ({timezone}).",
    hours_later: "Vi har stengt nå og åpner igjen på {day} kl. {time} ({timezone}).",
    hours_closed: "Vi har stengt for øyeblikket.",
    lookup_none: "Jeg fant ingenting om det. Sjekk hva du skrev, eller be om å få snakke med et menneske.",
    unknown_language:
      "Dokumentasjonen vår er på et annet språk: {language}. Et spørsmål på det språket finner kanskje mer.",
  },
  fi: {
    hours_open: "Olemme nyt avoinna, sulkemisaika {time} ({timezone}).",
    hours_today: "Olemme nyt kiinni ja avaamme uudelleen tänään klo {time} ({timezone}).",
    hours_later: "Olemme nyt kiinni. Avaamme uudelleen: {day} klo {time} ({timezone}).",
    hours_closed: "Olemme tällä hetkellä kiinni.",
    lookup_none: "En löytänyt siitä mitään. Tarkista, mitä kirjoitit, tai pyydä saada puhua ihmisen kanssa.",
    unknown_language: "Dokumentaatiomme on toisella kielellä: {language}. Kysymys sillä kielellä voi löytää enemmän.",
  },
  ru: {
    hours_open: "Сейчас мы работаем, до {time} ({timezone}).",
    hours_today: "Сейчас мы закрыты и откроемся снова сегодня в {time} ({timezone}).",
    hours_later: "Сейчас мы закрыты. Снова откроемся: {day}, {time} ({timezone}).",
    hours_closed: "В настоящее время мы закрыты.",
    lookup_none: "По этому запросу я ничего не нашёл. Проверьте написанное или попросите соединить вас с человеком.",
    unknown_language: "Наша документация на другом языке: {language}. Вопрос на этом языке может найти больше.",
  },
  ja: {
    hours_open: "ただいま営業中です。{time}まで営業しています（{timezone}）。",
    hours_today: "ただいま営業時間外です。本日{time}に再開します（{timezone}）。",
    hours_later: "ただいま営業時間外です。{day}の{time}に再開します（{timezone}）。",
    hours_closed: "現在、営業しておりません。",
    lookup_none: "該当するものが見つかりませんでした。入力内容をご確認いただくか、担当者との会話をご希望ください。",
    unknown_language:
      "資料は別の言語で書かれています（{language}）。その言語でご質問いただくと、見つかるかもしれません。",
  },
  zh: {
    hours_open: "我们现在营业，营业至{time}（{timezone}）。",
    hours_today: "我们现在休息，今天{time}恢复营业（{timezone}）。",
    hours_later: "我们现在休息，{day}{time}恢复营业（{timezone}）。",
    hours_closed: "我们目前休息中。",
    lookup_none: "没有查到相关内容。请检查您输入的内容，或者要求转人工客服。",
    unknown_language: "我们的文档使用另一种语言：{language}。用该语言提问也许能找到更多内容。",
  },
  ko: {
    hours_open: "지금 영업 중이며 {time}까지 운영합니다({timezone}).",
    hours_today: "지금은 영업시간이 아니며 오늘 {time}에 다시 시작합니다({timezone}).",
    hours_later: "지금은 영업시간이 아니며 {day} {time}에 다시 시작합니다({timezone}).",
    hours_closed: "현재 영업하지 않습니다.",
    lookup_none: "해당 내용을 찾지 못했습니다. 입력하신 내용을 확인하시거나 상담원 연결을 요청해 주세요.",
    unknown_language: "저희 문서는 다른 언어({language})로 되어 있습니다. 그 언어로 질문하시면 더 찾을 수 있습니다.",
  },
};
