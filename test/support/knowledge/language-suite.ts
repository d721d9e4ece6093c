import { describe, expect, it } from "vitest";

/** Documents of a shop in one language, with questions to each. */
export interface LanguageSet {
  readonly language: string;
  /** Title and text. */
  readonly documents: readonly (readonly [string, string])[];
  /** A question, and the title of the document that answers it. */
  readonly questions: readonly (readonly [string, string])[];
  /**
   * A question, a follow-up that does not repeat its subject, and the title of the document that answers the follow-up.
   */
  readonly followUps: readonly (readonly [string, string, string])[];
}

const languageSets: readonly LanguageSet[] = [
  {
    language: "German",
    documents: [
      [
        "Rücksendungen",
        "Sie können Ihre Bestellung innerhalb von 30 Tagen kostenlos zurücksenden. Das Etikett liegt dem Paket bei.",
      ],
      ["Versandkosten", "Der Versand ins Ausland kostet 12 Euro. Innerhalb Deutschlands ist er ab 50 Euro kostenlos."],
      [
        "Vertrag kündigen",
        "Kündigen Sie Ihr Abonnement jederzeit in den Einstellungen Ihres Kontos. Die Kündigung gilt zum Monatsende.",
      ],
      ["Garantie", "Auf alle Geräte geben wir eine Garantie von drei Jahren. Verschleißteile sind ausgenommen."],
      [
        "Passwort vergessen",
        "Klicken Sie auf der Anmeldeseite auf „Passwort vergessen“. Wir schicken Ihnen eine E-Mail mit einem Link.",
      ],
    ],
    questions: [
      ["Wie kann ich Bestellungen zurücksenden?", "Rücksendungen"],
      ["Was kostet der Versand nach Österreich, also ins Ausland?", "Versandkosten"],
      ["Wie kündige ich mein Abo oder Abonnement?", "Vertrag kündigen"],
      ["Wie lange habe ich Garantie auf mein Gerät?", "Garantie"],
      ["Ich habe mein Passwort vergessen", "Passwort vergessen"],
      ["Ruecksendung", "Rücksendungen"],
      ["Meine Bestellnummer ist AX-99321-2031, wie lange gilt die Garantie?", "Garantie"],
    ],
    followUps: [
      ["Geben Sie Garantie auf Geräte?", "und wie lange ist das?", "Garantie"],
      ["Kann ich die Bestellung zurücksenden?", "Wie lange habe ich dafür Zeit?", "Rücksendungen"],
    ],
  },
  {
    language: "French",
    documents: [
      ["Retours", "Vous pouvez retourner vos articles gratuitement dans un délai de 30 jours après la livraison."],
      [
        "Annuler une commande",
        "Une commande peut être annulée tant qu'elle n'a pas été expédiée. Ouvrez vos commandes et cliquez sur Annuler.",
      ],
      ["Remboursements", "Le remboursement est effectué sur la carte utilisée pour le paiement, en cinq jours ouvrés."],
      ["Facture", "Les factures sont envoyées par courriel et disponibles dans votre compte."],
    ],
    questions: [
      ["Comment retourner l'article ?", "Retours"],
      ["Je voudrais annuler ma commande", "Annuler une commande"],
      ["Quand serai-je remboursée ?", "Remboursements"],
      ["Où puis-je trouver mes factures ?", "Facture"],
      ["Mon numéro de commande est FR-88213-19, quand serai-je remboursé ?", "Remboursements"],
    ],
    followUps: [
      ["Comment se passe le remboursement ?", "Et ça prend combien de temps ?", "Remboursements"],
      ["Puis-je annuler ma commande ?", "et jusqu'à quand ?", "Annuler une commande"],
    ],
  },
  {
    language: "Spanish",
    documents: [
      ["Devoluciones", "Puede devolver los productos en un plazo de 30 días. La devolución es gratuita."],
      ["Envíos al extranjero", "Los envíos internacionales tardan entre siete y diez días laborables."],
      ["Cambiar la contraseña", "Para cambiar la contraseña, abra los ajustes de su cuenta y pulse Seguridad."],
      ["Métodos de pago", "Aceptamos tarjetas de crédito, transferencias y PayPal."],
    ],
    questions: [
      ["¿Cómo hago una devolución?", "Devoluciones"],
      ["cuanto tarda un envio internacional", "Envíos al extranjero"],
      ["Quiero cambiar mi contraseña", "Cambiar la contraseña"],
      ["¿Puedo pagar con tarjeta de crédito?", "Métodos de pago"],
    ],
    followUps: [
      ["¿Hacen envíos internacionales?", "¿y cuánto tarda?", "Envíos al extranjero"],
      ["Quiero hacer una devolución", "¿y cuánto cuesta eso?", "Devoluciones"],
    ],
  },
  {
    language: "Italian",
    documents: [
      ["Resi", "È possibile restituire gli articoli entro 30 giorni dalla consegna."],
      [
        "Annullare l'ordine",
        "Gli ordini possono essere annullati prima della spedizione dalla pagina del tuo account.",
      ],
      ["Garanzia", "Tutti i prodotti hanno una garanzia di due anni."],
    ],
    questions: [
      ["Come posso annullare un ordine?", "Annullare l'ordine"],
      ["Quanti anni dura la garanzia sul prodotto?", "Garanzia"],
      ["Vorrei restituire un articolo", "Resi"],
    ],
    followUps: [["C'è una garanzia sui prodotti?", "e quanto dura?", "Garanzia"]],
  },
  {
    language: "Portuguese",
    documents: [
      ["Devoluções", "Você pode devolver os produtos em até 30 dias após a entrega. A devolução é grátis."],
      ["Cancelar pedido", "Os pedidos podem ser cancelados enquanto não forem enviados."],
      ["Garantia", "Todos os aparelhos têm garantia de um ano."],
    ],
    questions: [
      ["Como faço uma devolucao?", "Devoluções"],
      ["Quero cancelar o meu pedido", "Cancelar pedido"],
      ["O aparelho tem garantia?", "Garantia"],
    ],
    followUps: [["O aparelho tem garantia?", "e quanto tempo dura isso?", "Garantia"]],
  },
  {
    language: "Dutch",
    documents: [
      ["Retourneren", "Je kunt artikelen binnen 30 dagen gratis retourneren met het meegeleverde label."],
      ["Bestelling annuleren", "Bestellingen kunnen worden geannuleerd zolang ze niet verzonden zijn."],
      ["Wachtwoord wijzigen", "Wijzig je wachtwoord bij de instellingen van je account."],
    ],
    questions: [
      ["Hoe kan ik mijn bestelling annuleren?", "Bestelling annuleren"],
      ["Waar kan ik het wachtwoord wijzigen?", "Wachtwoord wijzigen"],
      ["Kan ik een artikel retourneren?", "Retourneren"],
    ],
    followUps: [["Kan ik artikelen retourneren?", "en hoeveel kost dat?", "Retourneren"]],
  },
  {
    language: "Swedish",
    documents: [
      ["Returer", "Du kan returnera varor inom 30 dagar. Returen är gratis."],
      ["Avbeställa", "Beställningar kan avbokas innan de har skickats från vårt lager."],
      ["Fakturor", "Fakturorna skickas till din e-postadress varje månad."],
    ],
    questions: [
      ["Hur avbokar jag min beställning?", "Avbeställa"],
      ["När skickas fakturan?", "Fakturor"],
      ["Kan jag returnera en vara?", "Returer"],
    ],
    followUps: [["Kan jag returnera varor?", "och vad kostar det?", "Returer"]],
  },
  {
    language: "Russian",
    documents: [
      ["Возврат", "Вы можете вернуть товары в течение 30 дней после доставки."],
      ["Отмена заказа", "Заказы можно отменить до отправки в личном кабинете."],
      ["Гарантия", "На все приборы действует гарантия три года."],
    ],
    questions: [
      ["Как отменить мой заказ?", "Отмена заказа"],
      ["Какая гарантия на прибор?", "Гарантия"],
      ["Хочу вернуть товар", "Возврат"],
    ],
    followUps: [["Есть ли гарантия на приборы?", "и сколько она длится?", "Гарантия"]],
  },
  {
    language: "Japanese",
    documents: [
      ["返品について", "商品の返品は、お届けから30日以内に承ります。送料は当社が負担します。"],
      ["保証期間", "電気ケトルの保証期間はご購入日から3年間です。"],
      ["パスワードの変更", "パスワードはアカウントの設定画面で変更できます。"],
      ["領収書", "領収書はメールでお送りします。"],
    ],
    questions: [
      ["保証期間は何年ですか？", "保証期間"],
      ["商品を返品したいのですが", "返品について"],
      ["パスワードを変更する方法を教えてください", "パスワードの変更"],
      ["領収書はどこで受け取れますか", "領収書"],
    ],
    followUps: [["返品はできますか？", "それは何日以内ですか？", "返品について"]],
  },
  {
    language: "Chinese",
    documents: [
      ["退款", "退款将在14天内退回到您的银行卡。"],
      ["修改密码", "您可以在账户设置中修改密码。"],
      ["配送时间", "国内订单一般在三天内送达，国际订单需要十天。"],
    ],
    questions: [
      ["退款需要多少天？", "退款"],
      ["怎么修改密码", "修改密码"],
      ["国际订单的配送时间", "配送时间"],
    ],
    followUps: [["可以退款吗？", "那需要多久？", "退款"]],
  },
  {
    language: "Korean",
    documents: [
      ["환불", "환불은 14일 이내에 카드로 처리됩니다."],
      ["비밀번호 변경", "비밀번호는 계정 설정에서 변경할 수 있습니다."],
      ["배송", "배송은 보통 3일이 걸립니다."],
    ],
    questions: [
      ["환불을 받고 싶어요", "환불"],
      ["비밀번호를 어떻게 변경하나요?", "비밀번호 변경"],
      ["배송이 얼마나 걸리나요?", "배송"],
    ],
    followUps: [["배송에 대해 알려주세요", "그건 얼마나 걸리나요?", "배송"]],
  },
  {
    language: "Danish",
    documents: [
      ["Returnering", "Du kan returnere varer inden for 30 dage. Returneringen er gratis."],
      ["Garanti", "Alle apparater har tre års garanti."],
      ["Adgangskode", "Skift din adgangskode under indstillingerne på din konto."],
    ],
    questions: [
      ["Hvordan skifter jeg min adgangskode?", "Adgangskode"],
      ["Kan jeg returnere en vare?", "Returnering"],
    ],
    followUps: [["Er der garanti på apparater?", "og hvor længe varer den?", "Garanti"]],
  },
  {
    language: "Norwegian",
    documents: [
      ["Retur", "Du kan returnere varer innen 30 dager. Returen er gratis."],
      ["Garanti", "Alle apparater har tre års garanti."],
      ["Passord", "Bytt passordet ditt under innstillingene på kontoen din."],
    ],
    questions: [
      ["Hvordan bytter jeg passordet mitt?", "Passord"],
      ["Kan jeg returnere en vare?", "Retur"],
    ],
    followUps: [["Har apparatene garanti?", "og hvor lenge varer den?", "Garanti"]],
  },
  {
    language: "Finnish",
    documents: [
      ["Palautukset", "Voit palauttaa tuotteet 30 päivän kuluessa. Palautus on maksuton."],
      ["Takuu", "Kaikilla laitteilla on kolmen vuoden takuu. Takuu alkaa ostopäivästä, eikä se koske kulumista."],
      ["Salasana", "Vaihda salasana tilisi asetuksissa."],
    ],
    questions: [
      ["Miten vaihdan salasanan?", "Salasana"],
      ["Onko laitteilla takuu?", "Takuu"],
    ],
    followUps: [["Onko laitteilla takuu?", "entä kauanko se kestää?", "Takuu"]],
  },
];

/** `ask` returns the title of the best source and whether there was an answer, in a workspace with these documents. */
export function languageContract(
  name: string,
  open: () => Promise<{
    ask(
      set: LanguageSet,
      question: string,
      before?: string,
    ): Promise<{ readonly title: string | undefined; readonly answered: boolean }>;
  }>,
): void {
  describe(`multilingual questions, by ${name}`, () => {
    it.each(languageSets.map((set) => [set.language, set] as const))("are answered in %s", async (_, set) => {
      const { ask } = await open();
      const missed: string[] = [];
      for (const [question, title] of set.questions) {
        const found = await ask(set, question);
        if (found.title !== title || !found.answered) missed.push(`${question} → ${found.title} (${found.answered})`);
      }
      for (const [before, question, title] of set.followUps) {
        const found = await ask(set, question, before);
        if (found.title !== title || !found.answered)
          missed.push(`${before} ${question} → ${found.title} (${found.answered})`);
      }
      expect(missed).toEqual([]);
    });
  });
}
