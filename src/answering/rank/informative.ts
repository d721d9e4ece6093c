import { linkMark } from "#knowledge/documents/blocks.ts";
import type { Unit } from "#knowledge/documents/chunk-text.ts";
import { wordCount } from "#language/words/terms.ts";

const page = "(?:article|guide|section|tutorial|page|document|chapter|topic|post)";

/** Matches a sentence that announces the page's content. */
const announcing = new RegExp(
  [
    "^(?:(?:continue|keep|go on) reading|read on)(?=[.!:,]|$| if\\b| to\\b| for\\b)",
    "^(?:here you(?:'ll| will| can)? )?(?:learn|find out|discover) (?:how|about|more|what|why|when|where|which|to)\\b",
    `^in this ${page}(?:[:.]?$|,? (?:we|you|i|it|there)\\b|,? .{0,40}:$)`,
    `^(?:this|the following) (?:\\S+ )?${page} (?:will |also |only )*(?:explains?|describes?|shows?|covers?|tells?|contains?|lists?|appl(?:y|ies)|walks?|goes|helps?|provides?|outlines?|is (?:about|for|intended))\\b`,
  ].join("|"),
  "i",
);

/** Matches a sentence that only refers to another page. */
const pointing = new RegExp(
  [
    "^(?:please |also |you can )?(?:see|refer to|check out|read(?: more| about)|have a look at|take a look at)(?=[ :])",
    "^(?:for|to (?:get|find|learn|read|see)) (?:more|further|additional|other|detailed)\\b.*\\b(?:see|read|visit|check|refer|consult|go to|take a look|have a look)\\b",
    `^(?:read|visit|check|follow|consult) (?:this|these|our|the) (?:\\S+ ){0,3}${page}s?\\b`,
    "^(?:if|for|to|when|unsure)\\b[^.!]*[,?] (?:please )?see\\b",
    `\\b(?:use|see|follow|read|consult|check) (?:the|our|this|these) (?:\\S+ ){0,6}${page}\\b`,
    "^(?:more|further|additional) (?:information|details|help) (?:is|are|can be)\\b",
  ].join("|"),
  "i",
);

/** Matches the introduction of a table of contents or of a list of related pages. */
const contents = new RegExp(
  `^(?:in this ${page}|on this page|(?:table of )?contents|related (?:${page}s?|topics|links|content|questions)|see also|also see|further reading|(?:learn|read) more|more information|check the sections below|(?:this ${page}|the following sections?) (?:covers?|explains?|describes?)|jump to|quick links)\\b.*:?$`,
  "i",
);

/** Returns one flag per unit: whether it carries information by itself, rather than pointing elsewhere. */
export function informativeUnits(units: readonly Unit[]): boolean[] {
  const informative = informativeEach(units);
  // A list made mostly of cross references carries no information, nor does the sentence that introduces it.
  for (let start = 0; start < units.length; start += 1) {
    let end = start;
    while (units[end]?.kind === "item") end += 1;
    if (end === start) continue;
    const uninformative = informative.slice(start, end).filter((each) => !each).length;
    if (uninformative * 2 > end - start) {
      informative.fill(false, start, end);
      if (units[start - 1]?.kind === "sentence" && promisesSteps(units[start - 1]?.text ?? ""))
        informative[start - 1] = false;
    }
    start = end;
  }
  return informative;
}

function informativeEach(units: readonly Unit[]): boolean[] {
  let inContents = false;
  return units.map((unit, index) => {
    if (unit.kind !== "item") inContents = false;
    if (unit.text.startsWith(linkMark)) return false;
    switch (unit.kind) {
      case "heading":
      case "code":
      case "row":
        return true;
      case "item":
        return !inContents && !pointing.test(unit.text);
      case "sentence": {
        inContents = units[index + 1]?.kind === "item" && contents.test(unit.text);
        return !inContents && !announcing.test(unit.text) && !pointing.test(unit.text) && !isCard(units, index);
      }
    }
  });
}

const cardWordsMax = 6;

/** True for adjacent short paragraphs without punctuation at their end: buttons and tiles, not prose. */
function isCard(units: readonly Unit[], index: number): boolean {
  const isShort = (unit: Unit | undefined): boolean =>
    unit?.kind === "sentence" && wordCount(unit.text) <= cardWordsMax && !/[\p{P}\d]\s*$/u.test(unit.text);
  return isShort(units[index]) && (isShort(units[index - 1]) || isShort(units[index + 1]));
}

/** True when the text announces steps. Such a text must not be the answer without the steps. */
export function promisesSteps(text: string): boolean {
  return (
    text.trimEnd().endsWith(":") ||
    /\bfollow(?:ing)? (?:the|these|this|below|our)(?: \S+){0,3} (?:steps?|instructions?|procedure|guide)\b|\b(?:steps|instructions) (?:below|that follow)\b/i.test(
      text,
    )
  );
}
