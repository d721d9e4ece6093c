import type { Word } from "#language/terms.ts";
import type { WordDocument } from "./word-documents.ts";
import { isHeldWord, wordDocument } from "./word-documents.ts";

/** As with the embedded index: beyond it are codes and names of files. */
const wordsMax = 200_000;
const collectionsMax = 4;

/** Which words this process has written into which collection, so that not every passage brings all of its words again. */
export interface WrittenWords {
  begin(collection: string): WantedWords;
}

export interface WantedWords {
  want(word: Word): void;
  /** Those that are not known to be there. */
  documents(version: number): WordDocument[];
  /** They are there now. */
  done(): void;
}

export function createWrittenWords(): WrittenWords {
  const held = new Map<string, Set<string>>();
  return {
    begin(collection) {
      const written = held.get(collection) ?? new Set<string>();
      held.delete(collection);
      held.set(collection, written);
      const [oldest] = held.keys();
      if (held.size > collectionsMax && oldest !== undefined) held.delete(oldest);
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
