import type { FakeDocument, FakeValue } from "./fake-typesense.ts";

// `filter_by` as Typesense reads it: `&&` and `||` bind alike, from left to right, and a value of text is compared
// without its signs.

/** Throws an Error where the filter cannot be read. */
export function matchesFilter(document: FakeDocument, filter: string, types: ReadonlyMap<string, string>): boolean {
  if (filter.trim() === "") return true;
  const parser = { text: filter, at: 0 };
  const result = expression(parser, document, types);
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

function expression(parser: Parser, document: FakeDocument, types: ReadonlyMap<string, string>): boolean {
  let result = operand(parser, document, types);
  for (;;) {
    space(parser);
    const operator = parser.text.slice(parser.at, parser.at + 2);
    if (operator !== "&&" && operator !== "||") return result;
    parser.at += 2;
    const other = operand(parser, document, types);
    result = operator === "&&" ? result && other : result || other;
  }
}

function operand(parser: Parser, document: FakeDocument, types: ReadonlyMap<string, string>): boolean {
  space(parser);
  if (parser.text[parser.at] === "(") {
    parser.at += 1;
    const result = expression(parser, document, types);
    space(parser);
    if (parser.text[parser.at] !== ")") throw new Error("The parentheses in the filter are not balanced.");
    parser.at += 1;
    return result;
  }
  const match = /^(\w+):(=|<=|>=|<|>)?([\w.-]+|\[[\w.,-]*\])/.exec(parser.text.slice(parser.at));
  const [all, field = "", operator = "", value = ""] = match ?? [];
  if (all === undefined) throw new Error("Could not parse the filter query.");
  parser.at += all.length;
  const type = types.get(field);
  if (type === undefined) throw new Error(`Could not find a filter field named \`${field}\` in the schema.`);
  return compare(document[field], operator, value, type, field);
}

function compare(held: FakeValue | undefined, operator: string, value: string, type: string, field: string): boolean {
  if (type === "int64" || type === "int32") {
    if (!/^-?\d+$/.test(value)) throw new Error(`Error with filter field \`${field}\`: Not an int64.`);
    const number = Number(held);
    switch (operator) {
      case "<":
        return number < Number(value);
      case ">":
        return number > Number(value);
      case "<=":
        return number <= Number(value);
      case ">=":
        return number >= Number(value);
      default:
        return number === Number(value);
    }
  }
  if (operator !== "=") throw new Error(`Error with filter field \`${field}\`: only := is imitated here.`);
  const plain = (text: string): string => text.toLowerCase().replaceAll(/[^a-z0-9]/g, "");
  const wanted = value.startsWith("[") ? value.slice(1, -1).split(",") : [value];
  return [held ?? []].flat().some((each) => wanted.some((one) => plain(String(each)) === plain(one)));
}
