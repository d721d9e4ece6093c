import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import Type from "typebox";
import Value from "typebox/value";
import { createDraft } from "#answering/generate/draft.ts";
import type { CheckedStatements } from "#answering/generate/open-statements.ts";
import { evidenceOf } from "#answering/generate/support.ts";
import { markdownTable } from "#test/support/markdown-table.ts";

// How many statements of a language model are shown: 300 made-up ones, judged by hand, about 36 made-up passages.
//   npm run bench:claims -- [--accuracy 0.95] [--misses]
// The second call is played: it is right about a statement with the given probability.

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

type Claim = (typeof claims)[number];
type Shown = "shown" | "asked" | "left out";

/** Whether words show a statement or leave it out, or the model is asked. */
function fate({ documents: cited, statement, kind }: Claim, checked: CheckedStatements | undefined): Shown {
  const passages = documents.filter(({ id }) => cited.includes(id));
  const draft = createDraft({
    evidence: passages.map((each) => evidenceOf({ ...each, url: null })),
    strictness: "strict",
    sourcesMax: 5,
    leaks: () => false,
    judged: (text) => text,
    checked,
    isTranslated: kind === "translated",
  });
  draft.feed(`${statement.replace(/[.!?]$/u, "")} ${passages.map((_, index) => `[${index + 1}]`).join("")}.`);
  draft.end(false);
  if (draft.open.waiting().length > 0) return "asked";
  return draft.sum().kept > 0 ? "shown" : "left out";
}

/** The share of statements that are shown, as the second call is right with probability `accuracy`. */
function shownShare(of: readonly Claim[], checked: CheckedStatements | undefined): number {
  const chances = of.map((claim) => {
    const happens = fate(claim, checked);
    if (happens !== "asked") return happens === "shown" ? 1 : 0;
    return isTrue(claim) ? accuracy : 1 - accuracy;
  });
  return chances.reduce((sum, each) => sum + each, 0) / of.length;
}

const isTrue = ({ kind }: Claim): boolean => kind.startsWith("faithful") || kind === "translated";
const percent = (share: number): string => `${(share * 100).toFixed(0)} %`;
const modes = [undefined, "doubtful", "every"] as const;
const asked = (checked: CheckedStatements): number =>
  claims.filter((claim) => fate(claim, checked) === "asked").length / claims.length;

const kinds = [...new Set(claims.map(({ kind }) => kind))];
const line = (name: string, of: readonly Claim[]): readonly string[] => [
  name,
  String(of.length),
  ...modes.map((checked) => percent(shownShare(of, checked))),
];
console.log(
  markdownTable(
    ["statements", "number", "shown with `words`", "`doubtful`", "`every`"],
    [
      ...kinds.map((kind) =>
        line(
          kind,
          claims.filter((claim) => claim.kind === kind),
        ),
      ),
      line("all true ones", claims.filter(isTrue)),
      line(
        "all false ones",
        claims.filter((claim) => !isTrue(claim)),
      ),
    ],
  ),
);
console.log(`\nasked about: doubtful ${percent(asked("doubtful"))}, every ${percent(asked("every"))}`);
if (values.misses) {
  for (const claim of claims) {
    const happens = fate(claim, "doubtful");
    if (isTrue(claim) ? happens === "left out" : happens === "shown")
      console.log(`\n${claim.kind}, ${happens}: ${claim.statement}\n  ${claim.documents.join(", ")}`);
  }
}
