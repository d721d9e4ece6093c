import type { GroupCommitOptions } from "#database/group-commit.ts";
import { createGroupCommit as create } from "./counted-commits.ts";

/** A transaction for each write. */
export function createGroupCommit(db: Parameters<typeof create>[0], options: GroupCommitOptions) {
  return create(db, { ...options, groupMax: 1 });
}
