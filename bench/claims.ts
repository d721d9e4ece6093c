import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import Type from "typebox";
import Value from "typebox/value";
import { extractiveComposer } from "#answering/answerer.ts";
import { createModelComposer } from "#answering/generate/model-composer.ts";
import type { CheckedStatements } from "#answering/generate/open-statements.ts";
import { createStatementChecker } from "#answering/generate/statement-checker.ts";
import { retrieve } from "#answering/retrieve/retrieve.ts";
import { openStore } from "#database/open.ts";
import { defaultSettings } from "#domain/workspace/settings.ts";
import { openEmbeddedIndex } from "#knowledge/index/embedded-index.ts";
import { createModelMetrics } from "#metrics/model.ts";
import { createModel } from "#models/model.ts";
import { newWorkspace, silentLog, testKnowledge } from "#test/support/knowledge/knowledge.ts";
import { markdownTable } from "#test/support/markdown-table.ts";
import { says, startModelServer } from "#test/support/servers/model-server.ts";

// How many statements of a language model are shown: 300 made-up ones, judged by hand, about 36 made-up passages.
//   npm run bench:claims -- [--accuracy 0.95] [--misses]
// A server with OpenAI's API plays the model: it writes each statement with its citations, and where it is asked about one
// it says whether the passages support it, rightly with the given probability.

const Claims = Type.Object({
  documents: Type.Array(Type.Object({ id: Type.String(), title: Type.String(), text: Type.String() })),
  claims: Type.Array(
    Type.Object({ documents: Type.Array(Type.String()), kind: Type.String(), statement: Type.String() }),
  ),
});

const { values } = parseArgs({
  options: { accuracy: { type: "string", default: "0.95" }, misses: { type: "boolean", default: false } },
});
const accuracy = Number(values.accuracy);
const content: unknown = JSON.parse(readFileSync(new URL("answers/claims.json", import.meta.url), "utf8"));
const { documents, claims } = Value.Parse(Claims, content);
const { signal } = new AbortController();
const clock = { now: () => Date.now(), timer: () => () => undefined };

type Claim = (typeof claims)[number];

interface Outcome {
  readonly claim: Claim;
  /** The result if the model's check is right, or there is none. */
  readonly isShown: boolean;
  readonly isAsked: boolean;
  /** How probable it is that the statement is shown. */
  readonly chance: number;
}

const isTrue = ({ kind }: Claim): boolean => kind.startsWith("faithful") || kind === "translated";
const titleOf = new Map(documents.map(({ id, title }) => [id, title]));

const folder = mkdtempSync(join(tmpdir(), "parley-claims-"));
const store = await openStore(`sqlite:${join(folder, "parley.sqlite")}`);
await store.migrate();
const workspaceId = await newWorkspace(store);
const { add } = testKnowledge(store);
const storedAs = new Map<string, string>();
for (const { id, title, text } of documents)
  storedAs.set(id, await add(workspaceId, `${id}.md`, `# ${title}\n\n${text}\n`));
const index = openEmbeddedIndex({ store, path: join(folder, "index"), log: silentLog });
await index.prepare(workspaceId, signal);
const server = await startModelServer();
const config = { provider: "openai-compatible", baseUrl: server.url, name: "played", apiKey: "none" } as const;
const model = createModel(config, clock);

/** `checked`: the statements about which the model is asked in a second call; undefined: none. */
async function measure(checked: CheckedStatements | undefined): Promise<readonly Outcome[]> {
  const checker = checked && createStatementChecker({ model, checked, log: silentLog });
  const counts = createModelMetrics();
  const composer = createModelComposer({ model, instead: extractiveComposer, log: silentLog, counts, checker });
  const outcomes: Outcome[] = [];
  for (const claim of claims) {
    const text = claim.documents.map((id) => titleOf.get(id)).join(" ");
    const documentIds = claim.documents.flatMap((id) => storedAs.get(id) ?? []);
    const question = { workspaceId, text, history: [], strictness: "strict", topK: 5, audience: [] } as const;
    const found = await retrieve(index, { ...question, documentIds }, signal);
    const read = found.ranked.map((passage) => ({ passage, by: found }));
    server.answer = () => says(citing(claim, read.length));
    const asked = server.checks.length;
    const isShown = async (isRight: boolean): Promise<boolean> => {
      server.check = () => says(isTrue(claim) === isRight ? "1" : "NONE");
      const asker = claim.kind === "translated" ? { ...question, text: claim.statement } : question;
      const judged = { question: { ...asker, settings: defaultSettings }, found, extract: undefined, read, spentMs: 0 };
      return (await composer.compose(judged, signal)).answered;
    };
    const ifRight = await isShown(true);
    const isAsked = server.checks.length > asked;
    const ifWrong = isAsked ? await isShown(false) : ifRight;
    const chance = accuracy * Number(ifRight) + (1 - accuracy) * Number(ifWrong);
    outcomes.push({ claim, isShown: ifRight, isAsked, chance });
  }
  return outcomes;
}

/** The statement with the numbers of its passages. */
function citing({ statement }: Claim, passages: number): string {
  const numbers = Array.from({ length: passages }, (_, at) => `[${at + 1}]`);
  return `${statement.replace(/[.!?]$/u, "")} ${numbers.join("")}.`;
}

const share = (part: number, all: number): string => `${((100 * part) / all).toFixed(0)} %`;
const modes = [undefined, "doubtful", "every"] as const;
const results: (readonly Outcome[])[] = [];
for (const checked of modes) results.push(await measure(checked));
await server.close();
await index.close();
await store.close();
rmSync(folder, { recursive: true, force: true });

const line = (name: string, belongs: (claim: Claim) => boolean): readonly string[] => [
  name,
  String(claims.filter(belongs).length),
  ...results.map((outcomes) => {
    const of = outcomes.filter(({ claim }) => belongs(claim));
    return share(
      of.reduce((sum, { chance }) => sum + chance, 0),
      of.length,
    );
  }),
];
console.log(
  markdownTable(
    ["statements", "number", "shown with `words`", "`doubtful`", "`every`"],
    [
      ...[...new Set(claims.map(({ kind }) => kind))].map((kind) => line(kind, (claim) => claim.kind === kind)),
      line("all true ones", isTrue),
      line("all false ones", (claim) => !isTrue(claim)),
    ],
  ),
);
const asked = results.map((outcomes) => share(outcomes.filter(({ isAsked }) => isAsked).length, outcomes.length));
console.log(`\nasked about: doubtful ${asked[1]}, every ${asked[2]}`);
if (values.misses) {
  for (const [at, outcomes] of results.entries()) {
    for (const { claim, isShown, isAsked } of outcomes) {
      if (isTrue(claim) === isShown) continue;
      const fate = `${modes[at] ?? "words"}, ${isShown ? "shown" : "left out"}${isAsked ? " after the check" : ""}`;
      console.log(`\n${claim.kind}, ${fate}: ${claim.statement}\n  ${claim.documents.join(", ")}`);
    }
  }
}
