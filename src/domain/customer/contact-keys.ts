/** Length of the columns, in characters. */
const keyMax = 190;

/** Normalized values of a contact, by which it is found. */
export interface ContactKeys {
  readonly email_key: string | null;
  readonly phone_key: string | null;
  readonly name_key: string | null;
}

/** Stored with every change of name, address or number. */
export function contactKeys(contact: {
  readonly name: string | null;
  readonly email: string | null;
  readonly phone: string | null;
}): ContactKeys {
  const { name, email, phone } = contact;
  return {
    email_key: email === null ? null : contactEmailKey(email),
    phone_key: phone === null ? null : phoneKey(phone),
    name_key: name === null ? null : nameKey(name),
  };
}

export const contactEmailKey = (email: string): string => bounded(email.trim().normalize("NFC").toLowerCase());

/** A number as people write it, without what they put between the digits, in one of its country's spellings. */
export const phoneKey = (phone: string): string =>
  bounded(
    oneSpelling(
      phone
        .trim()
        .replaceAll(/[\s().\-/]/g, "")
        .replace(/^00/, "+"),
    ),
  );

/**
 * WhatsApp keeps the numbers with which people registered, from before their country changed its plan: without the ninth
 * digit of Brazil's mobile numbers, and with the 1 that Mexico has dropped. SMS and people use the new ones.
 */
const oneSpelling = (number: string): string =>
  number.replace(/^(?<area>\+55[1-9]\d)(?=[6-9]\d{7}$)/, "$<area>9").replace(/^\+521(?=\d{10}$)/, "+52");

/** Without case and accents. */
const nameKey = (name: string): string =>
  bounded(
    name
      .normalize("NFKD")
      .replaceAll(/\p{M}/gu, "")
      .toLowerCase()
      .replaceAll(/[\s\0]+/g, " ")
      .trim(),
  );

/** Cut between characters, because half of one cannot be stored. */
const bounded = (text: string): string => (text.length <= keyMax ? text : [...text].slice(0, keyMax).join(""));
