import type { LeasedRow, OutboxRow } from "#database/queries/outbox.ts";
import type { Work, WorkDeclaration } from "#database/work.ts";
import type { WorkTable } from "#queue/work-table.ts";

/** Rows of one lane that are run together. */
export interface RowGroup {
  readonly declaration: WorkDeclaration;
  readonly rows: readonly Work[];
}

const leftBecause = {
  newer: "left to a newer version",
  elsewhere: "left to a process that is set up for it",
} as const;

/** This process cannot run the row. */
export class LeftWork extends Error {
  constructor(reason: keyof typeof leftBecause, why: string) {
    super(`${leftBecause[reason]}: ${why}`);
    this.name = "LeftWork";
  }
}

/**
 * Whether the last try was by a process that could not do this work. Older versions stored the same prefixes of the error,
 * so these must not change.
 */
export const wasLeft = ({ last_error: error }: LeasedRow): boolean =>
  error !== null && Object.values(leftBecause).some((because) => error.startsWith(because));

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
