import { wordCount } from "#language/words/terms.ts";
import type { Block, ParsedDocument } from "./blocks.ts";
import { linkMark, titleCharactersMax } from "./blocks.ts";
import type { Unit } from "./chunk-text.ts";
import { guardSentence, writeUnit, writeUnits } from "./chunk-text.ts";
import { splitSentences } from "#language/words/sentences.ts";

export interface Chunk {
  /** "Document › Section › Subsection". */
  readonly title: string;
  readonly text: string;
}

/** Measured on four sets of questions: 60 to 120 words rank best; 120 keep steps and their reasons together. */
const chunkWordsMax = 120;
/** Longer lists of steps are cut. */
const listWordsMax = 180;
/** Shorter sections are joined with a neighbour. */
const tinyWords = 12;
/** Longer "sentences" are cut, so that no chunk becomes too long. */
const unitCharactersMax = 1_200;
const charactersPerWord = 10;
const overlapWordsMax = 40;

interface Section {
  readonly path: readonly string[];
  readonly units: readonly Unit[];
  readonly words: number;
  /** Must not be joined with another section. */
  readonly alone?: boolean;
}

/**
 * Cuts a document into passages: within a section, at ends of sentences, with the last sentence repeated in the next.
 * `replacedTitle` is the document's own title where a person gave it another one.
 */
export function chunkDocument(document: ParsedDocument, title: string, replacedTitle: string = title): Chunk[] {
  const chunks: Chunk[] = [];
  const titles = [title, replacedTitle];
  for (const section of mergeTiny(sectionsOf(document, titles))) {
    const heading = [title, ...section.path].join(" › ").slice(0, titleCharactersMax);
    for (const units of pack(section.units)) chunks.push({ title: heading, text: writeUnits(units) });
  }
  return chunks;
}

function sectionsOf(document: ParsedDocument, titles: readonly string[]): Section[] {
  const sections: Section[] = [];
  let path: { readonly depth: number; readonly text: string }[] = [];
  let units: Unit[] = [];
  let group = 0;
  let last: Block["kind"] | null = null;
  const close = (alone = false): void => {
    // A section of links would match questions that it does not answer.
    const elsewhere =
      furtherReading.test(path.at(-1)?.text ?? "") || units.every((unit) => unit.text.startsWith(linkMark));
    units = withoutRepeats(units);
    if (units.length > 0 && !elsewhere) {
      // The first heading often repeats the document's title.
      const headings = path.map((each) => each.text).filter((text) => !titles.some((title) => sameWords(text, title)));
      sections.push({ path: headings, units, words: wordsIn(units), alone });
    }
    units = [];
    last = null;
  };
  for (const block of document.blocks) {
    if (block.kind === "heading") {
      close();
      path = [...path.filter((each) => each.depth < block.depth), { depth: block.depth, text: block.text }];
      continue;
    }
    const alone = block.kind === "row" && block.alone === true;
    if (alone) close();
    if (block.kind === "paragraph" || block.kind !== last) group += 1;
    last = block.kind;
    for (const unit of unitsOf(block, group)) units.push(unit);
    if (alone) close(true);
  }
  close();
  return sections;
}

/** Longer phrases are not repeated by accident. */
const repeatCharactersMin = 60;

/**
 * Removes sentences and whole lists that a section repeats word for word, as pages made of tabs and cards do. Code and
 * rows belong to the text before them, and a text that ends in a colon to the text after it, so these are kept.
 */
function withoutRepeats(units: readonly Unit[]): Unit[] {
  const said = new Set<string>();
  const kept: Unit[] = [];
  for (let at = 0; at < units.length; at += 1) {
    const unit = units[at];
    if (unit === undefined) break;
    let end = at + 1;
    if (unit.kind === "item") while (units[end]?.kind === "item") end += 1;
    const run = units.slice(at, end);
    const mayRepeat =
      (unit.kind === "sentence" && !unit.text.endsWith(":")) ||
      run.every((each) => each.kind === "item" && each.number === null);
    const isAnnounced = units[at - 1]?.text.endsWith(":") === true;
    const text = run.map((each) => each.text).join("\n");
    if (!mayRepeat || isAnnounced || text.length < repeatCharactersMin || !said.has(text)) kept.push(...run);
    if (mayRepeat) said.add(text);
    at = end - 1;
  }
  return kept;
}

const furtherReading =
  /^(?:further reading|see also|related(?: (?:articles|pages|links|topics|content|posts|questions))?|(?:read|learn) more|(?:table of )?contents|on this page|references)[:.]?$/i;

function sameWords(left: string, right: string): boolean {
  return left.toLowerCase() === right.toLowerCase();
}

function unitsOf(block: Exclude<Block, { readonly kind: "heading" }>, group: number): Unit[] {
  switch (block.kind) {
    case "paragraph":
      return splitSentences(block.text).flatMap((sentence) =>
        cutLong(sentence).map((text): Unit => ({
          kind: "sentence",
          text: guardSentence(text),
          group,
        })),
      );
    case "item":
      return cutLong(block.text).map((text, index): Unit =>
        index === 0
          ? { kind: "item", text, number: block.number, depth: block.depth, group }
          : { kind: "sentence", text: guardSentence(text), group },
      );
    case "row":
      return cutLong(block.cells.filter((cell) => cell !== "").join(" | ")).map((text): Unit => ({
        kind: "row",
        text,
        group,
      }));
    case "code":
      return cutLines(block.text).map((text): Unit => ({ kind: "code", text }));
  }
}

/** Cuts at spaces where possible. */
function cutLong(text: string): string[] {
  const parts: string[] = [];
  let rest = text;
  while (rest.length > unitCharactersMax) {
    const space = rest.lastIndexOf(" ", unitCharactersMax);
    let end = space > unitCharactersMax / 2 ? space : unitCharactersMax;
    // A surrogate pair must not be cut.
    if (/[\ud800-\udbff]/.test(rest.charAt(end - 1))) end -= 1;
    parts.push(rest.slice(0, end).trim());
    rest = rest.slice(end).trim();
  }
  if (rest !== "") parts.push(rest);
  return parts;
}

function cutLines(code: string): string[] {
  const parts: string[] = [];
  let part: string[] = [];
  let characters = 0;
  for (const line of code.split("\n").flatMap((each) => (each.length > unitCharactersMax ? cutLong(each) : [each]))) {
    if (characters + line.length > unitCharactersMax && part.length > 0) {
      parts.push(part.join("\n"));
      part = [];
      characters = 0;
    }
    part.push(line);
    characters += line.length + 1;
  }
  if (part.some((line) => line.trim() !== "")) parts.push(part.join("\n"));
  return parts;
}

/** Counts words; in scripts without spaces, a fixed number of characters counts as a word. */
function sizeOf(text: string): number {
  return Math.max(wordCount(text), Math.ceil(text.length / charactersPerWord));
}

const wordsIn = (units: readonly Unit[]): number => units.reduce((sum, unit) => sum + sizeOf(unit.text), 0);

/** Joins short neighbouring sections, each under its heading, up to the size of a chunk. */
function mergeTiny(sections: readonly Section[]): Section[] {
  const merged: Section[] = [];
  let group = 1_000_000;
  for (const section of sections) {
    const before = merged.at(-1);
    const joins =
      before !== undefined &&
      before.words < tinyWords &&
      section.words < tinyWords &&
      before.words + section.words <= chunkWordsMax;
    // A question with its answer is never joined, however short.
    const alone = section.alone === true || before?.alone === true;
    if (!joins || alone || isQuestion(section) || isQuestion(before)) {
      merged.push(section);
      continue;
    }
    const path = before.path.filter(
      (text, index) =>
        section.path[index] === text && before.path.slice(0, index).every((each, at) => section.path[at] === each),
    );
    const heads = (of: Section): Unit[] => of.path.slice(path.length).map((text) => ({ kind: "heading", text }));
    const regroup = (unit: Unit): Unit => ("group" in unit ? { ...unit, group: unit.group + group } : unit);
    group += 1_000_000;
    const units = [...heads(before), ...before.units, ...heads(section), ...section.units.map(regroup)];
    merged.splice(-1, 1, { path, units, words: wordsIn(units) });
  }
  return merged;
}

function isQuestion(section: Section): boolean {
  return section.path.at(-1)?.endsWith("?") === true;
}

/** Fills chunks in order. A list that fits into one chunk is not cut, and stays with the sentence before it. */
function pack(units: readonly Unit[]): Unit[][] {
  const packed: Unit[][] = [];
  let open: Unit[] = [];
  let words = 0;
  for (const bundle of bundlesOf(units)) {
    const size = wordsIn(bundle);
    const first = bundle[0];
    if (open.length > 0 && first !== undefined && words + size > chunkWordsMax) {
      packed.push(open);
      open = overlapOf(open, first);
      words = wordsIn(open);
      if (words + size > chunkWordsMax) {
        open = [];
        words = 0;
      }
    }
    for (const unit of bundle) open.push(unit);
    words += size;
  }
  if (open.length > 0) packed.push(open);
  return packed;
}

/** Groups units that must stay together: a list with its leading sentence, or as much of its end as fits. */
function bundlesOf(units: readonly Unit[]): Unit[][] {
  const bundles: Unit[][] = [];
  for (let index = 0; index < units.length; index += 1) {
    const unit = units[index];
    if (unit === undefined) break;
    let end = index + 1;
    if (unit.kind === "item" || units[end]?.kind === "item") while (units[end]?.kind === "item") end += 1;
    let words = wordsIn(units.slice(index, end));
    for (; index < end - 1; index += 1) {
      const first = units[index];
      if (first === undefined) break;
      if (words <= listWordsMax && (first.kind === "item" || first.kind === "sentence")) break;
      bundles.push([first]);
      words -= sizeOf(first.text);
    }
    bundles.push(units.slice(index, end));
    index = end - 1;
  }
  return bundles;
}

/** The last sentence of a full chunk, which the next chunk repeats, since it may refer to it. */
function overlapOf(units: readonly Unit[], next: Unit): Unit[] {
  const last = units.at(-1);
  if (last?.kind !== "sentence" || next.kind === "code" || sizeOf(writeUnit(last)) > overlapWordsMax) return [];
  return [last];
}
