/** What a company says of a verified user, such as `plan: "pro"`; rules of audience tags ask for it. */
export type AttributeValue = string | number | boolean;
export type Attributes = Readonly<Record<string, AttributeValue | readonly AttributeValue[]>>;

/** Which values each of these attributes may have; all of them must fit. Without an attribute: every verified user. */
export type AudienceRule = Readonly<Record<string, readonly AttributeValue[]>>;

/** Rules by audience tag. */
export type Audiences = Readonly<Record<string, AudienceRule>>;

/**
 * The tags whose documents a verified user with these attributes may see. A tag without a rule is for the users whose
 * attribute `plan` is its name.
 */
export function tagsOf(audiences: Audiences, attributes: Attributes): string[] {
  const tags = Object.keys(audiences).filter((tag) => fits(audiences[tag] ?? {}, attributes));
  const plans = valuesOf(attributes, "plan").filter((plan) => typeof plan === "string");
  return [...tags, ...plans.filter((plan) => !Object.hasOwn(audiences, plan))];
}

function fits(rule: AudienceRule, attributes: Attributes): boolean {
  return Object.entries(rule).every(([name, accepted]) =>
    // Written in a file, true and "true" or 5 and "5" are hard to tell apart.
    valuesOf(attributes, name).some((value) => accepted.some((each) => String(each) === String(value))),
  );
}

function valuesOf(attributes: Attributes, name: string): readonly AttributeValue[] {
  const value = Object.hasOwn(attributes, name) ? attributes[name] : undefined;
  if (value === undefined) return [];
  return Array.isArray(value) ? (value as readonly AttributeValue[]) : [value as AttributeValue];
}
