import { parseSync, Visitor } from "oxc-parser";
import { expect, it } from "vitest";
import { readSourceTree } from "../support/project/source-tree.ts";

/**
 * Names that were given up for the trade's words, such as `rerouteClosedWindow` for `giveWay`. Stored names that still
 * have them, such as kinds of work, are strings and not found here.
 */
const retired = new Set(
  `actInWords announceEvents arrivalOf changesAhead createHands createGiveWay createRush giveWay handoverThere
  handMovedRush happening inRush keepReady keptTokens mayEnter nowAndThen noteThere overwriting ownNames ownSecret
  peekSecret readsWork standThere stirred takeAtOnce tellEndpoint Arrival Arrived Happening Hands Keeper Office Rush
  Speech Thought WorkspaceFace`.split(/\s+/),
);
/** Comments begin with their subject. */
const openers = /^(?:What|Who|Whoever|Whatever|Whose|Of|As|So|By|Where|Nobody|However) [a-z]/;
const metaphors = /\b(?:anew|mend(?:s|ed)?|asleep|slept|gives? way|hands of)\b/i;

const tree = readSourceTree().map(({ path, text }) => {
  const { program, comments } = parseSync(path, text);
  return { path, text, program, comments };
});

it("uses no retired name", () => {
  const found = tree.flatMap(({ path, program }) => {
    const names = new Set<string>();
    new Visitor({ Identifier: ({ name }) => void (retired.has(name) && names.add(name)) }).visit(program);
    return [...names].map((name) => `${path}: ${name}`);
  });
  expect(found).toEqual([]);
});

it("begins comments with their subject, in the words of the trade", () => {
  const found = tree.flatMap(({ path, text, comments }) =>
    comments.flatMap(({ value, start }, at) => {
      const before = comments[at - 1];
      const continues = before !== undefined && /^\s*$/.test(text.slice(before.end, start)) && !value.startsWith("*");
      const words = value.replace(/^\*?\s*/, "");
      const isOdd = (!continues && openers.test(words)) || metaphors.test(words);
      return isOdd ? [`${path}:${text.slice(0, start).split("\n").length} ${words.slice(0, 100)}`] : [];
    }),
  );
  expect(found).toEqual([]);
});
