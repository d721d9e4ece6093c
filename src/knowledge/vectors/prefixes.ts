import type { Embedder } from "#models/embedding.ts";

export type PrefixName = Exclude<NonNullable<Embedder["server"]>["prefixes"], "auto">;

interface Prefixes {
  readonly question: string;
  readonly passage: string;
}

/** The words that families of models expect before a text. Without them, they separate texts less well. */
export const prefixesOf: Readonly<Record<PrefixName, Prefixes>> = {
  none: { question: "", passage: "" },
  e5: { question: "query: ", passage: "passage: " },
  nomic: { question: "search_query: ", passage: "search_document: " },
  instruct: {
    question: "Instruct: Given a question of a customer, retrieve passages that answer it\nQuery: ",
    passage: "",
  },
};

export const prefixNames = Object.keys(prefixesOf) as readonly PrefixName[];
