import { Parser } from "htmlparser2";
import { createDepthGuard } from "#knowledge/documents/blocks.ts";

/** Says of each table of a page, in the order of their first tags, whether it lays out the page. */
export interface Layouts {
  next(): boolean;
}

interface OpenTable {
  readonly index: number;
  rows: number;
  paragraphs: number;
}

/** A table of few rows whose cell has this many paragraphs lays out the page. */
const rowsMax = 3;
const paragraphsMin = 3;

/**
 * Pages of the time before style sheets are tables: their cells hold other tables, or whole texts. That is known only at
 * the end of a table, so it is found out before the page is read.
 */
export function layoutsOf(source: string): Layouts {
  const isLayout: boolean[] = [];
  const open: OpenTable[] = [];
  const guard = createDepthGuard();
  let longest = 0;
  const parser = new Parser(
    {
      onopentag(name) {
        guard.open();
        const table = open.at(-1);
        if (name === "table") {
          if (table !== undefined) isLayout[table.index] = true;
          open.push({ index: isLayout.length, rows: 0, paragraphs: 0 });
          isLayout.push(false);
          longest = 0;
        } else if (table === undefined) return;
        else if (name === "tr") table.rows += 1;
        else if (name === "td") longest = 0;
        else if (name === "p") {
          longest += 1;
          table.paragraphs = Math.max(table.paragraphs, longest);
        }
      },
      onclosetag(name) {
        guard.close();
        if (name !== "table") return;
        const table = open.pop();
        if (table !== undefined && table.rows <= rowsMax && table.paragraphs >= paragraphsMin) {
          isLayout[table.index] = true;
        }
      },
    },
    { lowerCaseTags: true },
  );
  if (/<table/i.test(source)) parser.end(source);
  let index = -1;
  return {
    next() {
      index += 1;
      return isLayout[index] === true;
    },
  };
}
