import { emailIdentity, phoneIdentity } from "#domain/customer/identity-proof.ts";
import type { Skill, SkillArgument } from "#domain/workspace/skill.ts";
import { fitsShape } from "./shape.ts";

export type ArgumentValue = string | number | boolean;
export type ArgumentValues = Readonly<Record<string, ArgumentValue>>;

const lengthMax = 100;

/** Validates an argument written by a customer or a model; undefined where it is invalid. */
export function argumentValue(skill: Skill, argument: SkillArgument, given: unknown): ArgumentValue | undefined {
  switch (argument.type) {
    case "boolean":
      if (typeof given === "boolean") return given;
      return given === "true" ? true : given === "false" ? false : undefined;
    case "integer":
    case "number": {
      const number = typeof given === "number" ? given : numberIn(given);
      if (number === undefined || !Number.isFinite(number)) return undefined;
      if (argument.type === "integer" && !Number.isSafeInteger(number)) return undefined;
      const { minimum = Number.NEGATIVE_INFINITY, maximum = Number.POSITIVE_INFINITY } = argument;
      return number >= minimum && number <= maximum ? number : undefined;
    }
    case "string":
      return textValue(skill, argument, given);
  }
}

function textValue(skill: Skill, argument: SkillArgument, given: unknown): string | undefined {
  if (typeof given !== "string" && typeof given !== "number") return undefined;
  const text = String(given).normalize("NFC").trim();
  // A lone surrogate cannot be encoded in an address.
  if (text === "" || text.length > (argument.maxLength ?? lengthMax) || !text.isWellFormed()) return undefined;
  if (/\p{Cc}/u.test(text)) return undefined;
  if (skill.kind === "capture_lead") {
    if (argument.name === "email") return emailIdentity(text);
    if (argument.name === "phone") return phoneIdentity(text) ?? (/^[\d ()/.-]{6,20}$/.test(text) ? text : undefined);
    return text;
  }
  if (argument.choices !== undefined)
    return argument.choices.find((choice) => choice.toLowerCase() === text.toLowerCase());
  if (argument.shapes !== undefined && !argument.shapes.some((shape) => fitsShape(text, shape))) return undefined;
  return text;
}

function numberIn(given: unknown): number | undefined {
  return typeof given === "string" && /^-?\d{1,15}(?:\.\d{1,10})?$/.test(given.trim()) ? Number(given) : undefined;
}

/** The JSON schema of the arguments, for the model. */
export function argumentsSchema(skill: Skill): Readonly<Record<string, unknown>> {
  return {
    type: "object",
    additionalProperties: false,
    required: skill.arguments.filter(({ optional }) => !optional).map(({ name }) => name),
    properties: Object.fromEntries(
      skill.arguments.map((argument) => [
        argument.name,
        {
          type: argument.type,
          description: described(argument),
          ...(argument.choices === undefined ? {} : { enum: argument.choices }),
          ...(argument.minimum === undefined ? {} : { minimum: argument.minimum }),
          ...(argument.maximum === undefined ? {} : { maximum: argument.maximum }),
        },
      ]),
    ),
  };
}

function described({ description, shapes }: SkillArgument): string {
  if (shapes === undefined) return description;
  return `${description} Written as ${shapes.join(" or ")}, where # is a digit, @ a letter, * either, + one or more.`;
}

/** The values of a model's arguments, or the name of a missing or invalid one. */
export function readValues(
  skill: Skill,
  given: Readonly<Record<string, unknown>>,
): { readonly values: ArgumentValues } | { readonly missing: SkillArgument } {
  const values: Record<string, ArgumentValue> = {};
  for (const argument of skill.arguments) {
    const raw = Object.hasOwn(given, argument.name) ? given[argument.name] : undefined;
    const absent = raw === undefined || raw === null || raw === "";
    const value = absent ? undefined : argumentValue(skill, argument, raw);
    if (value !== undefined) values[argument.name] = value;
    else if (!argument.optional || !absent) return { missing: argument };
  }
  return { values };
}
