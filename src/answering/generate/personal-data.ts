/** Texts in which personal data has given way to placeholders, and the way back. */
export interface Masked {
  readonly texts: readonly string[];
  /** Whether a text has a placeholder; it stands by itself, not in a link or another word. */
  withoutPlaceholders(text: string): string;
  restore(text: string): string;
}

// Tried once for each run of such signs: from each of them it would take quadratic time.
const email = /(?<![\p{L}\p{N}._%+'-])[\p{L}\p{N}._%+'-]+@[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)+/gu;
const iban = /(?<![\p{L}\p{N}])[a-z]{2}\d{2}(?: ?[a-z0-9]{4}){2,7}(?: ?[a-z0-9]{1,3})?(?![\p{L}\p{N}])/giu;
const card = /(?<![\p{L}\p{N}])\d(?:[ -]?\d){12,18}(?![\p{L}\p{N}])/gu;
const phone =
  /(?<![\p{L}\p{N}.,:/-])(?:(?:\+|00)\d(?:[\d ()./-]{4,20}\d)|\(?0\d{1,5}\)?[ /-]?\d(?:[\d ./-]{3,14}\d)|\(\d{3}\) ?\d{3}[-. ]\d{4}|\d{3}[-.]\d{3}[-.]\d{4})(?![\p{L}\p{N}])/gu;
const date = /^(?:\d{1,2}[./-]\d{1,2}[./-]\d{2,4}|\d{4}-\d{2}-\d{2})/u;

/** Replaces e-mail addresses, telephone, card and bank account numbers, each by the same placeholder wherever it stands. */
export function maskPersonalData(texts: readonly string[], random: () => string): Masked {
  const all = texts.join("\n").toLowerCase();
  let nonce = random();
  // A text that has what looks like a placeholder must not be changed on the way back.
  while (all.includes(nonce.toLowerCase())) nonce = random();
  const placeholders = new Map<string, string>();
  const values = new Map<string, string>();
  const placeholderOf = (kind: string, value: string): string => {
    const known = placeholders.get(value);
    if (known !== undefined) return known;
    const made = `${kind}_${placeholders.size + 1}_${nonce}`;
    placeholders.set(value, made);
    values.set(made.toLowerCase(), value);
    return made;
  };
  const masked = texts.map((text) =>
    // Each of them has a digit or an at sign.
    !/[\d@]/u.test(text)
      ? text
      : text
          .replaceAll(email, (value) => placeholderOf("EMAIL", value))
          .replaceAll(iban, (value) => (isIban(value) ? placeholderOf("IBAN", value) : value))
          .replaceAll(card, (value) => (isCard(value) ? placeholderOf("CARD", value) : value))
          .replaceAll(phone, (value) => (isPhone(value) ? placeholderOf("PHONE", value) : value)),
  );
  // Made when they are needed: questions are masked and never brought back.
  const placed = String.raw`(?:EMAIL|IBAN|CARD|PHONE)_\d+_${nonce}(?![\p{L}\p{N}])`;
  const alone = String.raw`(?<=^|[\s("'“„*])${placed}(?=$|[\s)"'”“.,;:!?*])`;
  return {
    texts: masked,
    withoutPlaceholders: (text) => text.replaceAll(new RegExp(alone, "giu"), " "),
    restore: (text) => text.replaceAll(new RegExp(placed, "giu"), (made) => values.get(made.toLowerCase()) ?? made),
  };
}

/** By its check digits: the rest of 97. */
function isIban(value: string): boolean {
  const letters = value.replaceAll(" ", "").toUpperCase();
  if (letters.length < 15 || letters.length > 34) return false;
  let rest = 0;
  for (const each of `${letters.slice(4)}${letters.slice(0, 4)}`) {
    const digits = /\d/u.test(each) ? each : String((each.codePointAt(0) ?? 0) - 55);
    for (const digit of digits) rest = (rest * 10 + Number(digit)) % 97;
  }
  return rest === 1;
}

/** By its check digit, after Luhn. */
function isCard(value: string): boolean {
  const digits = value.replaceAll(/\D/gu, "");
  let sum = 0;
  for (const [index, digit] of [...digits].toReversed().entries()) {
    const doubled = Number(digit) * (index % 2 === 0 ? 1 : 2);
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return /[1-9]/u.test(digits) && sum % 10 === 0;
}

function isPhone(value: string): boolean {
  const digits = value.replaceAll(/\D/gu, "").length;
  return digits >= 7 && digits <= 16 && !date.test(value);
}
