import type { GroupCommitOptions } from "#database/group-commit.ts";
import { createGroupCommit as create } from "#database/group-commit.ts";
import { counts } from "./counts.ts";

/** Counts writes and transactions. SQLite sets the flush before each transaction, MySQL takes a mark for each. */
export function createGroupCommit(db: Parameters<typeof create>[0], options: GroupCommitOptions) {
  const { marks, setFlush } = options;
  const group = create(db, {
    ...options,
    ...(marks && {
      marks: {
        ...marks,
        take() {
          counts.transactions += 1;
          return marks.take();
        },
      },
    }),
    ...(setFlush && {
      setFlush(flush: boolean) {
        counts.transactions += 1;
        if (flush) counts.flushes += 1;
        setFlush(flush);
      },
    }),
  });
  const write: typeof group.write = (work, flushed) => {
    counts.writes += 1;
    return group.write(work, flushed);
  };
  return { ...group, write };
}
