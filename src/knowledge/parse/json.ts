import { createBlockList, namedCells, oneLine, UnreadableDocument } from "#knowledge/documents/blocks.ts";
import type { BlockList, ParsedDocument } from "#knowledge/documents/blocks.ts";
import { isHeader } from "./csv.ts";
import { fieldBlocks, fieldLine, isInternal, isOfPost } from "./field-text.ts";
import { questionFields } from "./question-fields.ts";

const depthMax = 60;
const longCharacters = 200;

type Fields = Readonly<Record<string, unknown>>;

/** Writes values under their keys: objects in a list become passages, questions with answers sections, nested objects get a heading. */
export function parseJson(source: string): ParsedDocument {
  const text = source.replace(/^\ufeff/, "");
  let value: unknown;
  try {
    value = valueOf(text);
  } catch (cause) {
    const reason = cause instanceof Error ? oneLine(cause.message).slice(0, 200) : "";
    throw new UnreadableDocument(`The file is not valid JSON: ${reason}`, { cause });
  }
  const list = createBlockList();
  write(list, value, null, 0);
  const title = isFields(value) ? (value["title"] ?? value["name"]) : undefined;
  return { title: typeof title === "string" && oneLine(title) !== "" ? oneLine(title) : null, blocks: list.blocks };
}

/** The value, or those of the lines of a text in which each is a value. */
function valueOf(text: string): unknown {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  const isEach = lines.length > 1 && lines.every((line) => /^\s*\{.*\}\s*$/.test(line));
  return isEach ? lines.map((line): unknown => JSON.parse(line)) : JSON.parse(text);
}

function write(list: BlockList, value: unknown, name: string | null, depth: number): void {
  if (depth > depthMax) {
    throw new UnreadableDocument(`The JSON is nested more than ${depthMax} levels deep, which nobody would read.`);
  }
  if (Array.isArray(value)) writeArray(list, value, name, depth);
  else if (isFields(value)) writeFields(list, value, name, depth, false);
  else writeText(list, name, textOf(value));
}

function writeArray(list: BlockList, values: readonly unknown[], name: string | null, depth: number): void {
  addHeading(list, name, depth);
  if (isTable(values)) return writeTable(list, values);
  for (const value of values) {
    if (isFields(value)) writeFields(list, value, null, depth + 1, true);
    else if (Array.isArray(value)) write(list, value, null, depth + 1);
    else list.add({ kind: "item", number: null, depth: 0, text: oneLine(textOf(value)) });
  }
}

const isTable = (values: readonly unknown[]): values is readonly (readonly unknown[])[] =>
  values.length > 1 && values.every((row) => Array.isArray(row) && row.length > 1 && !row.some(isNested));

/** The first row of a table names its columns, as in a CSV file. */
function writeTable(list: BlockList, rows: readonly (readonly unknown[])[]): void {
  const [head = [], ...rest] = rows.map((row) => row.map((cell) => fieldLine(textOf(cell))));
  const header = isHeader(head) ? head : [];
  for (const cells of header.length === 0 ? [head, ...rest] : rest) {
    list.add({ kind: "row", cells: namedCells(header, cells), alone: true });
  }
}

function writeFields(list: BlockList, fields: Fields, name: string | null, depth: number, alone: boolean): void {
  const keys = Object.keys(fields).filter((key) => fields[key] !== "" && fields[key] !== null);
  const found = questionFields(keys);
  const questionField = found === undefined ? undefined : fields[keys[found.question] ?? ""];
  const answerField = found === undefined ? undefined : fields[keys[found.answer] ?? ""];
  const question = fieldText(questionField);
  const answer = fieldText(answerField);
  const asked = question !== undefined && answer !== undefined;
  addHeading(list, name, depth);
  if (asked) {
    addHeading(list, fieldLine(question), depth + 1);
    writeText(list, null, answer);
  }
  const below = asked ? depth + 2 : depth + 1;
  const isPost = asked && isWrapped(questionField, "rendered");
  const rest = Object.entries(fields).filter(
    ([key, value]) =>
      !asked ||
      (!isInternal(key) && !(isPost && isOfPost(key)) && ![questionField, answerField].some((each) => each === value)),
  );
  const short = rest.filter(([, value]) => !isNested(value) && textOf(value).length <= longCharacters);
  const cells = short.map(([key, value]) => (textOf(value) === "" ? "" : `${words(key)}: ${fieldLine(textOf(value))}`));
  list.add(
    asked || !alone ? { kind: "row", cells } : { kind: "row", cells: cells.filter((cell) => cell !== ""), alone: true },
  );
  for (const [key, value] of rest) {
    if (isNested(value)) write(list, value, key, below);
    else if (textOf(value).length > longCharacters) writeText(list, key, textOf(value));
  }
}

/** The text of a field: itself, or that of an object which has nothing else, as in `{"@type": "Answer", "text": …}`. */
function fieldText(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  const field = Array.isArray(value) && value.length === 1 ? (value[0] as unknown) : value;
  const wrapper = wrappers.find((name) => isWrapped(field, name));
  return wrapper === undefined ? undefined : ((field as Fields)[wrapper] as string);
}

const wrappers = ["rendered", "text", "html", "value"] as const;

/** Whether an object has a text of this name, and beside it only what is for programs. */
const isWrapped = (value: unknown, name: (typeof wrappers)[number]): value is Fields =>
  isFields(value) &&
  typeof value[name] === "string" &&
  Object.entries(value).every(([key, each]) => key === name || isInternal(key) || typeof each === "boolean");

/** Keeps the paragraphs and lists of a text. */
function writeText(list: BlockList, name: string | null, text: string): void {
  const blocks = fieldBlocks(text);
  if (text.length <= longCharacters && !text.includes("\n") && blocks.length < 2) {
    list.add({ kind: "paragraph", text: name === null ? fieldLine(text) : `${words(name)}: ${fieldLine(text)}` });
    return;
  }
  if (name !== null) list.add({ kind: "paragraph", text: `${words(name)}:` });
  for (const block of blocks) list.add(block);
}

function addHeading(list: BlockList, name: string | null, depth: number): void {
  if (name !== null) list.add({ kind: "heading", depth: Math.min(6, depth + 1), text: oneLine(words(name)) });
}

/** Makes "shipping cost" of "shippingCost" and "shipping_cost". */
function words(key: string): string {
  return key
    .slice(0, 300)
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1 $2")
    .replaceAll(/[_-]+/g, " ");
}

const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const isNested = (value: unknown): boolean => typeof value === "object" && value !== null;
/** The text of a scalar. */
function textOf(value: unknown): string {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean" ? String(value) : "";
}
