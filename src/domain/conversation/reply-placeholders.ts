/** The names in a saved reply or a macro. `customer` null: the name is not known. */
export interface Names {
  readonly customer: string | null;
  readonly agent: string;
}

/**
 * Fills in the names. Without the customer's name "Hello {customer}," becomes "Hello,", and "{customer}, your refund"
 * becomes "Your refund". All placeholders are replaced at once and names are escaped: a name is written by its owner, and
 * must be neither filled in itself nor read as Markdown.
 */
export function fillIn(text: string, { customer, agent }: Names): string {
  const known = customer === null ? withoutCustomer(text) : text;
  return known
    .trim()
    .replaceAll(/\{(customer|agent)\}/gu, (_, who: string) => asText((who === "agent" ? agent : customer) ?? ""));
}

function withoutCustomer(text: string): string {
  return text
    .replaceAll(/^[^\S\n]*\{customer\}[^\S\n]*[,;:!.、，：！]?[^\S\n]*(.?)/gmu, (_, first: string) =>
      first.toUpperCase(),
    )
    .replaceAll(/[^\S\n]*\{customer\}/gu, "");
}

/** A name on one line, with Markdown's characters escaped; lists and headings are possible at its beginning only. */
const asText = (name: string): string =>
  name
    .trim()
    .replaceAll(/\s+/gu, " ")
    .replaceAll(/[\\`*_[\]<>~|]|&(?=#?\w{1,31};)/gu, String.raw`\$&`)
    .replace(/^(#{1,6}(?=\s|$)|[-+](?=\s|$))/u, String.raw`\$1`)
    .replace(/^(\d{1,9})([.)])(?=\s|$)/u, String.raw`$1\$2`);
