import type { FakeDocument, FakeValue } from "./collection.ts";

// `filter_by` as Typesense reads it: `&&` and `||` have equal precedence, from left to right, and text values are
// compared without punctuation.

type Fits = (document: FakeDocument) => boolean;

/** Throws an Error if the filter cannot be parsed. */
export function readFilter(filter: string, types: ReadonlyMap<string, string>): Fits {
  if (filter.trim() === "") return () => true;
  const parser = { text: filter, at: 0 };
  const result = expression(parser, types);
  if (parser.at !== filter.length) throw new Error("Could not parse the filter query.");
  return result;
}

interface Parser {
  readonly text: string;
  at: number;
}

function space(parser: Parser): void {
  while (parser.text[parser.at] === " ") parser.at += 1;
}

function expression(parser: Parser, types: ReadonlyMap<string, string>): Fits {
  let result = operand(parser, types);
  for (;;) {
    space(parser);
    const operator = parser.text.slice(parser.at, parser.at + 2);
    if (operator !== "&&" && operator !== "||") return result;
    parser.at += 2;
    const left = result;
    const right = operand(parser, types);
    result =
      operator === "&&"
        ? (document) => left(document) && right(document)
        : (document) => left(document) || right(document);
  }
}

function operand(parser: Parser, types: ReadonlyMap<string, string>): Fits {
  space(parser);
  if (parser.text[parser.at] === "(") {
    parser.at += 1;
    const result = expression(parser, types);
    space(parser);
    if (parser.text[parser.at] !== ")") throw new Error("The parentheses in the filter are not balanced.");
    parser.at += 1;
    return result;
  }
  const match = /^(\w+):(!?=|<=|>=|<|>)?([\w.-]+|\[[\w.,-]*\])/.exec(parser.text.slice(parser.at));
  const [all, field = "", operator = "", value = ""] = match ?? [];
  if (all === undefined) throw new Error("Could not parse the filter query.");
  parser.at += all.length;
  const type = types.get(field);
  if (type === undefined) throw new Error(`Could not find a filter field named \`${field}\` in the schema.`);
  const fits = comparison(operator, value, type, field);
  return (document) => fits(document[field]);
}

function comparison(
  operator: string,
  value: string,
  type: string,
  field: string,
): (held: FakeValue | undefined) => boolean {
  if (type === "int64" || type === "int32") {
    if (!/^-?\d+$/.test(value)) throw new Error(`Error with filter field \`${field}\`: Not an int64.`);
    const bound = Number(value);
    switch (operator) {
      case "<":
        return (held) => Number(held) < bound;
      case ">":
        return (held) => Number(held) > bound;
      case "<=":
        return (held) => Number(held) <= bound;
      case ">=":
        return (held) => Number(held) >= bound;
      case "!=":
        return (held) => Number(held) !== bound;
      default:
        return (held) => Number(held) === bound;
    }
  }
  if (operator !== "=" && operator !== "!=")
    throw new Error(`Error with filter field \`${field}\`: only := and :!= are imitated here.`);
  const plain = (text: string): string => text.toLowerCase().replaceAll(/[^a-z0-9]/g, "");
  const values = new Set((value.startsWith("[") ? value.slice(1, -1).split(",") : [value]).map(plain));
  const isOne = (held: FakeValue | undefined): boolean =>
    [held ?? []].flat().some((each) => values.has(plain(String(each))));
  return operator === "=" ? isOne : (held) => !isOne(held);
}
