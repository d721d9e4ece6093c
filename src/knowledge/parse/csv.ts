import { CsvError, parse } from "csv-parse/sync";
import { createBlockList, namedCells, oneLine, UnreadableDocument } from "#knowledge/documents/blocks.ts";
import type { ParsedDocument } from "#knowledge/documents/blocks.ts";
import { fieldBlocks, fieldLine, isInternal } from "./field-text.ts";
import type { QuestionFields } from "./question-fields.ts";
import { questionFields } from "./question-fields.ts";

const columnsMax = 200;
const titleLinesMax = 5;
const linesRead = 30;
const delimiters = [",", ";", "\t", "|"];

/** Each row becomes a passage of named values, or a section where the columns hold questions and answers. */
export function parseCsv(source: string): ParsedDocument {
  const { titles, records } = withoutTitles(recordsOf(source));
  const [head = [], ...rest] = records;
  const list = createBlockList();
  for (const text of titles) list.add({ kind: "paragraph", text: oneLine(text) });
  const named = isHeader(head) && !isData(head, rest);
  const header = named ? head : [];
  const questions = questionFields(header);
  const isRepeated = (record: readonly string[]): boolean => named && record.join("\n") === head.join("\n");
  for (const record of named ? rest : [head, ...rest]) {
    if (isRepeated(record)) continue;
    const cells = record.slice(0, columnsMax);
    if (questions === undefined) {
      list.add({ kind: "row", cells: namedCells(header, cells.map(fieldLine)), alone: true });
    } else addQuestion(list, header, cells, questions);
  }
  return { title: null, blocks: list.blocks };
}

function addQuestion(
  list: ReturnType<typeof createBlockList>,
  header: readonly string[],
  cells: readonly string[],
  { question, answer }: QuestionFields,
): void {
  list.add({ kind: "heading", depth: 2, text: oneLine(cells[question] ?? "") });
  // An answer can have several paragraphs, or be a list.
  for (const block of fieldBlocks(cells[answer] ?? "")) list.add(block);
  const others = namedCells(header, cells.map(fieldLine)).filter(
    (_, column) => column !== question && column !== answer && !isInternal(header[column] ?? ""),
  );
  list.add({ kind: "row", cells: others });
}

/** Lines of a single cell above a table of several columns are its title, and so are lines above an empty one. */
function withoutTitles(records: readonly (readonly string[])[]): {
  readonly titles: readonly string[];
  readonly records: readonly (readonly string[])[];
} {
  const filledIn = (record: readonly string[]): number => record.filter((cell) => cell.trim() !== "").length;
  const empty = records.findIndex((record) => filledIn(record) === 0);
  const isParted = !records.slice(0, empty + 1).some((record) => filledIn(record) > 1 && isHeader(record));
  const start = records.findIndex((record, index) => filledIn(record) > 1 && (!isParted || index > empty));
  if (start <= 0 || start > titleLinesMax) return { titles: [], records };
  const titles = records.slice(0, start).map((record) => record.filter((cell) => cell.trim() !== "").join(" "));
  return { titles: titles.filter((text) => text !== ""), records: records.slice(start) };
}

function recordsOf(source: string): string[][] {
  // Excel's own line, which names the separator.
  const [first, separator] = /^\ufeff?"?sep=(.)"?\r?\n/i.exec(source) ?? [""];
  const table = source.slice(first.length);
  try {
    return parse(table, {
      bom: true,
      delimiter: separator ?? delimiterOf(table),
      relax_column_count: true,
      relax_quotes: true,
      skip_empty_lines: true,
    });
  } catch (cause) {
    if (!(cause instanceof CsvError)) throw cause;
    const line = typeof cause["lines"] === "number" ? ` near line ${cause["lines"]}` : "";
    const why = cause.code === "CSV_QUOTE_NOT_CLOSED" ? "a quotation mark is not closed" : "its quoting is wrong";
    throw new UnreadableDocument(`The CSV file is broken${line}: ${why}. Correct it and add it again.`, { cause });
  }
}

/** The separator that divides most of the first lines into the same number of cells, outside of quotes. */
function delimiterOf(source: string): string {
  const lines = source
    .slice(0, 100_000)
    .replaceAll(/"[^"]*"/g, "")
    .split(/\r?\n|\r/, linesRead)
    .filter((line) => line.trim() !== "");
  const scores = delimiters.map((delimiter) => {
    const cells = lines.map((line) => line.split(delimiter).length).filter((count) => count > 1);
    const most = Math.max(
      0,
      ...Map.groupBy(cells, (count) => count)
        .values()
        .map((group) => group.length),
    );
    return most * 1_000 + Math.max(0, ...cells);
  });
  return delimiters[scores.indexOf(Math.max(...scores))] ?? ",";
}

/** Whether a cell with a number, such as "4 EUR", has the form of all cells below it: then these are no names. */
function isData(head: readonly string[], rest: readonly (readonly string[])[]): boolean {
  const formOf = (cell = ""): string =>
    cell
      .trim()
      .replaceAll(/\p{L}+/gu, "a")
      .replaceAll(/\d[\d.,]*/g, "0");
  return head.some(
    (cell, at) => /\d/.test(cell) && rest.length > 1 && rest.every((row) => formOf(row[at]) === formOf(cell)),
  );
}

/** Column names are short and distinct. */
export function isHeader(cells: readonly string[]): boolean {
  const filled = cells.map((cell) => cell.trim()).filter((cell) => cell !== "");
  return (
    filled.length > 0 &&
    new Set(filled).size === filled.length &&
    filled.every((cell) => cell.length <= 80 && !/^[\d.,\s€$£%+-]+$/.test(cell))
  );
}
