import { termsOf } from "./terms.ts";

/**
 * What customers write of themselves beside their question: addresses, phone numbers, the number of an order. A number
 * that is asked about, such as that of an error or of a part, is none.
 */
const patterns: readonly RegExp[] = [
  /\b(?:https?:\/\/|www\.)[^\s<>"]+/giu,
  /(?<![\p{L}\p{N}._%+-])[\p{L}\p{N}._%+-]+@[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)+/gu,
  // With a name before it that tells what it is the number of; the name stays.
  /(?<=\b(?:order|invoice|ticket|booking|tracking|parcel|shipment|customer|reference|ref|case|account)s?(?: (?:number|numbers|no|nr|id|code))?(?: is| was)?[.:#]* ?[#(]?)(?=[\p{L}\p{N}/_-]*\d)[\p{L}\p{N}][\p{L}\p{N}/_-]{3,}/giu,
  // Seven digits and more, in groups.
  /(?<![\p{L}\p{N}])(?:\+|00)?\(?\d(?:[ ()/.-]{0,2}\d){6,}(?![\p{L}\p{N}])/gu,
];

const mark = "\uE000";
/** "My order number is …", which only tells what comes. */
const told = new RegExp(`\\bmy (?:[\\p{L}-]+ ){1,3}is +(?=${mark})`, "giu");

/** The terms of each detail in a text, but those that stand outside of it too. */
export function detailsIn(text: string): readonly (readonly string[])[] {
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
  const outside = new Set(termsOf(rest.replaceAll(told, " ").replaceAll(mark, " ")));
  // Alone, they are the question.
  if (outside.size === 0) return [];
  const own = (part: string): string[] => termsOf(part).filter((term) => !outside.has(term));
  // What a label tells is as little asked for as what it tells of.
  const [first = "", ...others] = found;
  return [own([first, ...labels].join(" ")), ...others.map(own)];
}
