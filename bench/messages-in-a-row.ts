import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import Type from "typebox";
import Value from "typebox/value";
import { pauseAfter } from "#answering/understand/unfinished.ts";
import { waitMaxMs } from "#conversations/inbound/unfinished-messages.ts";
import { markdownTable } from "#test/support/markdown-table.ts";

// How often a customer's short messages in a row get one answer, and how often a whole message waits, on made-up rows:
//   node bench/messages-in-a-row.ts [--misses]
// No sign of typing is counted: platforms that send it keep the bot waiting for longer.

const Rows = Type.Object({
  rows: Type.Array(
    Type.Object({
      language: Type.String(),
      messages: Type.Array(
        Type.Object({
          text: Type.String(),
          /** Milliseconds since the message before. */
          after: Type.Optional(Type.Number()),
        }),
      ),
    }),
  ),
  /** Whole questions of one message. */
  singles: Type.Array(Type.Object({ language: Type.String(), text: Type.String() })),
});

const { values } = parseArgs({ options: { misses: { type: "boolean", default: false } } });
const content: unknown = JSON.parse(readFileSync(new URL("answers/messages-in-a-row.json", import.meta.url), "utf8"));
const { rows, singles } = Value.Parse(Rows, content);

/** The messages after which an answer is written, as the queue schedules it. */
function answeredAfter(messages: (typeof rows)[number]["messages"]): readonly string[] {
  const answered: string[] = [];
  let now = 0;
  let unansweredSince: number | undefined;
  for (const [index, { text, after = 0 }] of messages.entries()) {
    now += after;
    const pause = pauseAfter(text, unansweredSince !== undefined);
    unansweredSince ??= now;
    const due = Math.min(now + pause, unansweredSince + waitMaxMs);
    const next = messages[index + 1];
    if (next !== undefined && due > now + (next.after ?? 0)) continue;
    answered.push(text);
    unansweredSince = undefined;
  }
  return answered;
}

const percent = (part: number, whole: number): string => (whole === 0 ? "-" : `${((part / whole) * 100).toFixed(0)} %`);
const judgedRows = rows.map(({ language, messages }) => ({ language, messages, answered: answeredAfter(messages) }));
const judgedSingles = singles.map(({ language, text }) => ({ language, text, pause: pauseAfter(text, false) }));

function line(name: string, isOf: (language: string) => boolean): readonly string[] {
  const own = judgedRows.filter(({ language }) => isOf(language));
  const alone = judgedSingles.filter(({ language }) => isOf(language));
  return [
    name,
    String(own.length),
    percent(own.filter(({ answered }) => answered.length === 1).length, own.length),
    String(alone.length),
    percent(alone.filter(({ pause }) => pause > 0).length, alone.length),
  ];
}

const languages = [...new Set(rows.map(({ language }) => language))];
console.log(
  markdownTable(
    ["language", "rows", "answered once", "single messages", "that wait"],
    [line("all", () => true), ...languages.map((language) => line(language, (each) => each === language))],
  ),
);
if (values.misses) {
  for (const { messages, answered } of judgedRows.filter((each) => each.answered.length !== 1)) {
    console.log(`\n${messages.map(({ text }) => text).join(" / ")}\n  answered after: ${answered.join(" | ")}`);
  }
  for (const { text, pause } of judgedSingles.filter((each) => each.pause > 0)) console.log(`\n${pause} ms: ${text}`);
}
