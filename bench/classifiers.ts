import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import Type from "typebox";
import Value from "typebox/value";
import { angerOf } from "#answering/classify/anger.ts";
import { humanRequestIn } from "#answering/classify/escalation.ts";
import { defaultSettings } from "#domain/workspace/settings.ts";
import { markdownTable } from "#test/support/markdown-table.ts";

// Precision and recall of the recognition of requests for a person and of anger, on made-up messages:
//   npm run bench:classifiers -- [--split tune|report] [--misses]
// Word lists are chosen on the half `tune` and reported on the half `report`.

const Sentences = Type.Object({
  sentences: Type.Array(
    Type.Object({
      language: Type.String(),
      text: Type.String(),
      wants: Type.Optional(Type.Boolean()),
      angry: Type.Optional(Type.Boolean()),
      /** Written after the word lists, and then read while they were extended: never in the report. */
      half: Type.Optional(Type.Literal("tune")),
    }),
  ),
});

interface Judged {
  readonly language: string;
  readonly text: string;
  readonly expected: boolean;
  readonly found: boolean;
}

const { values } = parseArgs({
  options: { split: { type: "string", default: "report" }, misses: { type: "boolean", default: false } },
});

function read(name: string) {
  const content: unknown = JSON.parse(readFileSync(new URL(`answers/${name}`, import.meta.url), "utf8"));
  const isTuned = (text: string): boolean => (createHash("sha256").update(text).digest()[0] ?? 0) < 128;
  return Value.Parse(Sentences, content).sentences.filter(
    ({ text, half }) => (half === "tune" || isTuned(text)) === (values.split === "tune"),
  );
}

const threshold = defaultSettings.angerToEscalate ?? 1;
const requests = read("person-requests.json").map(({ language, text, wants = false }): Judged => {
  const found = humanRequestIn(text, defaultSettings.escalationPhrases) !== undefined;
  return { language, text, expected: wants, found };
});
const messages = read("angry-messages.json").map(({ language, text, angry = false }): Judged => {
  return { language, text, expected: angry, found: angerOf(text) >= threshold };
});

const percent = (part: number, whole: number): string => (whole === 0 ? "-" : `${((part / whole) * 100).toFixed(0)} %`);

function row(name: string, judged: readonly Judged[]): readonly string[] {
  const right = judged.filter(({ expected, found }) => expected && found).length;
  const expected = judged.filter((each) => each.expected).length;
  const found = judged.filter((each) => each.found).length;
  return [name, String(judged.length), percent(right, expected), percent(right, found)];
}

for (const [name, judged] of [
  ["Requests for a person", requests],
  ["Anger", messages],
] as const) {
  const languages = [...Map.groupBy(judged, ({ language }) => language)];
  console.log(`\n## ${name}, half ${values.split}\n`);
  console.log(
    markdownTable(
      ["language", "messages", "recall", "precision"],
      [row("all", judged), ...languages.map(([language, own]) => row(language, own))],
    ),
  );
  if (!values.misses) continue;
  for (const { language, text, expected, found } of judged) {
    if (expected !== found) console.log(`${expected ? "missed" : "wrong "} ${language} ${text}`);
  }
}
