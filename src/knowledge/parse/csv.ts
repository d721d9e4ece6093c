import { CsvError, parse } from "csv-parse/sync";
import { createBlockList, namedCells, oneLine, UnreadableDocument } from "#knowledge/documents/blocks.ts";
import type { ParsedDocument } from "#knowledge/documents/blocks.ts";
import { parseText } from "./text.ts";
import type { QuestionFields } from "./question-fields.ts";
import { questionFields } from "./question-fields.ts";

const columnsMax = 200;
const delimiters = [",", ";", "\t", "|"];

/** Each row becomes a passage of named values, or a section where the columns hold questions and answers. */
export function parseCsv(source: string): ParsedDocument {
  const [head = [], ...rest] = recordsOf(source);
  const list = createBlockList();
  const named = isHeader(head);
  const header = named ? head : [];
  const questions = questionFields(header);
  for (const record of named ? rest : [head, ...rest]) {
    const cells = record.slice(0, columnsMax);
    if (questions === undefined) {
      list.add({ kind: "row", cells: namedCells(header, cells.map(oneLine)), alone: true });
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
  for (const block of parseText(cells[answer] ?? "").blocks) {
    list.add(block.kind === "heading" ? { kind: "paragraph", text: block.text } : block);
  }
  const others = namedCells(header, cells.map(oneLine)).filter((_, column) => column !== question && column !== answer);
  list.add({ kind: "row", cells: others });
}

function recordsOf(source: string): string[][] {
  try {
    return parse(source, {
      bom: true,
      delimiter: delimiterOf(source),
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

/** The most frequent separator of the first line, outside of quotes. */
function delimiterOf(source: string): string {
  const line =
    source
      .slice(0, 100_000)
      .replaceAll(/"[^"]*"/g, "")
      .split(/[\r\n]/, 1)[0] ?? "";
  const counts = delimiters.map((delimiter) => line.split(delimiter).length);
  return delimiters[counts.indexOf(Math.max(...counts))] ?? ",";
}

/** Column names are short and distinct. */
function isHeader(cells: readonly string[]): boolean {
  const filled = cells.map((cell) => cell.trim()).filter((cell) => cell !== "");
  return (
    filled.length > 0 &&
    new Set(filled).size === filled.length &&
    filled.every((cell) => cell.length <= 80 && !/^[\d.,\s€$£%+-]+$/.test(cell))
  );
}
