import type { DocumentChange } from "../file/write-documents.ts";
import type { IndexFile } from "../file/index-file.ts";
import type { IndexSearch, SearchResult } from "../contract.ts";

/** A call to the index file, in this thread or another. */
export type IndexCall =
  | { readonly kind: "search"; readonly request: IndexSearch }
  | {
      readonly kind: "begin";
      readonly workspaceId: string;
      readonly view: number;
      readonly gone: readonly string[];
      readonly audiences: readonly { readonly id: string; readonly audience: string }[];
    }
  | {
      readonly kind: "replace";
      readonly workspaceId: string;
      readonly view: number;
      readonly changes: readonly DocumentChange[];
    }
  | { readonly kind: "finish"; readonly workspaceId: string; readonly view: number }
  | { readonly kind: "drop"; readonly workspaceId: string };

/** The result of each {@link IndexCall}. False: the file already has a newer version of the knowledge base. */
export interface IndexResults {
  readonly search: SearchResult;
  readonly begin: boolean;
  readonly replace: boolean;
  readonly finish: boolean;
  readonly drop: undefined;
}

export function runCall<C extends IndexCall>(file: IndexFile, call: C): IndexResults[C["kind"]];
export function runCall(file: IndexFile, call: IndexCall): IndexResults[IndexCall["kind"]] {
  switch (call.kind) {
    case "search":
      return file.search(call.request);
    case "begin":
      return file.begin(call.workspaceId, call.view, call.gone, call.audiences);
    case "replace":
      return file.replace(call.workspaceId, call.view, call.changes);
    case "finish":
      return file.finish(call.workspaceId, call.view);
    case "drop":
      file.drop(call.workspaceId);
      return undefined;
  }
}
