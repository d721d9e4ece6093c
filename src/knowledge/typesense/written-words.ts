import type { Word } from "#language/words/terms.ts";
import type { WordDocument } from "./word-documents.ts";
import { isHeldWord, wordDocument } from "./word-documents.ts";

/** The same limit as in the embedded index; further words are mostly codes and file names. */
const wordsMax = 200_000;
const collectionsMax = 4;

/** Caches which words this process has written, so that they are not written again with every passage. */
export interface WrittenWords {
  begin(collection: string): WantedWords;
}

export interface WantedWords {
  want(word: Word): void;
  /** Returns the words that are not known to be written. */
  documents(version: number): WordDocument[];
  /** Called once the documents are written. */
  done(): void;
}

export function createWrittenWords(): WrittenWords {
  const byCollection = new Map<string, Set<string>>();
  return {
    begin(collection) {
      const written = byCollection.get(collection) ?? new Set<string>();
      byCollection.delete(collection);
      byCollection.set(collection, written);
      const [oldest] = byCollection.keys();
      if (byCollection.size > collectionsMax && oldest !== undefined) byCollection.delete(oldest);
      const wanted = new Map<string, Word>();
      return {
        want(each) {
          if (written.size + wanted.size >= wordsMax || written.has(each.word) || !isHeldWord(each.word)) return;
          if (!wanted.has(each.word)) wanted.set(each.word, each);
        },
        documents: (version) => [...wanted.values()].map((each) => wordDocument(each, version)),
        done() {
          for (const word of wanted.keys()) written.add(word);
        },
      };
    },
  };
}
