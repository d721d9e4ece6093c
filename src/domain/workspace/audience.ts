import { Problem } from "#domain/problem.ts";

const tagsMax = 50;
const tagCharactersMax = 64;

/** A signed attribute of a user, such as `plan: "pro"`; rules of audience tags compare it. */
export type AttributeValue = string | number | boolean;
export type Attributes = Readonly<Record<string, AttributeValue | readonly AttributeValue[]>>;

/** Permitted values by attribute; every attribute must match. Without an attribute: every verified user. */
export type AudienceRule = Readonly<Record<string, readonly AttributeValue[]>>;

/** Rules by audience tag. */
export type Audiences = Readonly<Record<string, AudienceRule>>;

/**
 * The tags whose documents a verified user with these attributes may see. A tag without a rule admits users whose
 * attribute `plan` has its name.
 */
export function tagsOf(audiences: Audiences, attributes: Attributes): string[] {
  const rules = Object.entries(audiences).map(([tag, rule]) => ({ tag: tag.trim().toLowerCase(), rule }));
  const plans = valuesOf(attributes, "plan")
    .filter((plan) => typeof plan === "string")
    .map((plan) => plan.trim().toLowerCase());
  return [
    ...rules.filter(({ rule }) => fits(rule, attributes)).map(({ tag }) => tag),
    ...plans.filter((plan) => !rules.some(({ tag }) => tag === plan)),
  ];
}

function fits(rule: AudienceRule, attributes: Attributes): boolean {
  return Object.entries(rule).every(([name, accepted]) =>
    // In a configuration file, true and "true" or 5 and "5" are easily confused.
    valuesOf(attributes, name).some((value) => accepted.some((each) => String(each) === String(value))),
  );
}

function valuesOf(attributes: Attributes, name: string): readonly AttributeValue[] {
  const value = Object.hasOwn(attributes, name) ? attributes[name] : undefined;
  if (value === undefined) return [];
  return Array.isArray(value) ? (value as readonly AttributeValue[]) : [value as AttributeValue];
}

/** Normalizes tags: trimmed, in lower case, unique, sorted. Throws `Problem` for too many. */
export function audienceTags(given: readonly string[]): string[] {
  const tags = [...new Set(given.map((tag) => tag.trim().toLowerCase()).filter((tag) => tag !== ""))].toSorted();
  if (tags.length > tagsMax || tags.some((tag) => tag.length > tagCharactersMax)) {
    throw new Problem(
      "invalid_parameter",
      `audience may have at most ${tagsMax} tags of at most ${tagCharactersMax} characters.`,
    );
  }
  return tags;
}
