// What a collection of the imitated server holds, and the words in it.

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

/** Where a word stands in a field of each document. */
export type Postings = ReadonlyMap<FakeDocument, readonly number[]>;

export interface FakeCollection {
  readonly name: string;
  readonly fields: readonly FakeField[];
  readonly symbols: readonly string[];
  readonly types: ReadonlyMap<string, string>;
  readonly documents: ReadonlyMap<string, FakeDocument>;
  put(document: FakeDocument): void;
  remove(id: string): void;
  /** In the order in which they came: the newest is the first among equals. */
  numberOf(document: FakeDocument): number;
  tokens(text: string): string[];
  /** How many words the field has. */
  lengthOf(document: FakeDocument, field: string): number;
  postings(field: string, token: string): Postings | undefined;
  /** Every word of the field. */
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

  /** Letters and digits of ASCII and the symbols to index are kept; white space and separators part; all else is dropped. */
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
