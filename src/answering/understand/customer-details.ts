import type { WordLanguage } from "#language/detection.ts";
import { termsOf } from "#language/terms.ts";

/** Things that have a reference number, in the supported languages. Word endings are left open. */
const things = [
  "order|invoice|ticket|booking|tracking|parcel|shipment|customer|reference|ref|case|account",
  "bestell|auftrag|rechnung|buchung|sendung|kunden|paket|vorgang|konto|vertrag|referenz",
  "commande|facture|ticket|réservation|colis|client|référence|dossier|compte|suivi|contrat",
  "pedido|factura|reserva|envío|cliente|referencia|caso|cuenta|seguimiento|contrato|orden",
  "ordine|fattura|prenotazione|spedizione|cliente|riferimento|pratica|conto|contratto",
  "encomenda|fatura|remessa|referência|conta|rastreio|contrato",
  "bestel|factuur|boeking|zending|klant|referentie|dossier|rekening|pakket",
  "order|faktura|boknings|kund|referens|ärende|konto|försändelse|beställnings",
  "ordre|bestillings|faktura|booking|kunde|reference|referanse|sags|saks|konto|forsendelse|pakke",
  "tilaus|lasku|varaus|asiakas|viite|tapaus|lähetys|paketti",
  "заказ|счет|счёт|бронировани|клиент|обращени|посылк|договор",
].join("|");
const unspacedThings =
  "注文|請求書|予約|お客様|会員|問い合わせ|追跡|订单|发票|预订|客户|快递|运单|工单|주문|송장|예약|고객|문의|운송장";
const number =
  "numbers?|no\\.?|nr\\.?|nº|n°|id|code|nummer|numero|número|numéro|numéro de|номер|番号|号码|号|編號|번호|numeroni|nummeret|numret";
const owned = "mitt|mit|min|meinem|mein|meiner|meu|minha|mio|mijn|моего|мой";
const being = "is|was|ist|war|lautet|est|es|è|era|é|är|er|on|hat|lyder|имеет|は|が|是|为|為|은|는|이|가|:";
/** Excludes scripts without spaces, where the next word follows directly. */
const sign = String.raw`[\p{Script=Latin}\p{Script=Cyrillic}\p{N}/_-]`;
const named = `(?:(?<![\\p{L}])(?:${things})\\p{L}{0,12}|${unspacedThings})`;

/**
 * Matches personal details beside a question: addresses, phone numbers, order numbers. Numbers that can be the subject of
 * a question, such as error codes and part numbers, must not match.
 */
const patterns: readonly RegExp[] = [
  /\b(?:https?:\/\/|www\.)[^\s<>"]+/giu,
  /(?<![\p{L}\p{N}._%+-])[\p{L}\p{N}._%+-]+@[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)+/gu,
  // A reference number after its label. The label is not part of the match.
  new RegExp(
    `(?<=${named}(?: ?(?:${number}))?(?: (?:${owned}))?(?: ?(?:${being}))?[.:#：]{0,3} ?[#(]?)(?=${sign}*\\d)(?!-)${sign}{4,}`,
    "giu",
  ),
  // Seven digits and more, in groups.
  /(?<![\p{L}\p{N}])(?:\+|00)?\(?\d(?:[ ()/.-]{0,2}\d){6,}(?![\p{L}\p{N}])/gu,
];

/** Cheap test before the expensive patterns: every detail has one of these. */
const mayHold = /[\d@]|:\/\/|www\./i;

const mark = "\uE000";
const mine =
  "my|mein|meine|meinem|mon|ma|mes|mi|mis|il mio|la mia|mio|mia|o meu|a minha|meu|minha|mijn|min|mitt|mit|minun|мой|моя|моё";
/** Matches the label before a detail: "My order number is …". */
const labelPattern = new RegExp(
  `(?<![\\p{L}])(?:(?:${mine}) (?:[\\p{L}'’-]+ ){1,4}(?:is|ist|lautet|est|es|è|é|är|er|on) +|(?:${things})\\p{L}{0,12} (?:mitt|mit|min|on|er|är) (?:er |är )?)(?=${mark})`,
  "giu",
);

/** The terms of each detail in a text, without terms that also occur outside of the details. */
export function detailsIn(text: string, language: WordLanguage = "en"): readonly (readonly string[])[] {
  if (!mayHold.test(text)) return [];
  const details: string[] = [];
  let rest = text.replaceAll(mark, " ");
  for (const pattern of patterns) {
    rest = rest.replaceAll(pattern, (detail) => {
      details.push(detail);
      return mark;
    });
  }
  if (details.length === 0) return [];
  const labels = rest.match(labelPattern) ?? [];
  const outside = new Set(termsOf(rest.replaceAll(labelPattern, " ").replaceAll(mark, " "), language));
  // Details without other words are the question.
  if (outside.size === 0) return [];
  const own = (part: string): string[] => termsOf(part, language).filter((term) => !outside.has(term));
  // Labels belong to the details, not to the question.
  const [first = "", ...others] = details;
  return [own([first, ...labels].join(" ")), ...others.map(own)];
}
