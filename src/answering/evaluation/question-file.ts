import { CsvError, parse } from "csv-parse/sync";
import type { Gold } from "./judge.ts";

/** A question with what a right answer has to say. */
export interface EvaluationQuestion {
  /** The line of the file. */
  readonly line: number;
  readonly text: string;
  /** Null: the bot has to say that it does not know. Names of documents are in lower case. */
  readonly expected: Gold | null;
}

/** The file cannot be used. The message names the line and the fix. */
class QuestionFileError extends Error {
  override readonly name = "QuestionFileError";
}

export const questionFileBytesMax = 5_000_000;
const questionsMax = 5_000;
const questionLengthMax = 1_000;
const columns = ["question", "answer", "document"] as const;

/**
 * Reads CSV with the columns `question`, `answer` and `document`; other columns are ignored. Each line of a cell of
 * `answer` is a fact; `|` separates the spellings of a fact, and the names of documents that may be cited. Without answer
 * and document the question has to be refused.
 *
 * @throws QuestionFileError
 */
export function readQuestionFile(text: string): readonly EvaluationQuestion[] {
  const { header, rows } = readRows(text);
  const at = (name: (typeof columns)[number]): number => header.indexOf(name);
  if (at("question") === -1 || (at("answer") === -1 && at("document") === -1)) {
    throw new QuestionFileError(`The first line has to name the columns: ${columns.join(",")}`);
  }
  const questions = rows.map(({ line, cells }) => {
    const cell = (name: (typeof columns)[number]): string => cells[at(name)]?.trim() ?? "";
    const question = cell("question");
    const length = [...question].length;
    if (length === 0) throw new QuestionFileError(`Line ${line} has no question.`);
    if (length > questionLengthMax) {
      throw new QuestionFileError(
        `The question of line ${line} has ${length} characters; ${questionLengthMax} are allowed.`,
      );
    }
    return { line, text: question, expected: expectedBy(cell("answer"), cell("document")) };
  });
  if (questions.length === 0) throw new QuestionFileError("The file has no questions below its first line.");
  if (questions.length > questionsMax) {
    throw new QuestionFileError(`The file has ${questions.length} questions; ${questionsMax} are allowed.`);
  }
  return questions;
}

function expectedBy(answer: string, document: string): Gold | null {
  if (answer === "" && document === "") return null;
  return {
    answers: answer
      .split("\n")
      .map(alternatives)
      .filter((fact) => fact.length > 0),
    documents: alternatives(document.toLowerCase()),
  };
}

const alternatives = (cell: string): readonly string[] =>
  cell
    .split("|")
    .map((each) => each.trim())
    .filter((each) => each !== "");

/** Spreadsheets of some countries write semicolons. The first line names columns and has no other punctuation. */
function delimiterOf(text: string): string {
  const [first = ""] = text.split("\n", 1);
  return [",", ";", "\t"].find((each) => first.includes(each)) ?? ",";
}

function readRows(text: string) {
  try {
    const rows = parse(text, {
      bom: true,
      delimiter: delimiterOf(text),
      info: true,
      relax_column_count: true,
      skip_empty_lines: true,
    }) as unknown as readonly { readonly record: readonly string[]; readonly info: { readonly lines: number } }[];
    const [first, ...others] = rows;
    const header = first?.record.map((name) => name.trim().toLowerCase()) ?? [];
    return { header, rows: others.map(({ record, info }) => ({ line: info.lines, cells: record })) };
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    throw new QuestionFileError(`The file is not CSV: ${error.message}`, { cause: error });
  }
}
