import { Parser } from "htmlparser2";
import { createDepthGuard, oneLine } from "#knowledge/documents/blocks.ts";
import type { ParsedDocument } from "#knowledge/documents/blocks.ts";
import { layoutsOf } from "./layout-tables.ts";
import { createPageContent } from "./page-content.ts";
import { textOf } from "./page-choice.ts";
import { createPageNote } from "./page-note.ts";
import type { Mark, Part } from "./page-parts.ts";
import { markOf, opensContent, partOf } from "./page-parts.ts";
import { addText, createPageText, endBlock, endButton, endRow, lettersOf, openButton } from "./page-text.ts";
import { closeTag, openBlock, openTag, voidTags } from "./tags.ts";

const pageTitleCharactersMax = 1_000;
const fieldTags = new Set(["input", "select", "textarea"]);
/** Parts that are kept or dropped as a whole at their end. */
const judged: ReadonlySet<Part> = new Set(["form", "aside", "hidden", "header", "prompt"]);

/**
 * HTML of any quality, read as a stream of tags; malformed markup never throws. Navigation, forms that are filled in and
 * scripts are dropped. Where the page marks its content (`main`, `article`, a usual class), only that is taken; elsewhere
 * everything but lists of links.
 */
export function parseHtml(source: string): ParsedDocument {
  const content = createPageContent();
  const page = createPageText(content.add, layoutsOf(source));
  const note = createPageNote();
  const guard = createDepthGuard();
  let dropDepth = 0;
  let pageTitle = "";
  let inTitle = false;

  /** Within a cell or a heading, text is not cut into blocks: such parts are read as the text around them. */
  function doubtful(part: Part, name: string): Part {
    if (!page.inCell && page.heading === 0) return part;
    if (part === "button" && name === "button") return page.heading > 0 ? "content" : "beside";
    return part === "hidden" ? "beside" : part === "beside" ? part : "content";
  }

  const parser = new Parser(
    {
      onopentag(name, attributes) {
        guard.open();
        if (name === "title") inTitle = pageTitle === "";
        note.open(name, attributes);
        let mark: Mark = "none";
        const part = dropDepth > 0 ? "beside" : doubtful(partOf(name, attributes, content.isInContent()), name);
        if (part === "beside") {
          if (!voidTags.has(name)) dropDepth += 1;
          if (fieldTags.has(name)) content.addField();
        } else {
          if (part === "button") openButton(page, opensContent(attributes));
          else if (part !== "content") endBlock(page);
          if (part === "button" || opensContent(attributes)) content.addOpener();
          if (fieldTags.has(name) && attributes["type"] !== "hidden") content.addField();
          if (!openTag(page, name, attributes)) {
            mark = markOf(name, attributes);
            openBlock(page, name, mark !== "none");
          }
        }
        content.open(mark, part, name === "a" && dropDepth === 0 && attributes["href"] !== undefined ? 1 : 0);
      },
      ontext(data) {
        if (inTitle) {
          if (pageTitle.length < pageTitleCharactersMax) pageTitle += data;
          return;
        }
        const letters = lettersOf(data);
        note.addLetters(letters);
        if (dropDepth > 0) return;
        addText(page, data, letters);
        content.addLetters(letters, page.links > 0);
      },
      onclosetag(name) {
        guard.close();
        const innermost = content.innermost();
        if (innermost !== undefined && innermost.mark !== "none") endBlock(page);
        if (name === "title") inTitle = false;
        note.close(name);
        if (innermost?.part === "button") endButton(page);
        if (dropDepth === 0) closeTag(page, name);
        else if (!voidTags.has(name)) dropDepth -= 1;
        if (innermost !== undefined && judged.has(innermost.part)) endBlock(page);
        content.close(!page.inCell && page.text.trim() !== "");
      },
    },
    { decodeEntities: true, lowerCaseTags: true },
  );
  parser.end(source);
  endRow(page);
  endBlock(page);

  const blocks = content.blocks(oneLine(pageTitle));
  const firstHeading = blocks.find((block) => block.kind === "heading" && block.depth === 1);
  const title = firstHeading?.kind === "heading" ? firstHeading.text : oneLine(pageTitle);
  const kept = blocks.reduce((sum, block) => sum + lettersOf(textOf(block)), 0);
  return { title: title === "" ? null : title, blocks, note: note.text(kept) };
}
