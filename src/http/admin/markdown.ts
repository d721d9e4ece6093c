import { Type } from "typebox";
import type { Block } from "#channels/text/markdown.ts";
import { safeTree } from "#channels/text/markdown.ts";
import { adminResponses } from "#http/admin/schemas.ts";
import type { App } from "#http/app-type.ts";
import * as schemas from "#http/v1/schemas.ts";

const parseSchema = {
  tags: ["Administration"],
  operationId: "parseMarkdown",
  summary: "Parse Markdown for a preview",
  description: "Returns blocks that cannot run anything: links have a scheme from a list, and HTML is text.",
  body: Type.Object({ text: Type.String({ maxLength: 200_000 }) }, { title: "MarkdownText" }),
  response: adminResponses(
    {
      200: Type.Object(
        { blocks: Type.Array(Type.Unsafe<Block>({ type: "object", additionalProperties: true })) },
        { title: "MarkdownBlocks" },
      ),
    },
    schemas.withBody,
  ),
};

/** Previews of texts that administrators write. */
export function markdownRoute(app: App): void {
  app.post("/markdown", { config: { least: "viewer" }, schema: parseSchema }, async ({ body: { text } }) => ({
    blocks: partsOf(text).flatMap((part) => safeTree(part)),
  }));
}

const partCharactersMax = 4_000;
const partLinesMax = 300;

/** Parts between empty lines: a longer text would be shown as it is. A code block in such a text may be cut. */
function partsOf(text: string): readonly string[] {
  if (text.length <= partCharactersMax) return [text];
  const parts: string[] = [];
  let open: string[] = [];
  let characters = 0;
  let lines = 0;
  for (const paragraph of text.split(/\n[ \t]*\n/u)) {
    const count = paragraph.split("\n").length + 1;
    if (open.length > 0 && (characters + paragraph.length > partCharactersMax || lines + count > partLinesMax)) {
      parts.push(open.join("\n\n"));
      open = [];
      characters = 0;
      lines = 0;
    }
    open.push(paragraph);
    characters += paragraph.length;
    lines += count;
  }
  return [...parts, open.join("\n\n")];
}
