import { describe, expect, it } from "vitest";
import { visibleText } from "./visible-text.ts";

const reply = "Yes, the green one please.";

describe("the text of a reply", () => {
  it.each([
    ["Gmail in French", "Le mar. 3 févr. 2026 à 18:04, Maison du Fil <\naide@maison-du-fil.example> a écrit\u00A0:"],
    [
      "Gmail in German",
      "Am Di., 3. Feb. 2026 um 18:04 Uhr schrieb Hilfe der Fadenhandlung Nord <\nhilfe@faden.example>:",
    ],
    ["Gmail in Norwegian", "tir. 3. feb. 2026 kl. 18:04 skrev Trådhuset <hjelp@traad.example>:"],
    ["Gmail in Finnish", "ti 3. helmik. 2026 klo 18.04 Lankakauppa (apua@lanka.example) kirjoitti:"],
    ["Gmail in Polish", "wt., 3 lut 2026 o 18:04 Pasmanteria Nitka <pomoc@nitka.example> napisał(a):"],
    ["Gmail in Czech", "út 3. 2. 2026 v 18:04 odesílatel Nitka <pomoc@nitka.example>\nnapsal:"],
    ["Gmail in Turkish", "İplik Dükkanı <destek@iplik.example>, 3 Şub 2026 Sal, 18:04 tarihinde\nşunu yazdı:"],
    ["Gmail in Korean", "2026년 2월 3일 (화) 오후 6:04, 실가게 <help@thread.example>님이 작성:"],
    [
      "Gmail in Hebrew",
      "\u202Bבתאריך יום ג׳, 3 בפבר׳ 2026 ב-18:04 מאת \u202Aחנות\u202C\u200F <\u202Ahelp@thread.example\u202C\u200F>:\u202C",
    ],
    ["Thunderbird in French", "Le 03/02/2026 à 18:04, Maison du Fil a écrit\u00A0:"],
    ["Thunderbird in Dutch", "Op 03-02-2026 om 18:04 schreef De Draad:"],
    ["Apple Mail in Swedish", "3 feb. 2026 kl. 18:04 skrev Trådboden <hjalp@traad.example>:"],
    ["Horde in Dutch", "Citeren De Draad <hulp@draad.example>:"],
    ["Yandex", '03.02.2026, 18:04, "Нитки" <help@nitki.example>:'],
    ["Zoho Mail", "---- On Tue, 03 Feb 2026 18:04:11 +0100 Thread Shop <help@thread.example> wrote ---"],
    [
      "web.de",
      'Gesendet: Dienstag, 3. Februar 2026 um 18:04 Uhr\nVon: "Faden" <hilfe@faden.example>\nAn: kim@mail.example\nBetreff: Re: Garn',
    ],
    [
      "T-Online",
      '-----Original-Nachricht-----\nBetreff: Re: Garn\nDatum: 2026-02-03T18:04:11+0100\nVon: "Faden" <hilfe@faden.example>\nAn: <kim@mail.example>',
    ],
    [
      "Outlook in Czech",
      "Od: Nitka <pomoc@nitka.example>\nOdesláno: úterý 3. února 2026 18:04\nKomu: Kim\nPředmět: Re: Nit",
    ],
    [
      "Outlook in Turkish",
      "Gönderen: İplik <destek@iplik.example>\nGönderildi: 3 Şubat 2026 Salı 18:04\nKime: Kim\nKonu: Re: İplik",
    ],
    [
      "Seznam.cz",
      "---------- Původní e-mail ----------\nOd: Nitka <pomoc@nitka.example>\nKomu: kim@mail.example\nDatum: 3. 2. 2026 18:04:11\nPředmět: Re: Nit",
    ],
    ["163.com", '在 2026-02-03 18:04:11，"线店" <help@thread.example> 写道：'],
    [
      "Samsung in Turkish",
      "-------- Orijinal mesaj --------\nKimden: İplik <destek@iplik.example>\nTarih: 03/02/2026 18:04\nKonu: Re: İplik",
    ],
  ])("ends above what %s quotes", (_program, above) => {
    const quoted = `${above}\n\nWhich colour? You can also ask to talk to a human.`;
    expect(visibleText(`${reply}\n\n${quoted}`)).toEqual({ text: reply, forwarded: [], isWritten: true });
  });

  it.each([
    "Sent from my iPhone",
    "Sent with Proton Mail secure email.",
    "Sent via Spark (https://spark.example)",
    "Get Outlook for Android<https://aka.example/x>",
    "Hämta Outlook för iOS<https://aka.example/x>",
    "Von meinem Galaxy gesendet",
    "Enviado do meu iPhone",
    "Sendt fra min iPad",
    "Envoyé depuis l'application Mail Orange",
    "iPhone'umdan gönderildi",
    "发自我的iPhone",
    "iPhoneから送信",
    "내 iPhone에서 보냄",
  ])("ends above the signature of an app: %s", (signature) => {
    expect(visibleText(`${reply}\n\n${signature}`).text).toBe(reply);
    expect(
      visibleText(`${reply}\n\n${signature}\n\nOn 3 Feb 2026, at 18:04, Shop <a@x.example> wrote:\n\n> Hi`).text,
    ).toBe(reply);
  });

  it("ends above a block of fields with blank lines between them", () => {
    const block = "From: Shop <a@x.example>\n\nSent: Tuesday\n\nTo: Kim\n\nSubject: Re: Thread\n\nWhich colour?";
    expect(visibleText(`${reply}\n\n${block}`).text).toBe(reply);
  });

  it("keeps answers below and between the quoted lines", () => {
    const quoted = "W dniu 3.02.2026 o 18:04, Pasmanteria pisze:\n> Kolor?\n\nZielony.\n\n> Adres?\n\nJak zawsze.";
    expect(visibleText(quoted).text).toBe("Zielony.\n\n\nJak zawsze.");
  });

  it("keeps an answer below several signatures that quoted lines follow, and drops them without one", () => {
    const signed = "Sent from my iPhone\n> Which colour?\n".repeat(3);
    expect(visibleText(`${reply}\n\n${signed}`).text).toBe(reply);
    expect(visibleText(`${signed}\nThe green one.`).text).toContain("The green one.");
  });

  it.each([
    ["a sentence about what somebody wrote", "Am 12. schrieb ich Ihnen, dass der Faden reißt."],
    ["what somebody said, before a list", "On Monday your colleague wrote:\nfirst cut, then sew."],
    ["a field that is a sentence", "From: and To: are swapped on the label.\nWhich one is the buyer?"],
    ["fields that are the question", "Subject: my order\nDate: last Monday\nIt has not come."],
    ["a device that is the question", "Was the parcel sent with the phone?\nMy iPhone says so."],
    ["an address, before a list", "Please write to kim@mail.example, and also to:\nlee@mail.example"],
    ["a line between two passages", `The first part.\n\n${"_".repeat(60)}\n\nThe second part.`],
    ["a device below a greeting", "Hi,\n\nGetting an error on my iPhone when I log in.\nPlease help.\n\nAda"],
    ["what a program does not do", "Hello,\n\nMy Outlook does not get new mails since Monday.\nError 0x8004."],
    ["a wish that names a colour and an app", "Hi,\n\nGet the orange one instead please.\nThanks"],
    ["what was sent to a device", "Hallo,\n\nder Code wurde an mein Handy gesendet\nund ist falsch."],
    ["a device in French", "Bonjour,\n\nSur mon téléphone je ne peux pas télécharger la facture."],
    ["a device in Chinese", "你好\n\n我的手机无法获取验证码。"],
    ["a device in Japanese", "こんにちは\n\nメールから送信できません。"],
    ["what the customer wrote earlier", "Hi,\n\nOn Monday at 10:30 I wrote to you with these questions:\n1. Price?"],
    [
      "the same in German",
      "Hallo,\n\nam 12.05. um 14:30 habe ich Ihnen geschrieben und folgende Fragen gestellt:\nPreis?",
    ],
    ["the same in Dutch", "Hoi,\n\nOp 12 mei om 14:30 heb ik u geschreven met de volgende vragen:\nPrijs?"],
    ["an address in parentheses", "Hi,\n\nPlease change my address (ada@old.example):\nnew: ada@new.example"],
    ["a journey", "Hallo,\n\nVon: Berlin\nAn: Hamburg\nDatum: 3.5.\n\nKann ich das umbuchen?"],
    ["a heading between dashes", "--- My order ---\nIt has not come."],
  ])("keeps %s", (_what, text) => {
    expect(visibleText(text)).toEqual({ text, forwarded: [], isWritten: true });
  });

  it.each([
    ["Gmail in any language", "---------- Forwarded message ---------"],
    ["Apple Mail in Italian", "Inizio messaggio inoltrato:"],
    ["Apple Mail in Dutch", "Begin doorgestuurd bericht:"],
    ["Apple Mail in Portuguese", "Início da mensagem encaminhada:"],
    ["Apple Mail in Danish", "Start på videresendt besked:"],
    ["Apple Mail in Finnish", "Välitetty viesti alkaa:"],
    ["Apple Mail in Russian", "Начало переадресованного сообщения:"],
    ["Apple Mail in Hungarian", "Továbbított levél kezdete:"],
    ["Apple Mail in Chinese", "以下是转发的邮件："],
    ["Apple Mail in Japanese", "転送されたメッセージ:"],
    ["Apple Mail in Korean", "전달된 메시지:"],
    ["Thunderbird in French", "-------- Message transféré --------"],
    ["Thunderbird in Spanish", "-------- Mensaje reenviado --------"],
    ["Thunderbird in Polish", "-------- Treść przekazanej wiadomości --------"],
    ["Thunderbird in Swedish", "-------- Vidarebefordrat meddelande --------"],
    ["Thunderbird in Czech", "-------- Přeposlaná zpráva --------"],
    ["Thunderbird in Slovak", "-------- Preposlaná správa --------"],
    ["Thunderbird in Turkish", "-------- İletilmiş İleti --------"],
    ["Thunderbird in Ukrainian", "-------- Переслане повідомлення --------"],
    ["Yahoo in German", "----- Weitergeleitete Mail -----"],
    ["Zoho Mail", "============ Forwarded message ============"],
  ])("takes what %s forwards apart from the sender's own words", (_program, opening) => {
    const mail = "From: Bob Ray <bob@mail.example>\nSubject: Thread\n\nWhich colour?\n> The red one.";
    for (const signature of ["", "\n\n-- \nAda", "\n\nSent from my iPhone"]) {
      expect(visibleText(`${reply}${signature}\n\n${opening}\n\n${mail}`)).toEqual({
        text: reply,
        forwarded: [{ text: mail, from: "Bob Ray" }],
        isWritten: true,
      });
    }
  });

  it.each(["Begin forwarded message:", "---------- Forwarded message ---------", "> Begin forwarded message:"])(
    "takes the sender's words below a forwarded mail whose lines are quoted: %s",
    (opening) => {
      const mail = "> From: Bob Ray <bob@mail.example>\n> Subject: Thread\n>\n> Which colour?\n> > The red one.";
      expect(visibleText(`${opening}\n\n${mail}\n\n${reply}`)).toEqual({
        text: reply,
        forwarded: [
          {
            text: "From: Bob Ray <bob@mail.example>\nSubject: Thread\n\nWhich colour?\n> The red one.",
            from: "Bob Ray",
          },
        ],
        isWritten: true,
      });
    },
  );

  it.each([
    ["Bob Ray <bob@mail.example>", "Bob Ray"],
    ['"Ray, Bob" [mailto:bob@mail.example]', "Ray, Bob"],
    ["bob@mail.example", "bob@mail.example"],
    ["<bob@mail.example>", "bob@mail.example"],
    ["Bob", "Bob"],
    ["ada@mail.example <bob@mail.example>", "bob@mail.example"],
    ["Ada <ada@mail.example> <bob@mail.example>", "bob@mail.example"],
    ['"Ada (ada@mail.example)" <bob@mail.example>', "bob@mail.example"],
    ['""', undefined],
  ])("names the author of a forwarded mail by the address that it is from: %s", (value, from) => {
    const { forwarded } = visibleText(`---- Forwarded message ----\nFrom: ${value}\n\nWhich colour?`);
    expect(forwarded.map((each) => each.from)).toEqual([from]);
  });

  it("takes no words from a forwarded mail that begins with a quote", () => {
    const mail = "> Which colour?\n\nI want to talk to a human.";
    for (const fields of ["", "From: Bob <bob@mail.example>\n\n"]) {
      const { text, forwarded } = visibleText(`${reply}\n\n---- Forwarded message ----\n\n${fields}${mail}`);
      expect([text, forwarded.map((each) => each.text)]).toEqual([reply, [`${fields}${mail}`]]);
    }
  });

  it("reads long lines of words that may announce a quote without delay", () => {
    const line = `On 3 Feb 2026 at 18:04 ${"Ada wrote <a@x ".repeat(30)}`;
    const text = `${line}\n`.repeat(4_000);
    expect(visibleText(text).isWritten).toBe(true);
  });
});
