/**
 * The words that mail programs write around an earlier mail, by language. Phrases are parts of regular expressions, separated
 * by "|", and empty where the language has none.
 */
export interface MailWords {
  /** "wrote", in the lines above a quoted mail. */
  readonly wrote: string;
  /** Begins these lines: "On" with a date, or "Quoting" with a name. */
  readonly begins: string;
  /** "Original message", between dashes. */
  readonly original: string;
  /** "Forwarded message", between dashes or before a colon. */
  readonly forwarded: string;
  /** Begins the subject of a forward, before a colon. */
  readonly forwards?: string;
  /** The same of a reply. */
  readonly replies?: string;
  /** The field of the sender, in the block above an earlier mail. */
  readonly from: string;
  /** The other fields of this block. */
  readonly fields: string;
  /** "Sent from", before the name of a device or an app in its signature. */
  readonly sent: string;
  /** The same behind the name. */
  readonly sentLast?: string;
  /** "Reply above this line", as help desks write it. */
  readonly replyAbove: string;
}

const none: MailWords = {
  wrote: "",
  begins: "",
  original: "",
  forwarded: "",
  from: "",
  fields: "",
  sent: "",
  replyAbove: "",
};

const mailWords: Readonly<Record<string, MailWords>> = {
  en: {
    wrote: "wrote|writes",
    begins: "on|quoting",
    original: "original (?:message|mail|e-?mail|appointment)",
    forwarded: "(?:begin )?forwarded (?:message|e?-?mail)",
    forwards: "fwd?",
    replies: "re",
    from: "from",
    fields: "sent|date|to|cc|bcc|subject|reply-to",
    sent: "sent (?:from|via|with|using)",
    replyAbove: "reply above|respond above|type your reply",
  },
  de: {
    wrote: "schrieb|schreibt|geschrieben",
    begins: "am|zitat von",
    original: "ursprüngliche (?:nachricht|e?-?mail)|original-?nachricht|original-?mail",
    forwarded: "(?:anfang der )?weitergeleiteten? (?:nachricht|e?-?mail)",
    forwards: "wg",
    replies: "aw|antw(?:ort)?",
    from: "von|absender",
    fields: "gesendet|datum|an|cc|kopie|betreff",
    sent: "gesendet (?:mit|von|aus|über)|diese nachricht wurde von",
    replyAbove: "antworten sie oberhalb",
  },
  fr: {
    wrote: "a écrit|écrit",
    begins: "le|citation de",
    original: "message d['’]origine|message initial|message original",
    forwarded: "(?:début du )?(?:message|mail|e-?mail|courriel) (?:transféré|réexpédié|transmis)",
    forwards: "tr",
    replies: "réf|rép",
    from: "de|expéditeur",
    fields: "envoyé(?: le)?|date|à|cc|objet",
    sent: "envoyé (?:de|depuis|à partir|avec|via|par)",
    replyAbove: "répondez au-dessus",
  },
  es: {
    wrote: "escribió|ha escrito",
    begins: "el|en",
    original: "mensaje original",
    forwarded: "(?:inicio del )?(?:mensaje|correo) reenviado",
    forwards: "rv",
    from: "de",
    fields: "enviado(?: el)?|fecha|para|cc|asunto",
    sent: "enviado (?:desde|con|por|a través)",
    replyAbove: "",
  },
  it: {
    wrote: "ha scritto|scrive",
    begins: "il|in data",
    original: "messaggio originale",
    forwarded: "(?:inizio )?(?:del )?messaggio inoltrato",
    forwards: "i",
    replies: "r|rif?",
    from: "da",
    fields: "inviato|data|a|cc|oggetto",
    sent: "inviato (?:da|dal|con|tramite)",
    replyAbove: "",
  },
  pt: {
    wrote: "escreveu",
    begins: "em|no dia|a(?=[ \\d])",
    original: "mensagem original",
    forwarded: "(?:início da )?mensagem (?:re)?encaminhada",
    forwards: "enc",
    replies: "res",
    from: "de",
    fields: "enviad[ao](?: em| a)?|data|para|cc|assunto",
    sent: "enviad[ao] (?:do|da|de|a partir|pelo|pela|com|via|através)",
    replyAbove: "",
  },
  nl: {
    wrote: "schreef|geschreven",
    begins: "op|citeren",
    original: "oorspronkelijk bericht|origineel bericht",
    forwarded: "(?:begin )?(?:van )?doorgestuurd (?:bericht|mail)",
    forwards: "doorst",
    replies: "antw",
    from: "van",
    fields: "verzonden|datum|aan|cc|onderwerp",
    sent: "(?:verzonden|verstuurd) (?:vanaf|met|via|vanuit|door)",
    replyAbove: "",
  },
  sv: {
    wrote: "skrev",
    begins: "den|citerar",
    original: "ursprungligt meddelande|originalmeddelande",
    forwarded: "vidarebefordrat (?:meddelande|brev|mail)|början på vidarebefordrat meddelande",
    forwards: "vb",
    replies: "sv",
    from: "från",
    fields: "skickat|datum|till|kopia|ämne",
    sent: "skicka(?:t|des) från|skickat med",
    replyAbove: "",
  },
  da: {
    wrote: "skrev",
    begins: "den",
    original: "oprindelig meddelelse|original meddelelse",
    forwarded: "(?:start på )?videresendt (?:meddelelse|besked|mail)",
    replies: "sv",
    from: "fra",
    fields: "sendt|dato|til|cc|emne",
    sent: "sendt (?:fra|med|via)",
    replyAbove: "",
  },
  nb: {
    wrote: "skrev",
    begins: "den|på",
    original: "opprinnelig melding|original melding",
    forwarded: "(?:start på )?videresendt (?:melding|e-post)",
    replies: "sv",
    from: "fra",
    fields: "sendt|dato|til|kopi|emne",
    sent: "sendt (?:fra|med|via)",
    replyAbove: "",
  },
  fi: {
    wrote: "kirjoitti",
    begins: "",
    original: "alkuperäinen (?:viesti|sähköposti)",
    forwarded: "(?:edelleenlähetetty|välitetty) viesti(?: alkaa)?",
    forwards: "vl",
    replies: "vs",
    from: "lähettäjä",
    fields: "lähetetty|päivämäärä|päiväys|vastaanottaja|kopio|aihe",
    sent: "lähetetty",
    replyAbove: "",
  },
  pl: {
    wrote: "napisał(?:\\(a\\)|a)?|pisze",
    begins: "dnia|w dniu",
    original: "(?:oryginalna|pierwotna) wiadomość|wiadomość oryginalna",
    forwarded:
      "(?:treść |początek )?(?:przekaz(?:ana|anej|ywanej)|przesłan(?:a|ej) dalej) wiadomoś(?:ć|ci)|wiadomość przekazana",
    forwards: "pd",
    replies: "odp",
    from: "od|nadawca",
    fields: "wysłan[oey]|data|do|dw|temat",
    sent: "wysłan[oey] (?:z|za pomocą|przez)",
    replyAbove: "",
  },
  cs: {
    wrote: "napsal(?:\\(a\\)|a)?|píše",
    begins: "dne|cituji",
    original: "původní (?:zpráva|e-?mail)",
    forwarded: "(?:začátek )?přepos(?:laná|laný|lané|ílané) (?:zpráv[ay]|e-?mail)",
    from: "od",
    fields: "odesláno|datum|komu|kopie|předmět",
    sent: "(?:odesláno|posláno) (?:z|ze|pomocí|přes)",
    replyAbove: "",
  },
  sk: {
    ...none,
    wrote: "napísal(?:\\(a\\)|a)?",
    original: "pôvodná správa",
    forwarded: "(?:začiatok )?prepos(?:laná|lanej|ielanej) správ[ay]",
    fields: "odoslané|dátum|komu|predmet",
  },
  tr: {
    wrote: "yazdı",
    begins: "",
    original: "orijinal (?:mesaj|ileti)|özgün ileti",
    forwarded: "[iİ]let(?:ilen|ilmiş) (?:mesaj(?:ın başlangıcı)?|[iİ]leti)",
    forwards: "[iİ]lt",
    replies: "ynt",
    from: "gönderen|kimden",
    fields: "gönderildi|gönderme tarihi|tarih|kime|alıcı|bilgi|konu",
    sent: "",
    sentLast: "gönderildi",
    replyAbove: "",
  },
  hu: {
    wrote: "írta",
    begins: "",
    original: "eredeti üzenet",
    forwarded: "továbbított (?:üzenet|levél)(?: kezdete)?",
    forwards: "tov",
    from: "feladó",
    fields: "(?:el)?küldve|dátum|címzett|másolat|tárgy",
    sent: "",
    sentLast: "küldve",
    replyAbove: "",
  },
  ro: {
    wrote: "a scris",
    begins: "în|pe|la data",
    original: "mesaj(?:ul)? (?:original|inițial)",
    forwarded: "(?:începutul )?mesaj(?:ul)?(?:ui)? redirecționat",
    from: "de la",
    fields: "trimis|dată|data|către|subiect",
    sent: "trimis (?:de pe|de la|din|cu)",
    replyAbove: "",
  },
  el: {
    wrote: "έγραψε",
    begins: "στις",
    original: "αρχικό μήνυμα",
    forwarded: "(?:αρχή )?προωθημένο(?:υ)? (?:μήνυμα|μηνύματος)",
    forwards: "πρθ",
    from: "από",
    fields: "στάλθηκε|εστάλη|ημερομηνία|προς|κοιν|θέμα",
    sent: "στάλθηκε από|εστάλη από",
    replyAbove: "",
  },
  ru: {
    wrote: "пишет|(?:на)?писал(?:\\(а\\)|[аи])?",
    begins: "",
    original: "исходное сообщение|исходное письмо",
    forwarded:
      "(?:начало )?(?:пересылаемо|пересланно|перенаправленно|переадресованно)(?:е|го) (?:сообщени[ея]|письм[оа])",
    forwards: "пересл",
    from: "от(?: кого)?",
    fields: "отправлено|дата|кому|копия|тема",
    sent: "отправлено (?:с|из|через)",
    replyAbove: "",
  },
  uk: {
    wrote: "пише|написа(?:в|ла)",
    begins: "",
    original: "(?:початкове|вихідне|оригінальне) повідомлення",
    forwarded: "(?:початок )?(?:пересланого|переслане|переадресованого) повідомлення",
    from: "від(?: кого)?",
    fields: "надіслано|дата|кому|копія|тема",
    sent: "надіслано (?:з|із|через)",
    replyAbove: "",
  },
  ja: {
    wrote: "のメール|書きました|書き込みました",
    begins: "",
    original: "元のメッセージ|元のメール",
    forwarded: "転送されたメッセージ|転送メッセージ",
    forwards: "転送",
    replies: "返信",
    from: "差出人|送信者",
    fields: "送信日時|日時|日付|宛先|件名",
    sent: "",
    sentLast: "から送信",
    replyAbove: "",
  },
  zh: {
    wrote: "写道|寫道",
    begins: "在|于|於",
    original: "原始邮件|原始郵件|原邮件|回复的原邮件",
    forwarded: "(?:以下是)?[转轉](?:发|發|寄)(?:的|来的)?(?:邮件|郵件|信息|訊息|消息)|開始轉寄郵件",
    forwards: "转发|轉寄",
    replies: "回复|回覆|答复",
    from: "发件人|寄件者|寄件人",
    fields: "发送时间|发送日期|日期|时间|收件人|抄送|主题|寄件日期|傳送日期|收件者|主旨",
    sent: "发自|發自|从我的|從我的",
    sentLast: "发送|傳送",
    replyAbove: "",
  },
  ko: {
    wrote: "작성|썼습니다|님의 메시지",
    begins: "",
    original: "원본 (?:메시지|메일)|원본메일",
    forwarded: "전달(?:된|한) (?:메시지|메일)",
    forwards: "전달",
    from: "보낸 ?사람|보낸이",
    fields: "보낸 ?날짜|날짜|일시|받는 ?사람|받는이|참조|제목",
    sent: "",
    sentLast: "에서 보냄|에서 보낸 메일",
    replyAbove: "",
  },
  ar: {
    ...none,
    wrote: "كتب|كتبت|تمت كتابة ما يلي بواسطة",
    begins: "في",
    original: "الرسالة الأصلية",
    forwarded: "(?:بداية )?(?:ال)?رسالة (?:ال)?مُ?عاد توجيهها",
    forwards: "إعادة توجيه",
    from: "من",
    fields: "تم الإرسال|أُ?رسلت|التاريخ|تاريخ|إلى|الموضوع",
    sent: "أُ?رسلت? من|تم الإرسال من",
  },
  he: {
    ...none,
    wrote: "כתב|כתבה|מאת",
    begins: "בתאריך|ב-?יום|‎?ב-",
    original: "ההודעה המקורית|הודעה מקורית",
    forwarded: "(?:תחילת )?ה?הודעה (?:ש?הועברה|מועברת)",
    forwards: "הועבר",
    from: "מאת",
    fields: "נשלח|תאריך|אל|נושא",
    sent: "נשלח מ",
  },
};

/** A list of every language, as alternatives of a regular expression. */
export function mailWordsOf(list: keyof MailWords): string {
  const phrases = Object.values(mailWords).flatMap((words) =>
    words[list] === undefined || words[list] === "" ? [] : [words[list]],
  );
  return [...new Set(phrases)].join("|");
}

/** Devices and apps that sign mails by themselves. */
export const signingApps =
  "iphone|ipad|apple watch|ios|android|galaxy|samsung|xiaomi|redmi|huawei|pixel|oneplus|oppo|nokia|blackberry|windows (?:phone|mail)|outlook|yahoo|aol|proton|tuta(?:nota)?|gmail|gmx|web\\.de|fastmail|zoho|spark|mailspring|k-9|thunderbird|mail(?:app| app| orange|\\.ru| for windows)|orange|laposte|libero|seznam|yandex|smartphone|mobil\\p{L}*|handy|cep telefonu\\p{L}*|telefon\\p{L}*|téléphone|teléfono|telemóvel|celular|手机|手機|스마트폰|携帯|メール";
