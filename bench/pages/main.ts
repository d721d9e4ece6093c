// How much of the main text of a web page is read, and how much of what is around it, on made-up pages:
//   npm run bench:pages -- [--split tune|report|all] [--compare FOLDER] [--kinds] [--misses] [--json FILE]
// Each page here has a file with its phrases to keep and to drop. `--compare` also measures the extractors installed in
// FOLDER/node_modules: @mozilla/readability and defuddle, both with jsdom. The halves are fixed by hash: choose on
// `tune`, and look at `report` once.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { Parser } from "htmlparser2";
import Type from "typebox";
import type { Static } from "typebox";
import Value from "typebox/value";
import { parseHtml } from "#knowledge/parse/html/html.ts";
import type { Half } from "../question-sets.ts";
import { inHalf } from "../question-sets.ts";

const { values: options } = parseArgs({
  options: {
    split: { type: "string", default: "tune" },
    compare: { type: "string" },
    kinds: { type: "boolean", default: false },
    misses: { type: "boolean", default: false },
    json: { type: "string" },
  },
});
const half = options.split as Half;

const Truth = Type.Object({
  kind: Type.String(),
  title: Type.String(),
  keep: Type.Array(Type.String()),
  drop: Type.Array(Type.String()),
});

interface Page extends Static<typeof Truth> {
  readonly name: string;
  readonly html: string;
}

interface Extracted {
  /** May come from the page's head, so nothing that it holds counts as leaked. */
  readonly title: string;
  readonly text: string;
}

type Extract = (html: string) => Extracted;

interface Result {
  readonly extractor: string;
  readonly page: string;
  readonly kind: string;
  readonly kept: number;
  readonly leaked: number;
  readonly missing: readonly string[];
  readonly leaks: readonly string[];
}

const home = join(import.meta.dirname, "documents");
const pages = readdirSync(home)
  .filter((name) => name.endsWith(".html") && inHalf(name, half))
  .map((file): Page => {
    const name = file.replace(/\.html$/, "");
    const truth = Value.Parse(Truth, JSON.parse(readFileSync(join(home, `${name}.json`), "utf8")));
    return { name, html: readFileSync(join(home, file), "utf8"), ...truth };
  });

/** Only words: extractors write lists, code and links each in their own way. */
const wordsOf = (text: string): string =>
  ` ${text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{M}\p{N}]+/gu, " ")
    .trim()} `;

/** Elements that do not end a word. */
const inline = new Set("a abbr b bdi code em font i kbd label mark small span strong sub sup time tt u".split(" "));

function textOfHtml(html: string): string {
  let text = "";
  const space = (name: string): void => {
    if (!inline.has(name)) text += " ";
  };
  const parser = new Parser({ onopentag: space, onclosetag: space, ontext: (part) => (text += part) });
  parser.end(html);
  return text;
}

function parley(html: string): Extracted {
  const { title, blocks } = parseHtml(html);
  const text = blocks.map((block) => (block.kind === "row" ? block.cells.join(" | ") : block.text));
  return { title: title ?? "", text: text.join("\n") };
}

interface Article {
  readonly title?: string | null;
  readonly content?: string | null;
}

function others(folder: string): ReadonlyMap<string, Extract> {
  const load = createRequire(join(resolve(folder), "package.json"));
  const jsdom = load("jsdom") as {
    JSDOM: new (html: string, options: object) => { readonly window: { readonly document: object } };
    VirtualConsole: new () => object;
  };
  const { Readability } = load("@mozilla/readability") as {
    Readability: new (document: object) => { parse(): Article | null };
  };
  const Defuddle = load("defuddle") as new (document: object, options: object) => { parse(): Article };
  const url = "https://help.example.com/page";
  const documentOf = (html: string): object =>
    new jsdom.JSDOM(html, { url, virtualConsole: new jsdom.VirtualConsole() }).window.document;
  const extracted = (article: Article | null): Extracted => ({
    title: article?.title ?? "",
    text: textOfHtml(article?.content ?? ""),
  });
  return new Map<string, Extract>([
    ["readability", (html) => extracted(new Readability(documentOf(html)).parse())],
    ["defuddle", (html) => extracted(new Defuddle(documentOf(html), { url }).parse())],
  ]);
}

function judge(extractor: string, extract: Extract, page: Page): Result {
  const { title, text } = extract(page.html);
  const read = wordsOf(text);
  const withTitle = `${wordsOf(title)}|${read}`;
  const missing = page.keep.filter((phrase) => !withTitle.includes(wordsOf(phrase)));
  // Neighbouring links may run into one word.
  const leaks = page.drop.filter((phrase) => read.includes(wordsOf(phrase).trim()));
  const [kept, leaked] = [1 - lengthOf(missing) / lengthOf(page.keep), lengthOf(leaks) / lengthOf(page.drop)];
  return { extractor, page: page.name, kind: page.kind, kept, leaked, missing, leaks };
}

const lengthOf = (phrases: readonly string[]): number => phrases.reduce((sum, { length }) => sum + length, 0);

const percent = (value: number): string => `${(value * 100).toFixed(1)} %`.padStart(9);

/** Each page counts alike. `whole`: the share of pages of which all main text is read. */
function show(title: string, groups: ReadonlyMap<string, readonly Result[]>): void {
  console.log(`\n${title.padEnd(30)}${["pages", "kept", "whole", "leaked"].map((name) => name.padStart(9)).join("")}`);
  for (const [name, results] of groups) {
    const mean = (of: (result: Result) => number): string =>
      percent(results.reduce((sum, result) => sum + of(result), 0) / results.length);
    const cells = [
      mean(({ kept }) => kept),
      mean(({ missing }) => (missing.length === 0 ? 1 : 0)),
      mean(({ leaked }) => leaked),
    ];
    console.log(`  ${name.padEnd(28)}${String(results.length).padStart(9)}${cells.join("")}`);
  }
}

const extractors = new Map<string, Extract>([
  ["parley", parley],
  ...(options.compare === undefined ? [] : others(options.compare)),
]);
const all = [...extractors].flatMap(([name, extract]) => pages.map((page) => judge(name, extract, page)));
for (const each of half === "all" ? (["tune", "report"] as const) : [half]) {
  const results = all.filter(({ page }) => inHalf(`${page}.html`, each));
  show(
    each,
    Map.groupBy(results, ({ extractor }) => extractor),
  );
  if (!options.kinds) continue;
  show(
    `${each}, by kind`,
    Map.groupBy(results, ({ extractor, kind }) => `${kind}: ${extractor}`),
  );
}
if (options.misses) {
  for (const { extractor, page, missing, leaks } of all) {
    if (extractor !== "parley" || !inHalf(`${page}.html`, "tune") || missing.length + leaks.length === 0) continue;
    console.log(
      `\n${page}${missing.map((phrase) => `\n  - ${phrase}`).join("")}${leaks.map((phrase) => `\n  + ${phrase}`).join("")}`,
    );
  }
}
if (options.json !== undefined) writeFileSync(options.json, JSON.stringify(all));
