import { Parser } from "htmlparser2";
import { createDepthGuard, oneLine } from "#knowledge/documents/blocks.ts";
import type { ParsedDocument } from "#knowledge/documents/blocks.ts";
import { createPageContent } from "./page-content.ts";
import { isBesideContent, isContent } from "./page-parts.ts";
import { addText, createPageText, endBlock, endRow, lettersOf } from "./page-text.ts";
import { closeTag, openBlock, openTag, voidTags } from "./tags.ts";

const pageTitleCharactersMax = 1_000;

/**
 * HTML of any quality, read as a stream of tags; malformed markup never throws. Navigation, forms and scripts are
 * dropped. Where the page marks its content (`main`, `article`, a usual class), only that is taken; elsewhere
 * everything but lists of links.
 */
export function parseHtml(source: string): ParsedDocument {
  const content = createPageContent();
  const page = createPageText(content.add);
  const guard = createDepthGuard();
  let dropDepth = 0;
  let pageTitle = "";
  let inTitle = false;

  const parser = new Parser(
    {
      onopentag(name, attributes) {
        guard.open();
        if (name === "title") inTitle = pageTitle === "";
        let marksContent = false;
        if (dropDepth > 0 || isBesideContent(name, attributes)) {
          if (!voidTags.has(name)) dropDepth += 1;
        } else if (!openTag(page, name, attributes)) {
          marksContent = isContent(name, attributes);
          openBlock(page, name, marksContent);
        }
        content.open(marksContent, name === "a" && dropDepth === 0 && attributes["href"] !== undefined ? 1 : 0);
      },
      ontext(data) {
        if (inTitle) {
          if (pageTitle.length < pageTitleCharactersMax) pageTitle += data;
          return;
        }
        if (dropDepth > 0) return;
        const letters = lettersOf(data);
        addText(page, data, letters);
        content.addLetters(letters, page.links > 0);
      },
      onclosetag(name) {
        guard.close();
        if (content.innermostMarksContent()) endBlock(page);
        if (name === "title") inTitle = false;
        if (dropDepth === 0) closeTag(page, name);
        else if (!voidTags.has(name)) dropDepth -= 1;
        content.close();
      },
    },
    { decodeEntities: true, lowerCaseTags: true },
  );
  parser.end(source);
  endRow(page);
  endBlock(page);

  const blocks = content.blocks();
  const firstHeading = blocks.find((block) => block.kind === "heading" && block.depth === 1);
  const title = firstHeading?.kind === "heading" ? firstHeading.text : oneLine(pageTitle);
  return { title: title === "" ? null : title, blocks };
}
