import type { Score } from "#domain/conversation/message.ts";
import { codePoints } from "#domain/conversation/message.ts";
import type { NewRating } from "./ratings.ts";

const lengthMax = 1_000;
/** `4`, `4/5`, `4 stars` and `4 - a comment`. "4 parcels are late" is no rating. */
const numbered = /^([1-5])(?:\s?(?:\/\s?5|[*★⭐]))?(?:\s*[.!]*$|\s*[-–—:,.;、，\n](?!\d)\s*(\S[^]*)$)/u;
const stars = /^(?:(?:[⭐★🌟]️?){1,5})$/u;
const questions = /[?？؟;]\s*$/u;

/** The zeros of the digits that customers type in Arabic, Persian and Hindi. */
const zeros = [0x660, 0x6f0, 0x966];
const withAsciiDigits = (text: string): string =>
  text.replaceAll(/[\u0660-\u0669\u06f0-\u06f9\u0966-\u096f]/g, (digit) => {
    const code = digit.charCodeAt(0);
    return String(code - (zeros.findLast((zero) => zero <= code) ?? code));
  });

/**
 * The rating that a reply to a survey states, or undefined where the customer writes something else. A comment that asks
 * something is no rating: agents must see it.
 */
export function typedRating(text: string): NewRating | undefined {
  const plain = withAsciiDigits(text.normalize("NFKC").trim());
  if (plain === "" || plain.length > lengthMax) return undefined;
  if (stars.test(plain)) return { score: codePoints(plain.replaceAll("\u{FE0F}", "")) as Score };
  const [, digit, comment] = numbered.exec(plain) ?? [];
  if (digit === undefined || (comment !== undefined && questions.test(comment))) return undefined;
  return { score: Number(digit) as Score, ...(comment === undefined ? {} : { comment }) };
}
