import { wordCount } from "#language/terms.ts";
import type { Block, ParsedDocument } from "./blocks.ts";
import { linkMark, titleCharactersMax } from "./blocks.ts";
import type { Unit } from "./chunk-text.ts";
import { guardSentence, writeUnit, writeUnits } from "./chunk-text.ts";
import { splitSentences } from "#language/sentences.ts";

export interface Chunk {
  /** "Document › Section › Subsection". */
  readonly title: string;
  readonly text: string;
}

/** Measured on four sets of questions: 60 to 120 words find best, 120 keep steps and their reasons together. */
const chunkWordsMax = 120;
/** A list of steps may be this long before it is cut. */
const listWordsMax = 180;
/** A section shorter than this is kept with its neighbour. */
const tinyWords = 12;
/** A "sentence" of this many characters is not one; it is cut so that a chunk stays a chunk. */
const unitCharactersMax = 1_200;
const charactersPerWord = 10;
const overlapWordsMax = 40;

interface Section {
  readonly path: readonly string[];
  readonly units: readonly Unit[];
  readonly words: number;
  /** Never joined with another. */
  readonly alone?: boolean;
}

/** Cuts a document into passages: at ends of sentences, within a section, the last sentence repeated in the next. */
export function chunkDocument(document: ParsedDocument, title: string): Chunk[] {
  const chunks: Chunk[] = [];
  for (const section of mergeTiny(sectionsOf(document, title))) {
    const heading = [title, ...section.path].join(" › ").slice(0, titleCharactersMax);
    for (const units of pack(section.units)) chunks.push({ title: heading, text: writeUnits(units) });
  }
  return chunks;
}

function sectionsOf(document: ParsedDocument, title: string): Section[] {
  const sections: Section[] = [];
  let path: { readonly depth: number; readonly text: string }[] = [];
  let units: Unit[] = [];
  let group = 0;
  let last: Block["kind"] | null = null;
  const close = (alone = false): void => {
    // A section that only names other pages would be found for what it does not tell.
    const elsewhere =
      furtherReading.test(path.at(-1)?.text ?? "") || units.every((unit) => unit.text.startsWith(linkMark));
    units = withoutRepeats(units);
    if (units.length > 0 && !elsewhere) {
      // The document's own title as its first heading would say the same twice.
      const headings = path.map((each) => each.text).filter((text) => !sameWords(text, title));
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

/** As many characters are no phrase that one says twice. */
const repeatCharactersMin = 60;

/**
 * What a section says again to the letter, as pages made of tabs and cards do, is said once: a sentence, or a whole list
 * of points. A command or a row belongs to what stands before it, and what ends in a colon to what comes after it.
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

/** Cuts at spaces where there are any. */
function cutLong(text: string): string[] {
  const parts: string[] = [];
  let rest = text;
  while (rest.length > unitCharactersMax) {
    const space = rest.lastIndexOf(" ", unitCharactersMax);
    let end = space > unitCharactersMax / 2 ? space : unitCharactersMax;
    // Never between the halves of one character.
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

/** Words; where there are no spaces to tell them, so many characters stand for one. */
function sizeOf(text: string): number {
  return Math.max(wordCount(text), Math.ceil(text.length / charactersPerWord));
}

const wordsIn = (units: readonly Unit[]): number => units.reduce((sum, unit) => sum + sizeOf(unit.text), 0);

/** Joins neighbouring sections of a few words, each under its heading, while together they stay a chunk. */
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
    // A question and its answer stay by themselves, however short: each is somebody's whole question.
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

/** Fills chunks in order. A list that fits into one chunk is not cut, and takes the sentence that leads to it along. */
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

/** What stays together: a whole list with its leading sentence, or as much of its end as fits; else each unit by itself. */
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

/** The last sentence of a full chunk, to begin the next with, so that what refers back to it is understood. */
function overlapOf(units: readonly Unit[], next: Unit): Unit[] {
  const last = units.at(-1);
  if (last?.kind !== "sentence" || next.kind === "code" || sizeOf(writeUnit(last)) > overlapWordsMax) return [];
  return [last];
}
