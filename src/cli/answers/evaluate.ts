import { readFile, stat } from "node:fs/promises";
import { requireWorkspace } from "#admin/api-keys.ts";
import type { Evaluated, Evaluation } from "#answering/evaluation/evaluate.ts";
import { evaluate as evaluateAll, summaryOf, worstOf } from "#answering/evaluation/evaluate.ts";
import { questionFileBytesMax, readQuestionFile } from "#answering/evaluation/question-file.ts";
import { strictnesses } from "#domain/workspace/settings.ts";
import { settingsIn } from "#database/queries/workspaces.ts";
import { UsageError, readArguments } from "../terminal/arguments.ts";
import type { Command } from "../command.ts";
import { bar, bold, dim } from "../terminal/output.ts";
import { withServices } from "../with-services.ts";

const worstMax = 10;

/** Asks the questions of a file and compares the answers with those that it expects. Stores nothing. */
export const evaluate: Command = async ({ argv, output, config }) => {
  const given = readArguments(argv, ["workspace", "mode"]);
  const workspaceId = given.required("workspace");
  const [file] = given.words;
  if (file === undefined || given.words.length > 1) throw new UsageError("use: parley evaluate --workspace W FILE.csv");
  const mode = given.optional("mode");
  const strictness = strictnesses.find((each) => each === mode);
  if (mode !== undefined && strictness === undefined) {
    throw new UsageError(`--mode takes ${strictnesses.join(" or ")}, not "${mode}"`);
  }
  const questions = readQuestionFile(await textOf(file));
  return withServices(config, async ({ store, answerer }) => {
    const { id } = await requireWorkspace(store, workspaceId);
    const settings = await settingsIn(store.read, id);
    const of = { workspaceId: id, settings, strictness: strictness ?? settings.strictness };
    const results: Evaluated[] = [];
    for await (const result of evaluateAll(answerer, questions, of, new AbortController().signal)) {
      results.push(result);
      output.status(`${bar(results.length, questions.length)} ${results.length} of ${questions.length}`);
    }
    output.status("");
    const summary = summaryOf(results);
    output.result({ mode: of.strictness, ...summary, results }, [
      ...table(summary, `${questions.length} questions, ${of.strictness}`),
      ...worst(worstOf(results, worstMax)),
    ]);
    return 0;
  });
};

async function textOf(file: string): Promise<string> {
  const found = await stat(file).catch(() => undefined);
  if (found?.isFile() !== true) throw new UsageError(`${file}: there is no such file`);
  const { size } = found;
  if (size > questionFileBytesMax) {
    throw new UsageError(`${file} has ${size} bytes; ${questionFileBytesMax} are allowed`);
  }
  return readFile(file, "utf8");
}

function table({ verdicts, right_by_confidence: bands }: Evaluation, title: string): readonly string[] {
  const percent = (share: number): string => String(Math.round(share * 100));
  const line = (name: string, count: string, { share, low, high }: Evaluation["verdicts"]["right"]): string =>
    `  ${name.padEnd(24)}${count.padStart(6)}${percent(share).padStart(6)} %  (${percent(low)} to ${percent(high)})`;
  return [
    bold(title),
    ...Object.entries(verdicts).map(([name, share]) => line(name, String(share.count), share)),
    "",
    bold("Right, by confidence"),
    ...Object.entries(bands)
      .filter(([, { answers }]) => answers > 0)
      .map(([name, share]) => line(name, `${share.count}/${share.answers}`, share)),
  ];
}

function worst(results: readonly Evaluated[]): readonly string[] {
  if (results.length === 0) return [];
  return [
    "",
    bold(results.length === 1 ? "The worst" : `The ${results.length} worst`),
    ...results.flatMap(({ line, verdict, confidence, text, answer, expected, cited }) => {
      const facts = expected?.answers.map((fact) => fact.join(" or ")) ?? [];
      const wanted = expected === null ? "no answer" : [...facts, ...expected.documents].join("; ");
      return [
        `  line ${line}: ${verdict}, ${confidence}`,
        `    asked     ${oneLine(text)}`,
        `    expected  ${oneLine(wanted)}`,
        `    answered  ${oneLine(answer)}`,
        ...(cited[0] === undefined ? [] : [dim(`    from      ${oneLine(cited[0])}`)]),
      ];
    }),
  ];
}

const shownMax = 160;

function oneLine(text: string): string {
  const line = text.replaceAll(/\s+/gu, " ").trim();
  return line.length > shownMax ? `${line.slice(0, shownMax - 1)}…` : line;
}
