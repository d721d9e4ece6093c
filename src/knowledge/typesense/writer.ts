import { setImmediate as turn } from "node:timers/promises";
import type { Log } from "#runtime/log.ts";
import type { Reader, Store, Tx } from "#database/contract.ts";
import type { Typesense } from "#database/search/typesense/client.ts";
import { TypesenseAway } from "#database/search/typesense/client.ts";
import { createCollection, deleteDocuments, importDocuments } from "#database/search/typesense/collections.ts";
import { stemsOf, withWords } from "#knowledge/index/passage-words.ts";
import type { PassageDocument } from "./passage-documents.ts";
import { countPassages, markDocument, ofDocuments, passageDocument, passagesSchema } from "./passage-documents.ts";
import { createWrittenWords } from "./written-words.ts";

export const documentsAtOnce = 50;
/** A search waits for at most so many new passages. */
const waitedChunksMax = 500;
const removedAtOnce = 200;

/** Writes the database's present state into a collection, and records what it has. A workspace has one writer at a time. */
export interface TypesenseWriter {
  create(collection: string): Promise<void>;
  /** False: after this many steps there is more to do. */
  write(workspaceId: string, collection: string, version: number, stepsMax: number): Promise<boolean>;
  /** Marks the collection as having all writes up to this version. */
  mark(collection: string, version: number): Promise<void>;
  /** Whether so little is missing that a search can wait for it. */
  isNearly(workspaceId: string, collection: string): Promise<boolean>;
  /** Sums over the recorded documents of the collection. */
  sums(collection: string): Promise<Sums>;
  /** Whether the server reports this number of passages. */
  holds(collection: string, passages: number): Promise<boolean>;
}

interface Sums {
  readonly chunks: number;
  readonly terms: number;
}

interface ChangedDocument {
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
  const writtenWords = createWrittenWords();

  async function put(collection: string, changed: readonly ChangedDocument[], version: number): Promise<void> {
    const ids = changed.map(({ id }) => id);
    const rows = await chunksOf(store.read, ids);
    const passages: PassageDocument[] = [];
    const words = writtenWords.begin(collection);
    const sums = new Map(ids.map((id) => [id, { chunks: 0, terms: 0 }]));
    const documentOf = new Map<string, string>();
    const count = (documentId: string, chunks: number, terms: number): void => {
      const sum = sums.get(documentId);
      if (sum === undefined) return;
      sum.chunks += chunks;
      sum.terms += terms;
    };
    for (const document of changed) {
      // Stemming many passages takes long, so other work runs in between.
      await turn();
      // A document that was replaced meanwhile has no rows of this version; the next work writes it.
      const own = rows.filter((row) => row.document_id === document.id && row.version === document.version);
      const audience = JSON.parse(document.audience) as readonly string[];
      for (const { id, titleWords, bodyWords } of withWords(own)) {
        const terms = { titleTerms: stemsOf(titleWords), bodyTerms: stemsOf(bodyWords) };
        const passage = passageDocument({ id, documentId: document.id, audience, ...terms }, version);
        passages.push(passage);
        for (const word of [...titleWords, ...bodyWords]) words.want(word);
        documentOf.set(passage.id, document.id);
        count(document.id, 1, passage.length);
      }
    }
    await importDocuments(typesense, collection, passages, (passage, refused) => {
      count(documentOf.get(passage.id) ?? "", -1, -passage.length);
      log.error({ ...refused, passage: passage.id }, "typesense: passage refused, answers miss it");
    });
    await importDocuments(typesense, collection, words.documents(version), (word, refused) => {
      log.warn({ ...refused, word: word.id }, "typesense: word refused, its misspellings are not found");
    });
    words.done();
    // Deleted after the import, so that every document always has passages.
    await deleteDocuments(typesense, collection, ofDocuments(ids, version));
    const written = changed.map(({ id, version: documentVersion, audience }) => ({
      collection,
      document_id: id,
      version: documentVersion,
      audience,
      ...(sums.get(id) ?? { chunks: 0, terms: 0 }),
    }));
    await store.write(async (tx) => {
      await forgetWritten(tx, collection, ids);
      await tx.insertInto("knowledge_written").values(written).execute();
    });
  }

  async function remove(collection: string, ids: readonly string[]): Promise<void> {
    await deleteDocuments(typesense, collection, ofDocuments(ids));
    await store.write((tx) => forgetWritten(tx, collection, ids));
  }

  return {
    create: (collection) => createCollection(typesense, passagesSchema(collection)),
    async write(workspaceId, collection, version, stepsMax) {
      for (let step = 0; step < stepsMax; step += 1) {
        const changed = await changedDocuments(store.read, workspaceId, collection);
        const removed = await removedDocuments(store.read, collection);
        if (changed.length > 0) await put(collection, changed, version);
        if (removed.length > 0) await remove(collection, removed);
        if (changed.length < documentsAtOnce && removed.length < removedAtOnce) return true;
      }
      return false;
    },
    mark: (collection, version) =>
      importDocuments(typesense, collection, [markDocument(version)], (_, { error }) => {
        throw new TypesenseAway(`it refused the mark of a collection: ${error}`);
      }),
    async isNearly(workspaceId, collection) {
      const changed = await changedDocuments(store.read, workspaceId, collection);
      const chunks = changed.reduce((sum, each) => sum + each.chunks, 0);
      return changed.length < documentsAtOnce && chunks <= waitedChunksMax;
    },
    sums: (collection) => sumsOf(store.read, collection),
    holds: async (collection, passages) => (await countPassages(typesense, collection)) === passages,
  };
}

/** Documents whose latest version or audience is not in the collection. */
function changedDocuments(read: Reader, workspaceId: string, collection: string): Promise<ChangedDocument[]> {
  return read
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

/** Ids of documents in the collection that were removed. */
async function removedDocuments(read: Reader, collection: string): Promise<string[]> {
  const rows = await read
    .selectFrom("knowledge_written as written")
    .leftJoin("documents", "documents.id", "written.document_id")
    .select("written.document_id")
    .where("written.collection", "=", collection)
    .where("documents.id", "is", null)
    .limit(removedAtOnce)
    .execute();
  return rows.map((row) => row.document_id);
}

const chunksOf = (read: Reader, documentIds: readonly string[]) =>
  read
    .selectFrom("chunks")
    .select(["id", "document_id", "version", "title", "text"])
    .where("document_id", "in", documentIds)
    .orderBy("document_id")
    .orderBy("position")
    .execute();

async function sumsOf(read: Reader, collection: string): Promise<Sums> {
  const row = await read
    .selectFrom("knowledge_written")
    .select((eb) => [eb.fn.sum("chunks").as("chunks"), eb.fn.sum("terms").as("terms")])
    .where("collection", "=", collection)
    .executeTakeFirstOrThrow();
  return { chunks: Number(row.chunks ?? 0), terms: Number(row.terms ?? 0) };
}

const forgetWritten = (tx: Tx, collection: string, ids: readonly string[]) =>
  tx.deleteFrom("knowledge_written").where("collection", "=", collection).where("document_id", "in", ids).execute();
