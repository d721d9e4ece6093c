// The quality of whole answers, on made-up companies with their documents, single messages and conversations:
//   npm run bench:answers -- [--split tune|report|all] [--set NAME] [--mode strict|helpful] [--meaning] [--misses]
//     [--off-domain FILE] [--calibration JSON]... [--json FILE]
//     [--embedder URL --embedder-model NAME | --bend squeezed|faint|prefixed] [--raw]
// Each folder here has `documents` (`manual` has those of the project), `questions.json` and `conversations.json`. The
// halves are fixed by hash: choose on `tune`, and look at `report` once. The file of `--off-domain` has `questions` that no
// document answers: they are put to each folder too. Each `--calibration`, such as {"nearFrom":0.35}, is measured beside
// the others with one line of counts: it changes how the evidence of the encoder counts. `--embedder` measures any server
// with OpenAI's `/embeddings` (its key in EMBEDDING_API_KEY), calibrated as the program does it; `--bend` one that serves
// the built-in encoder's vectors, bent (`bench/bent-encoder.ts`); `--raw` leaves the calibration out.
import { readFileSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import Type from "typebox";
import Value from "typebox/value";
import { createExtractiveAnswerer } from "#answering/answerer.ts";
import type { Answerer, AnswerTrace, Question } from "#answering/contract.ts";
import type { Given, Gold, Verdict } from "#answering/evaluation/judge.ts";
import { judgeAnswer, verdicts } from "#answering/evaluation/judge.ts";
import { placeIn } from "#answering/suggestions.ts";
import type { Confidence } from "#domain/conversation/message.ts";
import { defaultSettings } from "#domain/workspace/settings.ts";
import { bendOf, startBentEncoder } from "../bent-encoder.ts";
import type { Half } from "../question-sets.ts";
import { inHalf } from "../question-sets.ts";
import { conversationsOf, messagesOf, openSet, setNames } from "./open-set.ts";

const { values: options } = parseArgs({
  options: {
    split: { type: "string", default: "tune" },
    set: { type: "string" },
    mode: { type: "string" },
    misses: { type: "boolean", default: false },
    json: { type: "string" },
    meaning: { type: "boolean", default: false },
    calibration: { type: "string", multiple: true, default: [] },
    "off-domain": { type: "string" },
    embedder: { type: "string" },
    "embedder-model": { type: "string" },
    bend: { type: "string" },
    raw: { type: "boolean", default: false },
  },
});
const half = options.split as Half;
const modes = options.mode === undefined ? (["strict", "helpful"] as const) : [options.mode as Question["strictness"]];
const variants = options.calibration.length === 0 ? [undefined] : options.calibration;
const Changed = Type.Partial(
  Type.Object({
    orderShare: Type.Number(),
    leadShare: Type.Number(),
    nearFrom: Type.Number(),
    nearShare: Type.Number(),
    doubt: Type.Number(),
  }),
);
const OffDomain = Type.Object({ questions: Type.Array(Type.String()) });
const offDomain =
  options["off-domain"] === undefined
    ? []
    : Value.Parse(OffDomain, JSON.parse(readFileSync(options["off-domain"], "utf8"))).questions.filter((text) =>
        inHalf(text, half),
      );
const neverAborted = new AbortController().signal;

interface Result {
  readonly set: string;
  readonly id: string;
  /** The group of the table: single messages, first turns, follow-ups, or a kind of message. */
  readonly group: string;
  readonly kind: string;
  readonly verdict: Verdict;
  readonly confidence: Confidence;
  readonly text: string;
  readonly said: string;
  /** Whether a refusal suggests a document with the answer. */
  readonly suggests: boolean;
}

const bent = options.bend === undefined ? undefined : await startBentEncoder();
const server =
  bent !== undefined
    ? { url: bent.url, model: bendOf(options.bend ?? "") }
    : options.embedder !== undefined && options["embedder-model"] !== undefined
      ? { url: options.embedder, model: options["embedder-model"] }
      : undefined;
const meaning = server !== undefined ? { server, raw: options.raw } : options.meaning ? {} : undefined;

const sets = options.set === undefined ? setNames : [options.set];

/** Called once for each mode and variant. */
type Found = (mode: Question["strictness"], variant: string | undefined, results: readonly Result[]) => void;

async function measure(set: string, found: Found): Promise<void> {
  const opened = await openSet(set, meaning);
  try {
    const { workspaceId, names } = opened;
    for (const variant of variants) {
      const index = opened.index(variant === undefined ? {} : Value.Parse(Changed, JSON.parse(variant)));
      for (const strictness of modes) {
        const ask = asking(createExtractiveAnswerer({ index }), { workspaceId, strictness }, names);
        found(strictness, variant, [
          ...(await askMessages(set, ask)),
          ...(await askConversations(set, ask)),
          ...(await askOffDomain(set, ask)),
        ]);
      }
    }
  } finally {
    await opened.close();
  }
}

interface Asked extends Given {
  readonly history: Question["history"];
  /** File names of the documents that a refusal suggests. */
  readonly suggested: readonly string[];
}

type Ask = (text: string, history: Question["history"]) => Promise<Asked>;

const suggestsOneOf = ({ suggested }: Asked, golds: readonly (Gold | null)[]): boolean =>
  golds.some((gold) => gold?.documents.some((name) => suggested.includes(name)) === true);

function asking(
  answerer: Answerer,
  given: Pick<Question, "workspaceId" | "strictness">,
  names: ReadonlyMap<string, string>,
): Ask {
  return async (text, history) => {
    const traces: AnswerTrace[] = [];
    const answer = await answerer.answer(
      {
        ...given,
        text,
        history,
        topK: 5,
        audience: [],
        settings: defaultSettings,
        onTrace: (each) => void traces.push(each),
      },
      neverAborted,
    );
    const passages = traces.flatMap((trace) => (trace.kind === "search" ? trace.passages : []));
    const namesOf = (of: typeof passages) => of.map(({ documentId }) => names.get(documentId) ?? documentId);
    return {
      ...answer,
      cited: namesOf(passages.filter(({ used }) => used)),
      suggested: namesOf(passages.filter(({ title }) => !answer.answered && placeIn(answer.text, title) !== undefined)),
      history: [
        ...history,
        { role: "user", content: text },
        { role: "assistant", content: answer.text, sources: answer.answered ? answer.sources : [] },
      ],
    };
  };
}

async function askMessages(set: string, ask: Ask): Promise<readonly Result[]> {
  const results: Result[] = [];
  for (const { id, text, kind, gold, expected } of messagesOf(set)) {
    if (!inHalf(id, half)) continue;
    const given = await ask(text, []);
    const golds = expected ?? [gold];
    const [verdict, suggests] = [judgeAnswer(given, golds), suggestsOneOf(given, golds)];
    const { confidence, text: said } = given;
    results.push({ set, id, group: "single", kind, verdict, confidence, text, said, suggests });
  }
  return results;
}

async function askConversations(set: string, ask: Ask): Promise<readonly Result[]> {
  const results: Result[] = [];
  for (const { id, turns } of conversationsOf(set)) {
    if (!inHalf(id, half)) continue;
    let history: Question["history"] = [];
    for (const [turn, { text, kind, gold }] of turns.entries()) {
      const given = await ask(text, history);
      history = given.history;
      const verdict = judgeAnswer(given, [gold]);
      const group = turn === 0 ? "first turn" : "follow-up";
      const { confidence, text: said } = given;
      const suggests = suggestsOneOf(given, [gold]);
      results.push({ set, id: `${id}.${turn + 1}`, group, kind, verdict, confidence, text, said, suggests });
    }
  }
  return results;
}

async function askOffDomain(set: string, ask: Ask): Promise<readonly Result[]> {
  const results: Result[] = [];
  for (const text of offDomain) {
    const given = await ask(text, []);
    const verdict = judgeAnswer(given, [null]);
    const { confidence, text: said } = given;
    const of = { set, id: text, group: "off-domain", kind: "off-domain" };
    results.push({ ...of, verdict, confidence, text, said, suggests: false });
  }
  return results;
}

const resamples = 1_000;

/** A share in percent with its 95 % interval, by the bootstrap over the results. */
function share(results: readonly Result[], verdict: Verdict): string {
  if (results.length === 0) return "-".padStart(13);
  const hits = results.map((each) => (each.verdict === verdict ? 1 : 0) as number);
  // The same sequence in each run.
  let seed = 1;
  const random = (): number => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647;
  const shares = Array.from({ length: resamples }, () => {
    let sum = 0;
    for (let i = 0; i < hits.length; i += 1) sum += hits[Math.floor(random() * hits.length)] ?? 0;
    return sum / hits.length;
  }).toSorted((a, b) => a - b);
  const percent = (value = 0): number => Math.round(value * 100);
  const mean = hits.reduce((a, b) => a + b, 0) / hits.length;
  const [low, high] = [shares[Math.floor(resamples * 0.025)], shares[Math.floor(resamples * 0.975)]];
  return `${percent(mean)} (${percent(low)}-${percent(high)})`.padStart(13);
}

function show(title: string, results: readonly Result[]): void {
  console.log(`\n${title.padEnd(26)}${"n".padStart(5)}${verdicts.map((each) => each.padStart(17)).join("")}`);
  const row = (name: string, of: readonly Result[]): void =>
    console.log(
      `  ${name.padEnd(24)}${String(of.length).padStart(5)}${verdicts.map((each) => share(of, each).padStart(17)).join("")}`,
    );
  for (const set of sets)
    row(
      set,
      results.filter((each) => each.set === set),
    );
  for (const [name, of] of Map.groupBy(results, ({ group }) => group)) row(name, of);
  for (const [name, of] of Map.groupBy(results, ({ group, kind }) => `${group}: ${kind}`)) row(name, of);
  for (const band of ["high", "medium", "low"] as const) {
    row(
      `${band} confidence`,
      results.filter(({ confidence, verdict }) => confidence === band && !verdict.startsWith("refused")),
    );
  }
  const refused = results.filter(({ verdict }) => verdict === "refused wrongly");
  const helped = refused.filter(({ suggests }) => suggests).length;
  console.log(`  ${helped} of the ${refused.length} wrong refusals suggest a right document`);
}

/** One line of a variant: right, partly right and wrong answers of each group. */
function line(results: readonly Result[]): string {
  const counts = (of: readonly Result[]): string =>
    (["right", "partly", "wrong"] as const)
      .map((each) => of.filter(({ verdict }) => verdict === each).length)
      .join("/");
  const groups = Map.groupBy(results, ({ set, group }) => (set === "manual" && group === "single" ? set : group));
  return [...groups].map(([name, of]) => `${name} ${counts(of)}`).join(", ");
}

const all: Record<string, Result[]> = {};
for (const set of sets)
  await measure(set, (mode, variant, results) => (all[`${mode}, ${variant ?? half}`] ??= []).push(...results));
for (const [name, results] of Object.entries(all).toSorted(([a], [b]) => (a < b ? -1 : 1))) {
  if (options.calibration.length > 0) {
    console.log(`${name.padEnd(44)} ${line(results)}`);
    continue;
  }
  show(name, results);
  if (!options.misses || half === "report") continue;
  for (const { id, kind, verdict, confidence, text, said } of results) {
    if (verdict === "right" || verdict === "refused rightly") continue;
    console.log(`\n${id} ${kind}: ${verdict}, ${confidence}\n  ${text}\n  > ${said.replaceAll("\n", "\n  > ")}`);
  }
}
if (options.json !== undefined) writeFileSync(options.json, JSON.stringify(all));
await bent?.close();
