import type { WordLanguage } from "#language/detection.ts";
import { termsOf } from "#language/terms.ts";

/** What a customer has a number of, in the languages that the bot speaks; endings of words left open. */
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
/** Not of scripts without spaces, where the next word follows at once. */
const sign = String.raw`[\p{Script=Latin}\p{Script=Cyrillic}\p{N}/_-]`;
const named = `(?:(?<![\\p{L}])(?:${things})\\p{L}{0,12}|${unspacedThings})`;

/**
 * What customers write of themselves beside their question: addresses, phone numbers, the number of an order. A number
 * that is asked about, such as that of an error or of a part, is none.
 */
const patterns: readonly RegExp[] = [
  /\b(?:https?:\/\/|www\.)[^\s<>"]+/giu,
  /(?<![\p{L}\p{N}._%+-])[\p{L}\p{N}._%+-]+@[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)+/gu,
  // With a name before it that tells what it is the number of; the name stays.
  new RegExp(
    `(?<=${named}(?: ?(?:${number}))?(?: (?:${owned}))?(?: ?(?:${being}))?[.:#：]{0,3} ?[#(]?)(?=${sign}*\\d)(?!-)${sign}{4,}`,
    "giu",
  ),
  // Seven digits and more, in groups.
  /(?<![\p{L}\p{N}])(?:\+|00)?\(?\d(?:[ ()/.-]{0,2}\d){6,}(?![\p{L}\p{N}])/gu,
];

/** What every one of them has. The patterns are dear, and most messages have none of it. */
const mayHold = /[\d@]|:\/\/|www\./i;

const mark = "\uE000";
const mine =
  "my|mein|meine|meinem|mon|ma|mes|mi|mis|il mio|la mia|mio|mia|o meu|a minha|meu|minha|mijn|min|mitt|mit|minun|мой|моя|моё";
/** "My order number is …", which only tells what comes. */
const told = new RegExp(
  `(?<![\\p{L}])(?:(?:${mine}) (?:[\\p{L}'’-]+ ){1,4}(?:is|ist|lautet|est|es|è|é|är|er|on) +|(?:${things})\\p{L}{0,12} (?:mitt|mit|min|on|er|är) (?:er |är )?)(?=${mark})`,
  "giu",
);

/** The terms of each detail in a text, but those that stand outside of it too. */
export function detailsIn(text: string, language: WordLanguage = "en"): readonly (readonly string[])[] {
  if (!mayHold.test(text)) return [];
  const found: string[] = [];
  let rest = text.replaceAll(mark, " ");
  for (const pattern of patterns) {
    rest = rest.replaceAll(pattern, (detail) => {
      found.push(detail);
      return mark;
    });
  }
  if (found.length === 0) return [];
  const labels = rest.match(told) ?? [];
  const outside = new Set(termsOf(rest.replaceAll(told, " ").replaceAll(mark, " "), language));
  // Alone, they are the question.
  if (outside.size === 0) return [];
  const own = (part: string): string[] => termsOf(part, language).filter((term) => !outside.has(term));
  // What a label tells is as little asked for as what it tells of.
  const [first = "", ...others] = found;
  return [own([first, ...labels].join(" ")), ...others.map(own)];
}
