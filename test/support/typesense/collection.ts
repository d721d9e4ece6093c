// A collection of the imitated server, with an index of its words.

export type FakeValue = string | number | readonly string[];

export type FakeDocument = Readonly<Record<string, FakeValue>> & { readonly id: string };

export interface FakeField {
  readonly name: string;
  readonly type: string;
  readonly optional?: boolean;
  readonly index?: boolean;
}

export interface FakeSchema {
  readonly name: string;
  readonly fields: readonly FakeField[];
  readonly symbols_to_index?: readonly string[];
  readonly token_separators?: readonly string[];
}

/** The positions of a word in a field, by document. */
export type Postings = ReadonlyMap<FakeDocument, readonly number[]>;

export interface FakeCollection {
  readonly name: string;
  readonly fields: readonly FakeField[];
  readonly symbols: readonly string[];
  readonly types: ReadonlyMap<string, string>;
  readonly documents: ReadonlyMap<string, FakeDocument>;
  put(document: FakeDocument): void;
  remove(id: string): void;
  /** The number of the document in insertion order; of equal scores, the newest comes first. */
  numberOf(document: FakeDocument): number;
  tokens(text: string): string[];
  /** The number of words in the field. */
  lengthOf(document: FakeDocument, field: string): number;
  postings(field: string, token: string): Postings | undefined;
  /** All words of the field. */
  vocabulary(field: string): Iterable<string>;
}

export function createFakeCollection(schema: FakeSchema): FakeCollection {
  const documents = new Map<string, FakeDocument>();
  const numbers = new Map<FakeDocument, number>();
  const escaped = (signs: readonly string[] = []): string => signs.map((sign) => `\\${sign}`).join("");
  const separating = new RegExp(`[\\s${escaped(schema.token_separators)}]+`);
  const dropped = new RegExp(`[^a-z0-9${escaped(schema.symbols_to_index)}]+`, "g");
  const indexed = schema.fields.filter(({ index }) => index !== false);
  const texts = indexed.filter(({ type }) => type.startsWith("string"));
  const words = new Map(texts.map(({ name }) => [name, new Map<string, Map<FakeDocument, number[]>>()]));
  const lengths = new Map(texts.map(({ name }) => [name, new Map<FakeDocument, number>()]));
  let count = 0;

  /**
   * Keeps ASCII letters and digits and the symbols to index, splits at white space and separators, and drops all else.
   */
  function tokens(text: string): string[] {
    return text
      .toLowerCase()
      .split(separating)
      .map((token) => token.replaceAll(dropped, ""))
      .filter((token) => token !== "");
  }

  const tokensIn = (document: FakeDocument, field: string): string[] =>
    [document[field] ?? []].flat().flatMap((value) => tokens(String(value)));

  function remove(id: string): void {
    const document = documents.get(id);
    if (document === undefined) return;
    documents.delete(id);
    numbers.delete(document);
    for (const [field, held] of words) {
      lengths.get(field)?.delete(document);
      for (const token of new Set(tokensIn(document, field))) {
        const postings = held.get(token);
        postings?.delete(document);
        if (postings?.size === 0) held.delete(token);
      }
    }
  }

  return {
    name: schema.name,
    fields: schema.fields,
    symbols: schema.symbols_to_index ?? [],
    types: new Map([["id", "string"], ...indexed.map(({ name, type }) => [name, type] as const)]),
    documents,
    put(document) {
      remove(document.id);
      documents.set(document.id, document);
      numbers.set(document, (count += 1));
      for (const [field, held] of words) {
        const all = tokensIn(document, field);
        lengths.get(field)?.set(document, all.length);
        for (const [place, token] of all.entries()) {
          const postings = held.get(token) ?? new Map<FakeDocument, number[]>();
          held.set(token, postings);
          const places = postings.get(document);
          if (places === undefined) postings.set(document, [place]);
          else places.push(place);
        }
      }
    },
    remove,
    numberOf: (document) => numbers.get(document) ?? 0,
    tokens,
    lengthOf: (document, field) => lengths.get(field)?.get(document) ?? 0,
    postings: (field, token) => words.get(field)?.get(token),
    vocabulary: (field) => words.get(field)?.keys() ?? [],
  };
}
