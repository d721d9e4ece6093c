import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { judgeMessage } from "#answering/rank/judge-message.ts";
import { defaultSettings } from "#domain/workspace/settings.ts";
import { answerFloor, highFrom } from "#answering/rank/confidence.ts";
import { createDocuments } from "#knowledge/documents/documents.ts";
import { openEmbeddedIndex } from "#knowledge/index/embedded-index.ts";
import type { KnowledgeIndex } from "#knowledge/index/contract.ts";
import { openStore } from "#database/open.ts";
import { newWorkspace, noFetch, silentLog } from "#test/support/knowledge/knowledge.ts";
import { openTypesenseIndex } from "#test/support/typesense/typesense-index.ts";
import { startTypesense } from "#test/support/typesense/typesense-server.ts";
import { quantile } from "#test/support/quantile.ts";
import type { Half, QuestionSet, SetQuestion } from "./question-sets.ts";
import { isHeldOut, readQuestionSets, withTypo } from "./question-sets.ts";
import type { QuestionResult } from "./retrieval-measures.ts";
import { answeredAt5Percent, auroc, hitAt1, mrrAt10, ndcgAt10, recallAt5, share } from "./retrieval-measures.ts";

// The quality of retrieval, of answers and of refusals, on sets of questions with known right documents:
//   npm run bench:retrieval -- --data DIR [--split tune|report] [--set NAME] [--json FILE] [--no-repair] [--typesense]
// Each *.json of DIR is {name, docs: [{id, title, text}], queries: [{id, text, rel: [docId], answers?, noAnswer?}]}; a
// file {questions: [text]} has questions that none of the sets can answer. Each set is asked with and without a typo in
// each question. To measure refusals, the set is asked again with two documents in five left out. --typesense takes the
// candidates from the server that TYPESENSE_URL names, or from an imitation.

const clock = { now: () => Date.now(), timer: () => () => undefined };
const neverAborted = new AbortController().signal;
const settings = { strictness: "strict", settings: defaultSettings } as const;
const progressMs = 5_000;

interface Base {
  readonly index: KnowledgeIndex;
  readonly workspaceId: string;
  /** The program's document ids by the set's own. */
  readonly ids: ReadonlyMap<string, string>;
  readonly chunks: number;
  readonly builtS: number;
  close(): Promise<void>;
}

let lastShown = Date.now();
function progress(text: string): void {
  if (Date.now() - lastShown < progressMs) return;
  lastShown = Date.now();
  console.error(text);
}

interface Way {
  readonly repair: boolean;
  readonly typesense: boolean;
}

async function build(set: QuestionSet, name: string, folder: string, { repair, typesense }: Way): Promise<Base> {
  const store = await openStore(`sqlite:${join(folder, `${name}.sqlite`)}`);
  await store.migrate();
  const workspaceId = await newWorkspace(store);
  const outside = typesense ? await openTypesenseIndex(store, await startTypesense()) : undefined;
  const index = outside ?? openEmbeddedIndex({ store, path: join(folder, `${name}.index`), log: silentLog });
  const documents = createDocuments({ store, clock, log: silentLog, fetch: noFetch });
  const ids = new Map<string, string>();
  const start = performance.now();
  for (const [number, doc] of set.docs.entries()) {
    const bytes = Buffer.from(`---\ntitle: ${JSON.stringify(doc.title)}\n---\n${doc.text}`);
    const { id } = await documents.add({ workspaceId, fileName: `${number}.md`, bytes });
    await documents.process(id);
    ids.set(doc.id, id);
    progress(`${name}: ${number} of ${set.docs.length} documents`);
  }
  await index.prepare(workspaceId, new AbortController().signal);
  await outside?.settle(workspaceId);
  const { chunkCount } = await index.search({ workspaceId, terms: [], audience: [], limit: 1 });
  const asIs: KnowledgeIndex = repair
    ? index
    : {
        ...index,
        search: ({ misspelt: _, ...request }) => index.search(request),
      };
  return {
    index: asIs,
    workspaceId,
    ids,
    chunks: chunkCount,
    builtS: (performance.now() - start) / 1_000,
    async close() {
      await index.close();
      await store.close();
    },
  };
}

const rightOf = (base: Base, { rel = [] }: SetQuestion): Set<string> =>
  new Set(rel.flatMap((id) => base.ids.get(id) ?? []));

async function ask(
  base: Base,
  text: string,
  right: ReadonlySet<string>,
  gold?: readonly string[],
): Promise<QuestionResult> {
  const lookup = { workspaceId: base.workspaceId, text, history: [], audience: [], topK: 5, ...settings };
  const start = performance.now();
  const { found, extract } = await judgeMessage(base.index, lookup, neverAborted);
  const ms = performance.now() - start;
  const documents = [...new Set(found.ranked.map((each) => each.candidate.documentId))];
  const said = extract?.text.toLowerCase() ?? "";
  return {
    evidence: extract?.evidence ?? 0,
    places: documents.flatMap((id, place) => (right.has(id) ? [place] : [])),
    right: right.size,
    rightSentence: gold === undefined ? null : gold.some((each) => said.includes(each.toLowerCase())),
    rightSource: extract?.used.some(({ candidate }) => right.has(candidate.documentId)) ?? false,
    ms,
  };
}

/** The results of one set, asked with or without typos. */
interface Answers {
  readonly answerable: QuestionResult[];
  /** Questions marked by the set as unanswerable, although its documents come close. */
  readonly near: QuestionResult[];
  readonly offDomain: QuestionResult[];
  /** With documents left out: questions that still have an answer (`kept`), and those that do not. */
  readonly kept: QuestionResult[];
  readonly heldOut: QuestionResult[];
}

const none = (): Answers => ({ answerable: [], near: [], offDomain: [], kept: [], heldOut: [] });

async function askAll(
  set: QuestionSet,
  whole: Base,
  part: Base,
  offDomain: readonly string[],
  write: (text: string) => string,
): Promise<Answers> {
  const answers = none();
  for (const [number, query] of set.queries.entries()) {
    progress(`${set.name}: ${number} of ${set.queries.length} questions`);
    const text = write(query.text);
    const right = rightOf(whole, query);
    if (query.noAnswer === true) answers.near.push(await ask(whole, text, right));
    if (query.noAnswer === true || right.size === 0) continue;
    answers.answerable.push(await ask(whole, text, right, query.answers));
    const left = rightOf(part, query);
    (left.size > 0 ? answers.kept : answers.heldOut).push(await ask(part, text, left));
  }
  for (const text of offDomain) answers.offDomain.push(await ask(whole, write(text), new Set()));
  return answers;
}

type Row = Record<string, string | number>;

function rowOf(name: string, answers: Answers): Row {
  const evidence = (asked: readonly QuestionResult[]): number[] => asked.map((each) => each.evidence);
  const { answerable, near, offDomain, kept, heldOut } = answers;
  const sentences = answerable.flatMap(({ rightSentence }) => (rightSentence === null ? [] : [rightSentence]));
  const times = [answerable, near, offDomain].flat().map(({ ms }) => ms);
  const strict = (asked: readonly QuestionResult[]): number =>
    share(asked.map((each) => each.evidence >= answerFloor.strict));
  const helpful = (asked: readonly QuestionResult[]): number =>
    share(asked.map((each) => each.evidence >= answerFloor.helpful));
  return {
    set: name,
    questions: answerable.length,
    "Hit@1": hitAt1(answerable),
    "R@5": recallAt5(answerable),
    "MRR@10": mrrAt10(answerable),
    "nDCG@10": ndcgAt10(answerable),
    "right sentence": share(sentences),
    "right source": share(answerable.map((each) => each.rightSource)),
    "AUROC held out": auroc(evidence(kept), evidence(heldOut)),
    "AUROC off": auroc(evidence(answerable), evidence(offDomain)),
    "AUROC near": auroc(evidence(answerable), evidence(near)),
    "answered at 5 % held out": answeredAt5Percent(evidence(kept), evidence(heldOut)),
    "answered at 5 % off": answeredAt5Percent(evidence(answerable), evidence(offDomain)),
    strict: strict(answerable),
    "strict held out": strict(heldOut),
    "strict off": strict(offDomain),
    helpful: helpful(answerable),
    "helpful held out": helpful(heldOut),
    "helpful off": helpful(offDomain),
    "ms p50": quantile(times, 0.5),
    "ms p99": quantile(times, 0.99),
  };
}

const confidences = [
  { name: "high", from: highFrom, below: Number.POSITIVE_INFINITY },
  { name: "medium", from: answerFloor.strict, below: highFrom },
  { name: "low", from: answerFloor.helpful, below: answerFloor.strict },
] as const;

/** The answer comes from a right document and, where the set has gold answers, contains one of them verbatim. */
const isRight = ({ rightSentence, rightSource }: QuestionResult): boolean => rightSource && rightSentence !== false;

/**
 * Counts answers by confidence, and the right ones among them. `strict` gives no answer of low confidence. Any answer
 * to an unanswerable question is wrong.
 */
function rightByConfidence(name: string, asked: readonly QuestionResult[]): Row {
  const cells = confidences.map(({ name: confidence, from, below }): Row => {
    const given = asked.filter(({ evidence }) => evidence >= from && evidence < below);
    const right = given.filter(isRight);
    return {
      [`${confidence} given`]: given.length,
      [`${confidence} right`]: right.length,
      [`${confidence} share`]: right.length / given.length,
    };
  });
  return Object.assign({ set: name, questions: asked.length }, ...cells) as Row;
}

function confidenceRows(name: string, { answerable, heldOut, offDomain, near }: Answers): Row[] {
  const groups = [
    ["answer there", answerable],
    ["document left out", heldOut],
    ["something else", offDomain],
    ["all these", [answerable, heldOut, offDomain].flat()],
    ["near miss", near],
    ["all", [answerable, heldOut, offDomain, near].flat()],
  ] as const;
  return groups.flatMap(([group, asked]) =>
    asked.length === 0 ? [] : [rightByConfidence(`${name}, ${group}`, asked)],
  );
}

function printTable(rows: readonly Row[], keep: (column: string) => boolean = () => true): void {
  console.table(
    Object.fromEntries(
      rows.map(({ set, ...cells }) => [
        set,
        Object.fromEntries(
          Object.entries(cells)
            .filter(([column]) => keep(column))
            .map(([column, value]) => [column, shown(value)]),
        ),
      ]),
    ),
  );
}

/** Split into two tables, since one would be too wide. */
function print(rows: readonly Row[]): void {
  const ranking = [
    "questions",
    "Hit@1",
    "R@5",
    "MRR@10",
    "nDCG@10",
    "right sentence",
    "right source",
    "ms p50",
    "ms p99",
  ];
  printTable(rows, (column) => ranking.includes(column));
  printTable(rows, (column) => !ranking.includes(column));
}

function shown(value: string | number): string | number {
  if (typeof value === "string" || Number.isInteger(value)) return value;
  return Number.isNaN(value) ? "-" : Math.round(value * 1_000) / 1_000;
}

const { values } = parseArgs({
  options: {
    data: { type: "string" },
    split: { type: "string", default: "all" },
    set: { type: "string", multiple: true },
    json: { type: "string" },
    "no-repair": { type: "boolean", default: false },
    typesense: { type: "boolean", default: false },
  },
});
const halves: readonly Half[] = ["tune", "report", "all"];
const half = halves.find((each) => each === values.split);
if (values.data === undefined || half === undefined) {
  console.error(
    "usage: npm run bench:retrieval -- --data DIR [--split tune|report] [--set NAME]... [--json FILE] [--no-repair] [--typesense]",
  );
  process.exit(2);
}
const { sets, offDomain, skipped } = readQuestionSets(values.data, half);
for (const name of skipped) console.error(`${name}: unknown format, skipped`);
const way: Way = { repair: !values["no-repair"], typesense: values.typesense };
const folder = mkdtempSync(join(tmpdir(), "parley-bench-"));
try {
  const rows: Row[] = [];
  const byConfidence: Row[] = [];
  const all = { "as written": none(), "with typos": none() };
  for (const set of sets.filter(({ name }) => values.set === undefined || values.set.includes(name))) {
    const whole = await build(set, set.name, folder, way);
    const left = { ...set, docs: set.docs.filter(({ id }) => !isHeldOut(id)) };
    const part = await build(left, `${set.name}, part`, folder, way);
    console.error(`${set.name}: ${whole.chunks} passages, indexed in ${whole.builtS.toFixed(1)} s`);
    const ways = [
      ["as written", (text: string) => text],
      ["with typos", withTypo],
    ] as const;
    for (const [writing, write] of ways) {
      const answers = await askAll(set, whole, part, offDomain, write);
      rows.push(rowOf(`${set.name}, ${writing}`, answers));
      if (writing === "as written") byConfidence.push(...confidenceRows(set.name, answers));
      for (const kind of ["answerable", "near", "offDomain", "kept", "heldOut"] as const)
        for (const asked of answers[kind]) all[writing][kind].push(asked);
    }
    await whole.close();
    await part.close();
  }
  for (const writing of ["as written", "with typos"] as const) {
    rows.push(rowOf(`in sum, ${writing}`, all[writing]));
  }
  byConfidence.push(...confidenceRows("in sum", all["as written"]));
  print(rows);
  printTable(byConfidence);
  if (values.json !== undefined)
    writeFileSync(values.json, `${JSON.stringify({ half, rows, byConfidence }, undefined, 2)}\n`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
