import type { DatabaseSync } from "node:sqlite";
import type { Word } from "#language/words/terms.ts";
import type { Vocabulary } from "#language/words/spelling.ts";
import { isSpelt, partMin } from "#language/words/spelling.ts";
import type { PassageWords } from "../passage-words.ts";

/** Limit of words per workspace. The common words come first; further words are mostly codes and file names. */
const wordsMax = 200_000;

/** The state of a document in the index; a different version or audience means that it changed. */
export interface IndexedDocument {
  readonly id: string;
  readonly version: number;
  readonly audience: string;
}

export interface DocumentChange extends IndexedDocument {
  readonly chunks: readonly {
    readonly id: string;
    readonly position: number;
    readonly title: string;
    readonly text: string;
    readonly url: string | null;
  }[];
}

interface PreparedDocument extends DocumentChange {
  readonly chunks: readonly (DocumentChange["chunks"][number] & PassageWords)[];
}

/** Writes documents into the tables of one workspace, within a transaction. */
export function createDocumentWriter(database: DatabaseSync, n: number, vocabulary: Vocabulary) {
  const insertDocument = database.prepare(`insert into documents_${n} values (?, ?, ?)`);
  const insertChunk = database.prepare(
    `insert into chunks_${n} (id, document_id, position, title, text, url, terms) values (?, ?, ?, ?, ?, ?, ?)`,
  );
  const insertTerms = database.prepare(`insert into terms_${n} (rowid, title, body) values (?, ?, ?)`);
  const insertWord = database.prepare(`insert or ignore into words_${n} (word, term) values (?, ?)`);
  const grow = database.prepare(`update size_${n} set chunks = chunks + ?, terms = terms + ?`);
  const added = new Set<string>();

  function addWord({ word, term }: Word): void {
    if (vocabulary.size + added.size >= wordsMax) return;
    if (added.has(word) || vocabulary.has(word) || !isSpelt(word, partMin)) return;
    insertWord.run(word, term);
    added.add(word);
  }

  return {
    replace({ id, version, audience, chunks }: PreparedDocument): void {
      removeDocument(database, n, id);
      insertDocument.run(id, version, audience);
      let terms = 0;
      for (const { id: chunkId, position, title, text, url, titleWords, bodyWords } of chunks) {
        const count = titleWords.length + bodyWords.length;
        const { lastInsertRowid } = insertChunk.run(chunkId, id, position, title, text, url, count);
        insertTerms.run(lastInsertRowid, termsOf(titleWords), termsOf(bodyWords));
        for (const word of titleWords) addWord(word);
        for (const word of bodyWords) addWord(word);
        terms += count;
      }
      grow.run(chunks.length, terms);
    },
  };
}

const termsOf = (words: readonly Word[]): string => words.map(({ term }) => term).join(" ");

export function removeDocument(database: DatabaseSync, n: number, id: string): void {
  database.prepare(`delete from terms_${n} where rowid in (select row from chunks_${n} where document_id = ?)`).run(id);
  database
    .prepare(`update size_${n} set chunks = chunks - (select count(*) from chunks_${n} where document_id = :id),
      terms = terms - (select coalesce(sum(terms), 0) from chunks_${n} where document_id = :id)`)
    .run({ id });
  database.prepare(`delete from chunks_${n} where document_id = ?`).run(id);
  database.prepare(`delete from documents_${n} where id = ?`).run(id);
}

/** Removes words that no passage has any more, so that no misspelling is corrected to them. */
export function removeUnusedWords(database: DatabaseSync, n: number): void {
  const { changes } = database
    .prepare(`delete from words_${n} where term not in (select term from frequency_${n})`)
    .run();
  if (Number(changes) > 0) database.prepare(`update size_${n} set epoch = epoch + 1`).run();
}
