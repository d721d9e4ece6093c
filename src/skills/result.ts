import { fill } from "#domain/workspace/skill-template.ts";
import type { LookupSkill } from "#domain/workspace/skill.ts";
import type { Lookup } from "#answering/contract.ts";
import type { ArgumentValues } from "./skill-arguments.ts";

const linesMax = 60;
const valueCharactersMax = 500;
const depthMax = 8;

type Leaf = { readonly path: string; readonly value: string };

/** Scalars of a JSON value by their paths (`order.items.0.name`), up to a limit. */
function* leavesOf(value: unknown, path: readonly string[] = []): Iterable<Leaf> {
  if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") {
    yield { path: path.join("."), value: plain(String(value)) };
  } else if (typeof value === "object" && value !== null && path.length < depthMax) {
    for (const [key, each] of Object.entries(value)) yield* leavesOf(each, [...path, key.slice(0, 100)]);
  }
}

/** Puts text on one line, without invisible characters. */
const plain = (text: string): string =>
  text
    .toWellFormed()
    .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, " ")
    .trim()
    .slice(0, valueCharactersMax);

/** `items.0.name` belongs to the fields `items.name` and `items`. */
function isUsed(fields: readonly string[], path: string): boolean {
  if (fields.length === 0) return true;
  const named = path.replaceAll(/\.\d+(?=\.|$)/g, "");
  return fields.some((field) => [path, named].some((each) => each === field || each.startsWith(`${field}.`)));
}

/** The value at a path; own properties only. */
function valueAt(value: unknown, path: string): string | undefined {
  let at = value;
  for (const key of path.split(".")) {
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, key)) return undefined;
    at = (at as Readonly<Record<string, unknown>>)[key];
  }
  return typeof at === "string" || typeof at === "number" || typeof at === "boolean" ? plain(String(at)) : undefined;
}

const titleOf = (name: string): string => {
  const spaced = name.replaceAll("_", " ");
  return `${spaced.slice(0, 1).toUpperCase()}${spaced.slice(1)}`;
};

/** The result of a look-up as text; undefined where a field of the template is missing. */
export function lookupOf(skill: LookupSkill, body: unknown, values: ArgumentValues): Lookup | undefined {
  const lines: string[] = [];
  for (const { path, value } of leavesOf(body)) {
    if (!isUsed(skill.fields, path) || value === "") continue;
    lines.push(`${path.replaceAll(/[._]+/g, " ")}: ${value}`);
    if (lines.length === linesMax) break;
  }
  const text = lines.join("\n");
  const message =
    skill.answer === null
      ? lines.map((line) => `- ${line}`).join("\n")
      : fill(
          skill.answer,
          (name) => valueAt(body, name) ?? (Object.hasOwn(values, name) ? String(values[name]) : undefined),
        );
  if (message === undefined || message === "") return undefined;
  return { skill: skill.name, title: titleOf(skill.name), text: text === "" ? message : text, message };
}

/** `usual`: the text for skills without one of their own. */
export function notFoundText(skill: LookupSkill, values: ArgumentValues, usual: string): string {
  return (
    fill(skill.notFound ?? usual, (name) => (Object.hasOwn(values, name) ? String(values[name]) : undefined)) ?? usual
  );
}
