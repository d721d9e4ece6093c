export const contactFields = ["name", "email", "phone"] as const;
export type ContactField = (typeof contactFields)[number];

/**
 * The source of a contact's value: the company (signature or API) or the customer's platform. A claim has no entry.
 */
type Voucher = "company" | "platform";
export type Source = Voucher | "claim";
export type Provenance = Readonly<Partial<Record<ContactField, Voucher>>>;

type Values = Readonly<Record<ContactField | "provenance", string | null>>;

const ranks: Readonly<Record<Source, number>> = { claim: 0, platform: 1, company: 2 };

export const provenanceOf = ({ provenance }: Pick<Values, "provenance">): Provenance =>
  JSON.parse(provenance ?? "{}") as Provenance;

/** Returns the fields with verified values. */
export function verifiedFields(contact: Values): readonly ContactField[] {
  const provenance = provenanceOf(contact);
  return contactFields.filter((field) => contact[field] !== null && provenance[field] !== undefined);
}

/** Adds values unless a better source has set them. A platform's first value stays. */
export function withValues(
  contact: Values,
  given: { readonly [field in ContactField]?: string | undefined },
  source: Source,
): Values {
  const { name, email, phone } = contact;
  const next = { name, email, phone };
  const provenance: Partial<Record<ContactField, Voucher>> = { ...provenanceOf(contact) };
  for (const field of contactFields) {
    const value = given[field];
    const current = provenance[field] ?? "claim";
    if (value === undefined) continue;
    if (next[field] !== null && (ranks[source] < ranks[current] || (source === "platform" && current === source)))
      continue;
    next[field] = value;
    if (source === "claim") delete provenance[field];
    else provenance[field] = source;
  }
  return { ...next, provenance: storedProvenance(provenance) };
}

export const storedProvenance = (provenance: Provenance): string | null =>
  Object.keys(provenance).length === 0 ? null : JSON.stringify(provenance);
