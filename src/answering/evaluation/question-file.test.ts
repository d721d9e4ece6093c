import { expect, it } from "vitest";
import { readQuestionFile } from "./question-file.ts";

it("reads facts, their spellings and documents by line", () => {
  const file = [
    "\uFEFFTopic,Question,Answer,Document",
    'returns,"How long, and to whom?","30 days|thirty days\nthe shop",Returns | Refunds',
    "",
    "weather,Does it rain?,,",
  ];
  expect(readQuestionFile(file.join("\n"))).toEqual([
    {
      line: 3,
      text: "How long, and to whom?",
      expected: { answers: [["30 days", "thirty days"], ["the shop"]], documents: ["returns", "refunds"] },
    },
    { line: 5, text: "Does it rain?", expected: null },
  ]);
});

it.each([
  ["question;answer\nOpen today; or not;yes", 2, "Open today"],
  ["question\tdocument\nOpen today, or not\tHours", 2, "Open today, or not"],
])("reads what spreadsheets write: %j", (file, line, text) => {
  expect(readQuestionFile(file)[0]).toMatchObject({ line, text });
});

it.each([
  ["", "The first line has to name the columns: question,answer,document"],
  ["frage,antwort\na,b", "The first line has to name the columns: question,answer,document"],
  ["question,answer", "The file has no questions below its first line."],
  ["question,answer\n ,30 days", "Line 2 has no question."],
  [`question,answer\n${"a".repeat(1_001)},b`, "The question of line 2 has 1001 characters; 1000 are allowed."],
  [`question,answer\n${"a,b\n".repeat(5_001)}`, "The file has 5001 questions; 5000 are allowed."],
  ['question,answer\n"a,b', /^The file is not CSV: /],
])("refuses %#", (file, message) => {
  expect(() => readQuestionFile(file)).toThrow(message);
});
