import { readFileSync } from "node:fs";
import { createQuestionIndex, questionTerms } from "#conversations/feedback/similarity.ts";

// How well questions are grouped by their words: node bench/question-groups.ts FILE.json [COUNT]
// FILE: `{queries: [{text, rel: [topic]}]}`. Two questions with the same first topic ask the same.

interface Query {
  readonly text: string;
  readonly rel: readonly string[];
}

const [file = "", count = "20000"] = process.argv.slice(2);
const { queries } = JSON.parse(readFileSync(file, "utf8")) as { readonly queries: readonly Query[] };
const asked = queries.map(({ text, rel }) => ({ topic: rel[0] ?? text, terms: questionTerms(text) }));

/** The group of each question, in the given order. */
function grouped(terms: readonly (readonly string[])[], from: number): string[] {
  const index = createQuestionIndex(from);
  return terms.map((each, at) => {
    const id = index.nearest(each) ?? String(at).padStart(6, "0");
    if (id === String(at).padStart(6, "0")) index.add(id, each);
    return id;
  });
}

console.log("from   pairs together that ask the same / found of all such pairs / groups");
for (const from of [0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.8]) {
  const groups = grouped(
    asked.map(({ terms }) => terms),
    from,
  );
  let together = 0;
  let right = 0;
  let same = 0;
  for (let a = 0; a < asked.length; a += 1) {
    for (let b = a + 1; b < asked.length; b += 1) {
      const isSame = asked[a]?.topic === asked[b]?.topic;
      const isTogether = groups[a] === groups[b];
      if (isSame) same += 1;
      if (isTogether) together += 1;
      if (isSame && isTogether) right += 1;
    }
  }
  const percent = (part: number, of: number): string => `${((100 * part) / Math.max(1, of)).toFixed(1)} %`;
  console.log(from.toFixed(2), percent(right, together), percent(right, same), new Set(groups).size);
}

const many = Array.from({ length: Number(count) }, (_, at) => asked[at % asked.length]?.terms ?? []);
const start = performance.now();
const groups = grouped(many, 0.5);
console.log(`${count} questions: ${new Set(groups).size} groups in ${(performance.now() - start).toFixed(0)} ms`);
