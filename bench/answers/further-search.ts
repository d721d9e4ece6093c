// Whether a language model that searches in other words finds the passage with the answer:
//   npm run bench:searches
// `search-queries.json` holds the queries that a large model wrote for the messages of the half for choosing which words
// alone do not clearly answer; it saw the headings of the nearest passages, the conversation and the message. Counted are
// messages with an answer in the documents: with a passage that names each of its facts among the first of the search
// by the customer's own words, and among those that the model reads.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import Type from "typebox";
import Value from "typebox/value";
import type { Question } from "#answering/contract.ts";
import type { Gold } from "#answering/evaluation/judge.ts";
import { judgeAnswer } from "#answering/evaluation/judge.ts";
import { answerFloor } from "#answering/rank/confidence.ts";
import { evidenceOf } from "#answering/rank/judge.ts";
import { judgeMessage } from "#answering/rank/judge-message.ts";
import { merged, searchFurther } from "#answering/rank/search-further.ts";
import { forOneMessage } from "#answering/retrieve/cached-search.ts";
import { defaultSettings } from "#domain/workspace/settings.ts";
import type { Candidate } from "#knowledge/index/contract.ts";
import type { OpenSet } from "./open-set.ts";
import { conversationsOf, messagesOf, openSet, setNames } from "./open-set.ts";

const queries = Value.Parse(
  Type.Record(Type.String(), Type.Array(Type.String())),
  JSON.parse(readFileSync(join(import.meta.dirname, "search-queries.json"), "utf8")),
);
const neverAborted = new AbortController().signal;
const counted = 10;

interface Asked {
  readonly id: string;
  readonly text: string;
  readonly history: Question["history"];
  readonly golds: readonly Gold[];
}

function askedOf(set: string): readonly Asked[] {
  const messages = messagesOf(set).map(({ id, text, gold, expected }) => ({
    id,
    text,
    history: [],
    golds: (expected ?? [gold]).filter((each) => each !== null),
  }));
  const turns = conversationsOf(set).flatMap(({ id, turns: all }) =>
    all.map(({ text, gold }, at) => ({
      id: `${id}.${at + 1}`,
      text,
      history: all.slice(0, at).flatMap((before): Question["history"] => [
        { role: "user", content: before.text },
        {
          role: "assistant",
          content: before.gold?.answers.map(([fact = ""]) => fact).join(" ") ?? "I don't know.",
        },
      ]),
      golds: gold === null ? [] : [gold],
    })),
  );
  return [...messages, ...turns].filter(({ id, golds }) => id in queries && golds.length > 0);
}

/** Whether each fact is in a passage of a right document. */
function holds(candidates: readonly Candidate[], golds: readonly Gold[], { names }: OpenSet): boolean {
  const isNamed = (documents: readonly string[], fact: readonly string[]): boolean =>
    candidates.some(({ text, documentId }) => {
      const given = { text, answered: true, confidence: "medium", cited: [names.get(documentId) ?? ""] } as const;
      return judgeAnswer(given, [{ documents, answers: [fact] }]) === "right";
    });
  return golds.every(({ documents, answers }) => answers.every((fact) => isNamed(documents, fact)));
}

interface Row {
  readonly group: string;
  readonly isRefused: boolean;
  readonly own: boolean;
  readonly read: boolean;
}

async function measure(set: string): Promise<readonly Row[]> {
  const opened = await openSet(set, {});
  try {
    const index = opened.index();
    const rows: Row[] = [];
    for (const { id, text, history, golds } of askedOf(set)) {
      const question = {
        workspaceId: opened.workspaceId,
        text,
        history,
        strictness: "strict",
        topK: 5,
        audience: [],
        settings: defaultSettings,
      } as const;
      const searches = forOneMessage(index);
      const judged = await judgeMessage(searches, question, neverAborted);
      const rankings = await searchFurther(searches, question, queries[id] ?? [], judged, neverAborted);
      const read = merged(rankings, counted);
      const first = judged.found.ranked.slice(0, counted).map(({ candidate }) => candidate);
      rows.push({
        group: `${set}, ${history.length === 0 ? "first messages" : "follow-ups"}`,
        isRefused: evidenceOf(judged) < answerFloor.strict,
        own: holds(first, golds, opened),
        read: holds(
          read.map(({ passage }) => passage.candidate),
          golds,
          opened,
        ),
      });
    }
    return rows;
  } finally {
    await opened.close();
  }
}

const rows: Row[] = [];
for (const set of setNames) rows.push(...(await measure(set)));
const groups = [
  ...Map.groupBy(rows, ({ group }) => group),
  ["all", rows] as const,
  ["all that words alone refuse", rows.filter(({ isRefused }) => isRefused)] as const,
];
console.table(
  groups.map(([messages, of]) => ({
    messages,
    count: of.length,
    "by own words": of.filter(({ own }) => own).length,
    "read by the model": of.filter(({ read }) => read).length,
  })),
);
