import { nearestOf } from "#domain/closest-name.ts";
import { Problem } from "#domain/problem.ts";

/** The part of a JSON Schema that names fields. */
export interface Fields {
  readonly properties?: Readonly<Record<string, Fields>>;
  readonly items?: Fields;
}

const shownCharsMax = 64;

/** Returns a Problem for the first field that the schema lacks. An object schema without fields allows any. */
export function unknownField(value: unknown, schema: Fields, kind: "field" | "parameter"): Problem | undefined {
  const found = find(value, schema, "");
  return found === undefined ? undefined : problemOf(found.path, found.name, found.known, kind);
}

/** Returns a Problem for the first name that is not in `known`. */
export function unknownName(given: object, known: readonly string[], kind: "field" | "parameter"): Problem | undefined {
  const name = Object.keys(given).find((each) => !known.includes(each));
  return name === undefined ? undefined : problemOf("", name, known, kind);
}

interface UnknownField {
  readonly path: string;
  readonly name: string;
  readonly known: readonly string[];
}

function find(value: unknown, { properties, items }: Fields, path: string): UnknownField | undefined {
  if (Array.isArray(value)) {
    if (items === undefined) return undefined;
    return firstOf(value.keys(), (at) => find(value[at], items, `${path.slice(0, -1)}[${at}].`));
  }
  if (typeof value !== "object" || value === null || properties === undefined) return undefined;
  const known = Object.keys(properties);
  return firstOf(Object.entries(value), ([name, inner]: [string, unknown]) => {
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
    return property === undefined ? { path, name, known } : find(inner, property, `${path}${name}.`);
  });
}

function firstOf<T>(all: Iterable<T>, look: (each: T) => UnknownField | undefined): UnknownField | undefined {
  for (const each of all) {
    const found = look(each);
    if (found !== undefined) return found;
  }
  return undefined;
}

function problemOf(path: string, name: string, known: readonly string[], kind: string): Problem {
  const shown = name.length > shownCharsMax ? `${name.slice(0, shownCharsMax)}…` : name;
  const nearest = nearestOf(shown, known);
  const quoted = (each: string): string => JSON.stringify(path + each);
  let hint = `There is no ${kind} here.`;
  if (nearest !== undefined) hint = `The nearest known ${kind} is ${quoted(nearest)}.`;
  else if (known.length > 0) hint = `Known here: ${known.map(quoted).join(", ")}.`;
  return new Problem("invalid_parameter", `${quoted(shown)} is not a known ${kind}. ${hint}`);
}
