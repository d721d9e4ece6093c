import type { CannedKey, SpokenLanguage } from "./languages.ts";
import { defaultTexts } from "./default-texts.ts";

type Key = Extract<CannedKey, "files_only" | `lookup_${"failed" | "unsure" | "unverified"}` | `lead_${string}`>;

/** What the bot says of files and of its skills, where nothing else is configured. */
export const skillTexts: Readonly<Record<SpokenLanguage, Readonly<Record<Key, string>>>> = {
  en: {
    files_only: defaultTexts.filesOnlyMessage,
    lookup_failed: defaultTexts.lookupFailedMessage,
    lookup_unsure: defaultTexts.lookupUnsureMessage,
    lookup_unverified: defaultTexts.lookupUnverifiedMessage,
    lead_kept: "Thank you, I have noted that. We will use it to reach you.",
    lead_wanted: "Please tell me your e-mail address or phone number, and we will use it to reach you.",
  },
  de: {
    files_only:
      "In Dateien kann ich nicht hineinsehen. Ihre liegt bei diesem Gespräch. Schreiben Sie, worum es geht, oder fragen Sie nach einem Menschen, der sie öffnen kann.",
    lookup_failed:
      "Das konnte ich gerade nicht nachsehen. Versuchen Sie es in ein paar Minuten noch einmal, oder fragen Sie nach einem Menschen.",
    lookup_unsure:
      "Ich konnte nicht feststellen, ob das geklappt hat. Versuchen Sie es bitte nicht noch einmal: Fragen Sie nach einem Menschen, der nachsehen kann.",
    lookup_unverified:
      "Das kann ich nur für angemeldete Kunden nachsehen. Melden Sie sich an und fragen Sie noch einmal, oder fragen Sie nach einem Menschen.",
    lead_kept: "Danke, das habe ich notiert. Wir melden uns darüber bei Ihnen.",
    lead_wanted: "Bitte nennen Sie mir Ihre E-Mail-Adresse oder Telefonnummer, dann melden wir uns darüber bei Ihnen.",
  },
  fr: {
    files_only:
      "Je ne peux pas ouvrir les fichiers. Le vôtre est conservé avec cette conversation. Dites-moi ce qu'il vous faut, ou demandez à parler à une personne, qui pourra l'ouvrir.",
    lookup_failed:
      "Je n'ai pas pu vérifier cela pour le moment. Réessayez dans quelques minutes, ou demandez à parler à une personne.",
    lookup_unsure:
      "Je n'ai pas pu vérifier si cela a abouti. Ne réessayez pas encore : demandez à parler à une personne, qui pourra vérifier.",
    lookup_unverified:
      "Je ne peux vérifier cela que pour les clients connectés. Connectez-vous et redemandez, ou demandez à parler à une personne.",
    lead_kept: "Merci, c'est noté. Nous vous contacterons ainsi.",
    lead_wanted: "Indiquez-moi votre adresse e-mail ou votre numéro de téléphone, et nous vous contacterons.",
  },
  es: {
    files_only:
      "No puedo abrir archivos. El suyo queda guardado con esta conversación. Dígame con palabras qué necesita, o pida hablar con una persona, que podrá abrirlo.",
    lookup_failed: "No he podido consultarlo ahora. Inténtelo de nuevo en unos minutos o pida hablar con una persona.",
    lookup_unsure:
      "No he podido comprobar si se ha realizado. No lo intente otra vez todavía: pida hablar con una persona, que podrá comprobarlo.",
    lookup_unverified:
      "Solo puedo consultarlo para clientes que han iniciado sesión. Inicie sesión y pregunte de nuevo, o pida hablar con una persona.",
    lead_kept: "Gracias, lo he anotado. Le contactaremos por ese medio.",
    lead_wanted: "Dígame su correo electrónico o su teléfono, y nos pondremos en contacto con usted.",
  },
  it: {
    files_only:
      "Non posso aprire i file. Il suo resta con questa conversazione. Mi dica a parole di che cosa ha bisogno, o chieda di parlare con una persona, che potrà aprirlo.",
    lookup_failed:
      "Al momento non sono riuscito a verificarlo. Riprovi tra qualche minuto o chieda di parlare con una persona.",
    lookup_unsure:
      "Non ho potuto accertare se l'operazione è riuscita. Per ora non riprovi: chieda di parlare con una persona, che potrà verificare.",
    lookup_unverified:
      "Posso verificarlo solo per i clienti che hanno effettuato l'accesso. Acceda e chieda di nuovo, o chieda di parlare con una persona.",
    lead_kept: "Grazie, ne ho preso nota. La contatteremo così.",
    lead_wanted: "Mi indichi il suo indirizzo e-mail o numero di telefono, e la contatteremo.",
  },
  pt: {
    files_only:
      "Não consigo abrir arquivos. O seu fica guardado com esta conversa. Diga em palavras do que precisa ou peça para falar com uma pessoa, que poderá abri-lo.",
    lookup_failed:
      "Não consegui consultar isso agora. Tente de novo em alguns minutos ou peça para falar com uma pessoa.",
    lookup_unsure:
      "Não consegui confirmar se isso foi concluído. Não tente de novo por enquanto: peça para falar com uma pessoa, que poderá verificar.",
    lookup_unverified:
      "Só posso consultar isso para clientes que entraram na conta. Entre na conta e pergunte de novo ou peça para falar com uma pessoa.",
    lead_kept: "Obrigado, anotei. Entraremos em contato por aí.",
    lead_wanted: "Diga-me o seu e-mail ou telefone, e entraremos em contato.",
  },
  nl: {
    files_only:
      "Ik kan bestanden niet bekijken. Dat van jou wordt bij dit gesprek bewaard. Zeg in woorden wat je nodig hebt, of vraag om een medewerker, die het kan openen.",
    lookup_failed:
      "Dat kon ik nu niet opzoeken. Probeer het over een paar minuten opnieuw, of vraag om een medewerker.",
    lookup_unsure:
      "Ik kon niet nagaan of dat gelukt is. Probeer het nog niet opnieuw: vraag om een medewerker, die het kan nakijken.",
    lookup_unverified:
      "Dat kan ik alleen opzoeken voor klanten die zijn ingelogd. Log in en vraag het opnieuw, of vraag om een medewerker.",
    lead_kept: "Bedankt, dat heb ik genoteerd. We nemen zo contact met je op.",
    lead_wanted: "Geef me je e-mailadres of telefoonnummer, dan nemen we contact met je op.",
  },
  sv: {
    files_only:
      "Jag kan inte läsa filer. Din fil sparas med samtalet. Skriv vad du behöver, eller be att få prata med en person, som kan öppna den.",
    lookup_failed:
      "Jag kunde inte slå upp det just nu. Försök igen om några minuter, eller be att få prata med en person.",
    lookup_unsure:
      "Jag kunde inte se om det gick igenom. Försök inte igen ännu: be att få prata med en person, som kan kontrollera det.",
    lookup_unverified:
      "Det kan jag bara slå upp för kunder som är inloggade. Logga in och fråga igen, eller be att få prata med en person.",
    lead_kept: "Tack, det har jag antecknat. Vi hör av oss den vägen.",
    lead_wanted: "Ange din e-postadress eller ditt telefonnummer, så hör vi av oss.",
  },
  da: {
    files_only:
      "Jeg kan ikke se ind i filer. Din er gemt med samtalen. Skriv, hvad du har brug for, eller bed om at tale med et menneske, som kan åbne den.",
    lookup_failed:
      "Det kunne jeg ikke slå op lige nu. Prøv igen om et par minutter, eller bed om at tale med et menneske.",
    lookup_unsure:
      "Jeg kunne ikke se, om det gik igennem. Prøv ikke igen endnu: bed om at tale med et menneske, som kan undersøge det.",
    lookup_unverified:
      "Det kan jeg kun slå op for kunder, der er logget ind. Log ind og spørg igen, eller bed om at tale med et menneske.",
    lead_kept: "Tak, det har jeg noteret. Vi kontakter dig ad den vej.",
    lead_wanted: "Skriv din e-mailadresse eller dit telefonnummer, så kontakter vi dig.",
  },
  nb: {
    files_only:
      "Jeg kan ikke lese filer. Din er lagret med samtalen. Skriv hva du trenger, eller be om å få snakke med et menneske, som kan åpne den.",
    lookup_failed:
      "Det kunne jeg ikke slå opp akkurat nå. Prøv igjen om noen minutter, eller be om å få snakke med et menneske.",
    lookup_unsure:
      "Jeg kunne ikke se om det gikk gjennom. Ikke prøv igjen ennå: be om å få snakke med et menneske, som kan sjekke det.",
    lookup_unverified:
      "Det kan jeg bare slå opp for kunder som er logget inn. Logg inn og spør igjen, eller be om å få snakke med et menneske.",
    lead_kept: "Takk, det har jeg notert. Vi tar kontakt den veien.",
    lead_wanted: "Oppgi e-postadressen eller telefonnummeret ditt, så tar vi kontakt.",
  },
  fi: {
    files_only:
      "En voi lukea tiedostoja. Tiedostosi säilyy tämän keskustelun yhteydessä. Kerro sanoin, mitä tarvitset, tai pyydä saada puhua ihmisen kanssa, joka voi avata sen.",
    lookup_failed:
      "En voinut tarkistaa asiaa juuri nyt. Yritä uudelleen muutaman minuutin kuluttua tai pyydä saada puhua ihmisen kanssa.",
    lookup_unsure:
      "En voinut varmistaa, onnistuiko se. Älä yritä vielä uudelleen: pyydä saada puhua ihmisen kanssa, joka voi tarkistaa asian.",
    lookup_unverified:
      "Voin tarkistaa tämän vain kirjautuneille asiakkaille. Kirjaudu sisään ja kysy uudelleen tai pyydä saada puhua ihmisen kanssa.",
    lead_kept: "Kiitos, merkitsin sen muistiin. Otamme sinuun yhteyttä sitä kautta.",
    lead_wanted: "Kerro sähköpostiosoitteesi tai puhelinnumerosi, niin otamme sinuun yhteyttä.",
  },
  ru: {
    files_only:
      "Я не могу читать файлы. Ваш сохранён в этом разговоре. Напишите словами, что вам нужно, или попросите соединить вас с человеком, который сможет его открыть.",
    lookup_failed:
      "Сейчас мне не удалось это проверить. Попробуйте через несколько минут или попросите соединить вас с человеком.",
    lookup_unsure:
      "Мне не удалось узнать, выполнено ли это. Пока не пробуйте снова: попросите соединить вас с человеком, который проверит.",
    lookup_unverified:
      "Я могу проверить это только для клиентов, которые вошли в систему. Войдите и спросите снова или попросите соединить вас с человеком.",
    lead_kept: "Спасибо, я это записал. Мы свяжемся с вами.",
    lead_wanted: "Напишите адрес электронной почты или номер телефона, и мы свяжемся с вами.",
  },
  ja: {
    files_only:
      "ファイルの中身を見ることはできません。お送りいただいたファイルはこの会話に保存されています。ご用件を文章でお知らせいただくか、ファイルを開ける担当者との会話をご希望ください。",
    lookup_failed: "ただいま確認できませんでした。数分後にもう一度お試しいただくか、担当者との会話をご希望ください。",
    lookup_unsure: "処理が完了したか確認できませんでした。まだやり直さず、確認できる担当者との会話をご希望ください。",
    lookup_unverified:
      "ログインされたお客様についてのみ確認できます。ログインしてからもう一度お尋ねいただくか、担当者との会話をご希望ください。",
    lead_kept: "ありがとうございます。承りました。そちらへご連絡いたします。",
    lead_wanted: "メールアドレスまたは電話番号をお知らせください。こちらからご連絡いたします。",
  },
  zh: {
    files_only: "我无法查看文件。您的文件已随此对话保存。请用文字告诉我您的需求，或者要求转人工客服，由其打开文件。",
    lookup_failed: "我现在无法查到。您可以几分钟后再试，或者要求转人工客服。",
    lookup_unsure: "我无法确认该操作是否成功。请先不要重试：请要求转人工客服进行核实。",
    lookup_unverified: "我只能为已登录的客户查询。请登录后再问，或者要求转人工客服。",
    lead_kept: "谢谢，我已记下。我们会通过它与您联系。",
    lead_wanted: "请告诉我您的邮箱或电话号码，我们会与您联系。",
  },
  ko: {
    files_only:
      "파일 내용은 볼 수 없습니다. 보내신 파일은 이 대화에 보관됩니다. 필요하신 것을 글로 알려 주시거나, 파일을 열어 볼 수 있는 상담원 연결을 요청해 주세요.",
    lookup_failed: "지금은 확인할 수 없었습니다. 몇 분 뒤에 다시 시도하시거나 상담원 연결을 요청해 주세요.",
    lookup_unsure:
      "처리되었는지 확인할 수 없었습니다. 아직 다시 시도하지 마시고, 확인할 수 있는 상담원 연결을 요청해 주세요.",
    lookup_unverified:
      "로그인한 고객에 대해서만 확인할 수 있습니다. 로그인한 뒤 다시 질문하시거나 상담원 연결을 요청해 주세요.",
    lead_kept: "감사합니다. 기록해 두었습니다. 그쪽으로 연락드리겠습니다.",
    lead_wanted: "이메일 주소나 전화번호를 알려 주시면 연락드리겠습니다.",
  },
};
