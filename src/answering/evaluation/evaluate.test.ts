import { expect, it } from "vitest";
import type { Answer } from "#answering/contract.ts";
import { defaultSettings } from "#domain/workspace/settings.ts";
import type { Evaluated } from "./evaluate.ts";
import { evaluate, summaryOf, worstOf } from "./evaluate.ts";
import { readQuestionFile } from "./question-file.ts";

const base = { skillsFired: [], tokensUsed: 0, answered: true, confidence: "high" } as const;
const returns = [{ title: "Returns › How long", url: "https://shop.example/returns", chunk: "30 days.", score: 1 }];
const answers: Readonly<Record<string, Answer>> = {
  right: { ...base, text: "You have **30 days**.", sources: returns },
  address: { ...base, text: "You have 30 days.", sources: returns },
  partly: { ...base, text: "You have 30 days.", sources: returns, confidence: "medium" },
  wrong: { ...base, text: "You have 130 days.", sources: returns },
  uncertain: { ...base, text: "Ask Kim.", sources: returns, confidence: "low" },
  elsewhere: { ...base, text: "You have 30 days.", sources: [] },
  unknown: { ...base, text: "I don't know.", sources: returns, answered: false, confidence: "low" },
  offTopic: { ...base, text: "I don't know.", sources: [], answered: false, confidence: "low" },
};
const file = `question,answer,document
partly,"30 days
free",Returns
unknown,30 days,
uncertain,30 days,Returns
right,30 days|thirty days,returns
address,,https://shop.example/returns
wrong,30 days,Returns
elsewhere,30 days,Returns
offTopic,,`;

async function results(): Promise<readonly Evaluated[]> {
  const answerer = { answer: async ({ text }: { readonly text: string }) => answers[text] as Answer };
  const of = { workspaceId: "wt_a", settings: defaultSettings, strictness: "strict" } as const;
  const all: Evaluated[] = [];
  for await (const each of evaluate(answerer, readQuestionFile(file), of, new AbortController().signal)) all.push(each);
  return all;
}

it("judges by facts and by the cited document", async () => {
  const verdicts = (await results()).map(({ text, verdict }) => [text, verdict]);
  expect(Object.fromEntries(verdicts)).toEqual({
    right: "right",
    address: "right",
    partly: "partly",
    wrong: "wrong",
    uncertain: "wrong",
    elsewhere: "wrong",
    unknown: "refused wrongly",
    offTopic: "refused rightly",
  });
});

it("sums up with intervals, and by confidence", async () => {
  const summary = summaryOf(await results());
  expect(summary.questions).toBe(8);
  expect(summary.verdicts.wrong).toEqual({
    count: 3,
    share: 0.375,
    low: expect.closeTo(0.137, 3),
    high: expect.closeTo(0.694, 3),
  });
  expect(summary.right_by_confidence.high).toMatchObject({ answers: 4, count: 2, share: 0.5 });
  expect(summary.right_by_confidence.low).toMatchObject({ answers: 1, count: 0 });
});

it("names confident wrong answers first", async () => {
  const worst = worstOf(await results(), 4).map(({ text }) => text);
  expect(worst).toEqual(["wrong", "elsewhere", "uncertain", "unknown"]);
});
