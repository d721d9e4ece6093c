import type { OutboxRow } from "#database/queries/outbox.ts";

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
export const wasLeft = ({ last_error: error }: Pick<OutboxRow, "last_error">): boolean =>
  error !== null && Object.values(leftBecause).some((because) => error.startsWith(because));

const notConcluded = "the failure could not be stored: ";

/** The reason of a dead letter whose `onAbandon` failed. */
export const unconcluded = (reason: string): string => `${notConcluded}${reason}`;

/** Whether `onAbandon` of the dead letter's kind, where it has one, has stored the consequences. */
export const wasConcluded = (row: Pick<OutboxRow, "last_error">): boolean =>
  !wasLeft(row) && row.last_error?.startsWith(notConcluded) !== true;
