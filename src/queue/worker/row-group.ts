import type { OutboxRow } from "#database/queries/outbox.ts";
import type { Work, WorkDeclaration } from "#database/work.ts";
import type { WorkTable } from "#queue/work-table.ts";
import { LeftWork } from "./given-up.ts";

/** Rows of one lane that are run together. */
export interface RowGroup {
  readonly declaration: WorkDeclaration;
  readonly rows: readonly Work[];
}

/** Takes the rows that one run gets from the front of `rest`, which begins with `first`. */
export function groupOf(works: WorkTable, first: OutboxRow, rest: readonly OutboxRow[]): RowGroup | LeftWork {
  const { kind } = first;
  const declaration = works.get(kind);
  const work = works.read(first);
  if (declaration === undefined) {
    // The payload is readable, so the version is right and another process runs the kind.
    if (work !== undefined) return new LeftWork("elsewhere", `this one does no work of kind ${kind}`);
    return new LeftWork("newer", `this program does no work of kind ${kind}`);
  }
  if (work === undefined) return new LeftWork("newer", `this program cannot read what is to be done of kind ${kind}`);
  const rows: Work[] = [work];
  for (const row of declaration.batch === true ? rest.slice(1) : []) {
    const next = row.kind === kind ? works.read(row) : undefined;
    if (next === undefined) break;
    rows.push(next);
  }
  return { declaration, rows };
}
