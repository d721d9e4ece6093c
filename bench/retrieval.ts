import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { Static } from "typebox";
import Type from "typebox";
import Value from "typebox/value";
import { createExtractiveAnswerer } from "#answering/answerer.ts";
import { retrieve } from "#answering/retrieve.ts";
import { newWorkspaceId } from "#domain/ids.ts";
import { defaultSettings } from "#domain/workspace.ts";
import type { Answer } from "#engine/ports.ts";
import { createDocuments } from "#knowledge/documents.ts";
import { noFetch } from "../test/support/knowledge.ts";
import { openEmbeddedIndex } from "#knowledge/embedded-index.ts";
import type { KnowledgeIndex } from "#knowledge/index-port.ts";
import { openStore } from "#store/open.ts";

// How well passages are found and answers chosen, on sets of questions with known right documents:
//   npm run bench:retrieval -- --data DIR
// Each *.json of DIR is {name, docs: [{id, title, text}], queries: [{id, text, rel: [docId], answers?, noAnswer?}]};
// off-domain.json, {questions: [text]}, has questions that none of the sets can answer.

const DataSet = Type.Object({
  name: Type.String(),
  docs: Type.Array(Type.Object({ id: Type.String(), title: Type.String(), text: Type.String() })),
  queries: Type.Array(
    Type.Object({
      id: Type.String(),
      text: Type.String(),
      rel: Type.Optional(Type.Array(Type.String())),
      answers: Type.Optional(Type.Array(Type.String())),
      noAnswer: Type.Optional(Type.Boolean()),
    }),
  ),
});
type DataSet = Static<typeof DataSet>;
const OffDomain = Type.Object({ questions: Type.Array(Type.String()) });

interface Asked {
  readonly confidence: number;
  /** Right documents' places among the found ones, from 0; documents are placed by their best passage. */
  readonly places: readonly number[];
  readonly ms: number;
}

const quiet = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const clock = { now: () => Date.now(), timer: () => () => undefined };

async function ask(index: KnowledgeIndex, workspaceId: string, text: string, rel: ReadonlySet<string>): Promise<Asked> {
  const start = performance.now();
  const { ranked, confidence } = await retrieve(index, {
    workspaceId,
    text,
    history: [],
    audience: [],
  });
  const ms = performance.now() - start;
  const documents = [...new Set(ranked.map((each) => each.candidate.documentId))];
  return { confidence, places: documents.flatMap((id, place) => (rel.has(id) ? [place] : [])), ms };
}

/** The probability that a question with an answer has the higher confidence than one without. */
function auroc(positive: readonly number[], negative: readonly number[]): number {
  const all = [
    ...positive.map((value) => ({ value, positive: true })),
    ...negative.map((value) => ({ value, positive: false })),
  ];
  all.sort((left, right) => left.value - right.value);
  let rankSum = 0;
  for (let start = 0; start < all.length;) {
    let end = start;
    while (end < all.length && all[end]?.value === all[start]?.value) end += 1;
    const middle = (start + end + 1) / 2;
    for (const each of all.slice(start, end)) if (each.positive) rankSum += middle;
    start = end;
  }
  return (rankSum - (positive.length * (positive.length + 1)) / 2) / (positive.length * negative.length);
}

const mean = (values: readonly number[]): number =>
  values.length === 0 ? Number.NaN : values.reduce((sum, value) => sum + value, 0) / values.length;
const share = (values: readonly boolean[]): number => mean(values.map(Number));
const shown = (value: number): string => (Number.isNaN(value) ? "-" : value.toFixed(3));

async function measure(
  set: DataSet,
  offDomain: readonly string[],
  folder: string,
  limit: number,
): Promise<Record<string, string>> {
  const store = await openStore(`sqlite:${join(folder, `${set.name}.sqlite`)}`);
  await store.migrate();
  const workspaceId = newWorkspaceId();
  await store.write((tx) =>
    tx
      .insertInto("workspaces")
      .values({
        id: workspaceId,
        name: set.name,
        plan: "business",
        identity_secret: "",
        settings: "{}",
        knowledge_version: 0,
        created_at: 0,
        deleted_at: null,
      })
      .execute(),
  );
  const index = openEmbeddedIndex({ store, path: join(folder, `${set.name}.index`), log: quiet });
  const documents = createDocuments({ store, clock, log: quiet, fetch: noFetch });
  const ids = new Map<string, string>();
  const built = performance.now();
  for (const [number, doc] of set.docs.entries()) {
    const bytes = Buffer.from(`---\ntitle: ${JSON.stringify(doc.title)}\n---\n${doc.text}`);
    const { id } = await documents.add({ workspaceId, fileName: `${number}.md`, bytes });
    await documents.process(id);
    ids.set(doc.id, id);
  }
  const chunks = (await index.search({ workspaceId, terms: [], audience: [], limit: 1 })).chunkCount;
  const builtS = (performance.now() - built) / 1_000;

  const step = Math.max(1, Math.ceil(set.queries.length / limit));
  const queries = set.queries.filter((_, number) => number % step === 0);
  const rightOf = (query: DataSet["queries"][number]): Set<string> =>
    new Set((query.rel ?? []).flatMap((id) => ids.get(id) ?? []));
  const answerable = queries.filter((query) => query.noAnswer !== true && rightOf(query).size > 0);
  const asked: Asked[] = [];
  for (const query of answerable) asked.push(await ask(index, workspaceId, query.text, rightOf(query)));
  const off: Asked[] = [];
  for (const text of offDomain) off.push(await ask(index, workspaceId, text, new Set()));
  const near: Asked[] = [];
  for (const query of queries)
    if (query.noAnswer === true) near.push(await ask(index, workspaceId, query.text, new Set()));

  const answerer = createExtractiveAnswerer({ index });
  const answerTo = (text: string): Promise<Answer> =>
    answerer.answer(
      { workspaceId, text, history: [], strictness: "strict", topK: 5, audience: [], settings: defaultSettings },
      new AbortController().signal,
    );
  const right: boolean[] = [];
  const given: boolean[] = [];
  const rightSource: boolean[] = [];
  const titles = new Map(set.docs.map((doc) => [doc.id, doc.title]));
  for (const query of answerable) {
    const answer = await answerTo(query.text);
    given.push(answer.answered);
    if (answer.answered) {
      const wanted = (query.rel ?? []).map((id) => titles.get(id) ?? "");
      rightSource.push(answer.sources.some((source) => wanted.some((title) => source.title.startsWith(title))));
    }
    if (answer.answered && query.answers !== undefined)
      right.push(query.answers.some((gold) => answer.text.toLowerCase().includes(gold.toLowerCase())));
  }
  const givenOff: boolean[] = [];
  for (const text of offDomain) givenOff.push((await answerTo(text)).answered);
  const givenNear: boolean[] = [];
  for (const query of queries.filter((each) => each.noAnswer === true))
    givenNear.push((await answerTo(query.text)).answered);
  await index.close();
  await store.close();

  const confidences = asked.map((each) => each.confidence);
  return {
    set: set.name,
    chunks: `${chunks}`,
    "build s": builtS.toFixed(1),
    "Hit@1": shown(share(asked.map((each) => each.places[0] === 0))),
    "R@5": shown(
      mean(
        asked.map(
          (each, number) =>
            each.places.filter((place) => place < 5).length /
            rightOf(answerable[number] ?? answerable[0] ?? neverAsked).size,
        ),
      ),
    ),
    "MRR@10": shown(mean(asked.map((each) => ((each.places[0] ?? 10) < 10 ? 1 / ((each.places[0] ?? 0) + 1) : 0)))),
    "AUROC off": shown(
      auroc(
        confidences,
        off.map((each) => each.confidence),
      ),
    ),
    "AUROC near": shown(
      auroc(
        confidences,
        near.map((each) => each.confidence),
      ),
    ),
    answered: shown(share(given)),
    "answered off": shown(share(givenOff)),
    "answered near": shown(share(givenNear)),
    "right source": `${shown(share(rightSource))} of ${rightSource.length}`,
    "gold in answer": right.length === 0 ? "-" : `${shown(share(right))} of ${right.length}`,
    "ms/question": shown(mean(asked.map((each) => each.ms))),
  };
}

const neverAsked = { id: "", text: "" };

const { values } = parseArgs({
  options: { data: { type: "string" }, limit: { type: "string", default: "2500" } },
});
if (values.data === undefined) {
  console.error("usage: npm run bench:retrieval -- --data DIR [--limit QUESTIONS]");
  process.exit(2);
}
const data = values.data;
const read = (name: string): unknown => JSON.parse(readFileSync(join(data, name), "utf8"));
const names = readdirSync(data).filter((name) => name.endsWith(".json"));
const offDomain = names.includes("off-domain.json") ? Value.Parse(OffDomain, read("off-domain.json")).questions : [];
const folder = mkdtempSync(join(tmpdir(), "parley-bench-"));
try {
  const rows: Record<string, string>[] = [];
  for (const name of names.filter((each) => each !== "off-domain.json")) {
    const content = read(name);
    if (!Value.Check(DataSet, content)) {
      console.error(`${name}: not a set of questions, left out`);
      continue;
    }
    if (content.queries.length > 0) rows.push(await measure(content, offDomain, folder, Number(values.limit)));
  }
  console.table(rows);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
