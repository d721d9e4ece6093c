/** Texts with personal data replaced by placeholders. */
export interface Masked {
  readonly texts: readonly string[];
  /** Removes the placeholders from a text, except those within a link or another word. */
  withoutPlaceholders(text: string): string;
  restore(text: string): string;
}

// Matches only at the start of a run of its characters. Otherwise matching takes quadratic time.
const email = /(?<![\p{L}\p{N}._%+'-])[\p{L}\p{N}._%+'-]+@[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)+/gu;
const iban = /(?<![\p{L}\p{N}])[a-z]{2}\d{2}(?: ?[a-z0-9]{4}){2,7}(?: ?[a-z0-9]{1,3})?(?![\p{L}\p{N}])/giu;
const card = /(?<![\p{L}\p{N}])\d(?:[ -]?\d){12,18}(?![\p{L}\p{N}])/gu;
const phone =
  /(?<![\p{L}\p{N}.,:/-])(?:(?:\+|00)\d(?:[\d ()./-]{4,20}\d)|\(?0\d{1,5}\)?[ /-]?\d(?:[\d ./-]{3,14}\d)|\(\d{3}\) ?\d{3}[-. ]\d{4}|\d{3}[-.]\d{3}[-.]\d{4})(?![\p{L}\p{N}])/gu;
const date = /^(?:\d{1,2}[./-]\d{1,2}[./-]\d{2,4}|\d{4}-\d{2}-\d{2})/u;

/**
 * Replaces e-mail addresses, telephone, card and bank account numbers. Equal values get the same placeholder. `random`
 * returns a nonce, and is called again when the texts contain it.
 */
export function maskPersonalData(texts: readonly string[], random: () => string): Masked {
  const all = texts.join("\n").toLowerCase();
  let nonce = random();
  // Text that looks like a placeholder must not be changed by `restore`.
  while (all.includes(nonce.toLowerCase())) nonce = random();
  const placeholders = new Map<string, string>();
  const values = new Map<string, string>();
  const placeholderOf = (kind: string, value: string): string => {
    const existing = placeholders.get(value);
    if (existing !== undefined) return existing;
    const made = `${kind}_${placeholders.size + 1}_${nonce}`;
    placeholders.set(value, made);
    values.set(made.toLowerCase(), value);
    return made;
  };
  const masked = texts.map((text) =>
    // Every pattern needs a digit or an at sign.
    !/[\d@]/u.test(text)
      ? text
      : text
          .replaceAll(email, (value) => placeholderOf("EMAIL", value))
          .replaceAll(iban, (value) => (isIban(value) ? placeholderOf("IBAN", value) : value))
          .replaceAll(card, (value) => (isCard(value) ? placeholderOf("CARD", value) : value))
          .replaceAll(phone, (value) => (isPhone(value) ? placeholderOf("PHONE", value) : value)),
  );
  // The expressions are compiled when used: questions for embeddings are masked but never restored.
  const placed = String.raw`(?:EMAIL|IBAN|CARD|PHONE)_\d+_${nonce}(?![\p{L}\p{N}])`;
  const alone = String.raw`(?<=^|[\s("'“„*])${placed}(?=$|[\s)"'”“.,;:!?*])`;
  return {
    texts: masked,
    withoutPlaceholders: (text) => text.replaceAll(new RegExp(alone, "giu"), " "),
    restore: (text) => text.replaceAll(new RegExp(placed, "giu"), (made) => values.get(made.toLowerCase()) ?? made),
  };
}

/** Validates the check digits (modulo 97). */
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

/** Validates the check digit (Luhn). */
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
