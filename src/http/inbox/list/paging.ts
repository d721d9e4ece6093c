import { Problem } from "#domain/problem.ts";

/** Conversations on a page of the list. */
export const pageSize = 40;

export const invalidCursor = (): Problem => new Problem("invalid_cursor", "cursor must be a nextCursor of this list.");
