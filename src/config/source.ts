import { LineCounter, parseDocument } from "yaml";
import type { Document } from "yaml";
import type { FileErrorLine } from "./errors.ts";
import { FileError } from "./errors.ts";
import { offsetOf } from "./positions.ts";

/** The parsed file, which collects the errors found in it. */
export interface ConfigSource {
  readonly document: Document;
  readonly errors: readonly FileErrorLine[];
  lineOf(offset: number): number;
  /** The line of the setting at `path`; of its parent if it is missing. */
  errorAt(path: readonly string[], message: string): FileErrorLine;
  fileErrorAt(path: readonly string[], message: string): FileError;
  report(...errors: readonly FileErrorLine[]): void;
  /** Reports the error that `work` throws, and returns `instead`. */
  attempt<T>(work: () => T, instead: T): T;
}

export function createConfigSource(file: string, content: string): ConfigSource {
  const lines = new LineCounter();
  const document = parseDocument(content, { lineCounter: lines, uniqueKeys: true });
  const errors: FileErrorLine[] = [];
  const lineOf = (offset: number): number => lines.linePos(offset).line;
  const errorAt = (path: readonly string[], message: string): FileErrorLine => ({
    line: lineOf(offsetOf(document, path)),
    message,
  });
  for (const { pos, message } of document.errors) {
    errors.push({ line: lineOf(pos[0]), message: message.split("\n")[0] ?? "this is not YAML" });
  }
  return {
    document,
    errors,
    lineOf,
    errorAt,
    fileErrorAt: (path, message) => new FileError(file, [errorAt(path, message)]),
    report: (...found) => void errors.push(...found),
    attempt(work, instead) {
      try {
        return work();
      } catch (error) {
        if (!(error instanceof FileError)) throw error;
        errors.push(...error.errors);
        return instead;
      }
    },
  };
}
