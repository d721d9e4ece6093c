import { newId } from "#domain/ids.ts";
import type { OpenStore } from "#database/open.ts";

const chunksOfDocument = 20;
const insertedMax = 500;

/** Word frequencies are as uneven as those of a language's content words: the first is in one passage of seven. */
export function createWriter(seed: number): { words(count: number): string } {
  let state = seed;
  const random = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  const syllables = "ka lo mi ren tas vo du pel gar nis ter bo fla qui sem or hul wex yam jit zor cen pra dol".split(
    " ",
  );
  const vocabulary = Array.from({ length: 30_000 }, (_, rank) =>
    [rank % 24, Math.floor(rank / 24) % 24, Math.floor(rank / 576) % 24, Math.floor(rank / 13_824)]
      .map((each) => syllables[each] ?? "")
      .join(""),
  );
  return {
    words: (count) =>
      Array.from(
        { length: count },
        () => vocabulary[Math.floor(100 * (vocabulary.length / 100) ** random())] ?? "",
      ).join(" "),
  };
}

/** Inserts `chunks` passages with 84 words and a title each, the same in every run. */
export async function fill(store: OpenStore, workspaceId: string, chunks: number): Promise<void> {
  const writer = createWriter(7);
  const now = Date.now();
  for (let start = 0; start < chunks; start += insertedMax) {
    const documents = Array.from({ length: Math.ceil(Math.min(insertedMax, chunks - start) / chunksOfDocument) }, () =>
      newId("doc", now),
    );
    await store.write(async (tx) => {
      for (const id of documents) {
        await tx
          .insertInto("documents")
          .values({
            id,
            workspace_id: workspaceId,
            source: "upload",
            origin_key: id,
            content_hash: id,
            media_type: "text/markdown",
            url: null,
            audience: "[]",
            title: id,
            body_id: null,
            parent_id: null,
            status: "indexed",
            error: null,
            chunks: chunksOfDocument,
            pages: 1,
            indexed_version: 1,
            created_at: now,
            indexed_at: now,
          })
          .execute();
        const rows = Array.from({ length: chunksOfDocument }, (_, position) => ({
          id: newId("chk", now),
          workspace_id: workspaceId,
          document_id: id,
          version: 1,
          position,
          title: `${writer.words(3)} › ${writer.words(3)}`,
          text: Array.from({ length: 6 }, () => `The ${writer.words(14)}.`).join(" "),
          url: null,
        }));
        await tx.insertInto("chunks").values(rows).execute();
      }
      await tx
        .updateTable("workspaces")
        .set((eb) => ({ knowledge_version: eb("knowledge_version", "+", 1) }))
        .where("id", "=", workspaceId)
        .execute();
    });
  }
}

/** Questions with five words of one passage each, from passages spread evenly over all. */
export async function questionsOn(store: OpenStore, workspaceId: string, count: number): Promise<readonly string[]> {
  const rows = await store.read
    .selectFrom("chunks")
    .select("text")
    .where("workspace_id", "=", workspaceId)
    .orderBy("text")
    .execute();
  return Array.from({ length: count }, (_, i) => {
    const text = rows[Math.floor((i * rows.length) / count)]?.text ?? "";
    const [, a, b, c, d, e] = text.split(" ");
    return `How do I ${a} ${b} when the ${c} ${d} ${e}?`;
  });
}
