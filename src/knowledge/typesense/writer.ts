import { setImmediate as turn } from "node:timers/promises";
import type { Log } from "#runtime/log.ts";
import type { Store } from "#database/contract.ts";
import type { Typesense } from "#database/search/typesense/client.ts";
import { TypesenseAway } from "#database/search/typesense/client.ts";
import { createCollection, deleteDocuments, importDocuments } from "#database/search/typesense/collections.ts";
import { stemsOf, withWords } from "#knowledge/index/passage-words.ts";
import type { PassageDocument } from "./passage-documents.ts";
import { countPassages, markDocument, ofDocuments, passageDocument, passagesSchema } from "./passage-documents.ts";
import { createWrittenWords } from "./written-words.ts";

export const documentsAtOnce = 50;
/** A question waits for so many new passages, and not at all for more. */
const waitedChunksMax = 500;
const goneAtOnce = 200;

/** Brings a collection to what the database holds, and notes there what it has. Only one may be at work on a workspace. */
export interface TypesenseWriter {
  create(collection: string): Promise<void>;
  /** False: after so many steps there is more to do. */
  write(workspaceId: string, collection: string, version: number, stepsMax: number): Promise<boolean>;
  /** Notes in the collection that all writes up to this version are done. */
  mark(collection: string, version: number): Promise<void>;
  /** Whether so little is missing that a question can wait for it. */
  isNearly(workspaceId: string, collection: string): Promise<boolean>;
  /** What the collection has, as it is noted. */
  sums(collection: string): Promise<{ readonly chunks: number; readonly terms: number }>;
  /** Whether the server says that it has so many. */
  holds(collection: string, passages: number): Promise<boolean>;
}

interface Changed {
  readonly id: string;
  readonly version: number;
  readonly audience: string;
  readonly chunks: number;
}

export function createTypesenseWriter({
  store,
  typesense,
  log,
}: {
  readonly store: Store;
  readonly typesense: Typesense;
  readonly log: Log;
}): TypesenseWriter {
  const words = createWrittenWords();

  /** Documents whose newest version is not in the collection. */
  function changedIn(workspaceId: string, collection: string): Promise<Changed[]> {
    return store.read
      .selectFrom("documents")
      .leftJoin("knowledge_written as written", (join) =>
        join.onRef("written.document_id", "=", "documents.id").on("written.collection", "=", collection),
      )
      .select(["documents.id", "documents.indexed_version as version", "documents.audience", "documents.chunks"])
      .where("documents.workspace_id", "=", workspaceId)
      .where("documents.indexed_version", ">", 0)
      .where((eb) =>
        eb.or([
          eb("written.version", "is", null),
          eb("written.version", "<>", eb.ref("documents.indexed_version")),
          eb("written.audience", "<>", eb.ref("documents.audience")),
        ]),
      )
      .orderBy("documents.id")
      .limit(documentsAtOnce)
      .execute();
  }

  async function goneIn(collection: string): Promise<string[]> {
    const rows = await store.read
      .selectFrom("knowledge_written as written")
      .leftJoin("documents", "documents.id", "written.document_id")
      .select("written.document_id")
      .where("written.collection", "=", collection)
      .where("documents.id", "is", null)
      .limit(goneAtOnce)
      .execute();
    return rows.map((row) => row.document_id);
  }

  async function put(collection: string, changed: readonly Changed[], version: number): Promise<void> {
    const ids = changed.map(({ id }) => id);
    const rows = await store.read
      .selectFrom("chunks")
      .select(["id", "document_id", "version", "title", "text"])
      .where("document_id", "in", ids)
      .orderBy("document_id")
      .orderBy("position")
      .execute();
    const passages: PassageDocument[] = [];
    const wanted = words.begin(collection);
    const counts = new Map(ids.map((id) => [id, { chunks: 0, terms: 0 }]));
    const ownerOf = new Map<string, string>();
    for (const document of changed) {
      // To make the terms of many passages takes a while, and others have their turn between.
      await turn();
      // Where the document has been replaced since, this version has none; the workspace's version has risen then.
      const own = rows.filter((row) => row.document_id === document.id && row.version === document.version);
      for (const row of withWords(own)) {
        const made = passageDocument(
          {
            id: row.id,
            documentId: document.id,
            audience: JSON.parse(document.audience) as readonly string[],
            titleTerms: stemsOf(row.titleWords),
            bodyTerms: stemsOf(row.bodyWords),
          },
          version,
        );
        passages.push(made);
        for (const word of [...row.titleWords, ...row.bodyWords]) wanted.want(word);
        ownerOf.set(made.id, document.id);
        count(document.id, 1, made.length);
      }
    }
    function count(documentId: string, chunks: number, terms: number): void {
      const sum = counts.get(documentId);
      if (sum === undefined) return;
      sum.chunks += chunks;
      sum.terms += terms;
    }
    await importDocuments(typesense, collection, passages, (passage, refused) => {
      count(ownerOf.get(passage.id) ?? "", -1, -passage.length);
      log.error({ ...refused, passage: passage.id }, "typesense: passage refused, answers miss it");
    });
    await importDocuments(typesense, collection, wanted.documents(version), (word, refused) => {
      log.warn({ ...refused, word: word.id }, "typesense: word refused, its misspellings are not found");
    });
    wanted.done();
    // After the new ones, so that there is never nothing.
    await deleteDocuments(typesense, collection, ofDocuments(ids, version));
    await store.write(async (tx) => {
      await tx
        .deleteFrom("knowledge_written")
        .where("collection", "=", collection)
        .where("document_id", "in", ids)
        .execute();
      await tx
        .insertInto("knowledge_written")
        .values(
          changed.map(({ id, version: of, audience }) => ({
            collection,
            document_id: id,
            version: of,
            audience,
            chunks: counts.get(id)?.chunks ?? 0,
            terms: counts.get(id)?.terms ?? 0,
          })),
        )
        .execute();
    });
  }

  async function remove(collection: string, ids: readonly string[]): Promise<void> {
    await deleteDocuments(typesense, collection, ofDocuments(ids));
    await store.write((tx) =>
      tx.deleteFrom("knowledge_written").where("collection", "=", collection).where("document_id", "in", ids).execute(),
    );
  }

  return {
    create: (collection) => createCollection(typesense, passagesSchema(collection)),
    async write(workspaceId, collection, version, stepsMax) {
      for (let step = 0; step < stepsMax; step += 1) {
        const changed = await changedIn(workspaceId, collection);
        const gone = await goneIn(collection);
        if (changed.length > 0) await put(collection, changed, version);
        if (gone.length > 0) await remove(collection, gone);
        if (changed.length < documentsAtOnce && gone.length < goneAtOnce) return true;
      }
      return false;
    },
    mark: (collection, version) =>
      importDocuments(typesense, collection, [markDocument(version)], (_, { error }) => {
        throw new TypesenseAway(`it refused the mark of a collection: ${error}`);
      }),
    async isNearly(workspaceId, collection) {
      const changed = await changedIn(workspaceId, collection);
      const chunks = changed.reduce((sum, each) => sum + each.chunks, 0);
      return changed.length < documentsAtOnce && chunks <= waitedChunksMax;
    },
    async sums(collection) {
      const row = await store.read
        .selectFrom("knowledge_written")
        .select((eb) => [eb.fn.sum("chunks").as("chunks"), eb.fn.sum("terms").as("terms")])
        .where("collection", "=", collection)
        .executeTakeFirstOrThrow();
      return { chunks: Number(row.chunks ?? 0), terms: Number(row.terms ?? 0) };
    },
    holds: async (collection, passages) => (await countPassages(typesense, collection)) === passages,
  };
}
