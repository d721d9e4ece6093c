import type { TSchema } from "typebox";
import { Settings } from "typebox/system";
import { Value } from "typebox/value";
import type { Channel } from "#domain/conversation/message.ts";

export interface FileErrorLine {
  readonly line: number;
  readonly message: string;
}

/** All that is wrong with a configuration file, each with its line. */
export class FileError extends Error {
  readonly file: string;
  readonly mistakes: readonly FileErrorLine[];

  constructor(file: string, mistakes: readonly FileErrorLine[]) {
    const sorted = mistakes.toSorted((a, b) => a.line - b.line);
    const [only] = sorted;
    super(
      sorted.length === 1 && only !== undefined
        ? `${file}, line ${only.line}: ${only.message}`
        : [`${file} has ${sorted.length} mistakes:`, ...sorted.map(listed)].join("\n"),
    );
    this.name = "FileError";
    this.file = file;
    this.mistakes = sorted;
  }
}

const listed = ({ line, message }: FileErrorLine): string => `  line ${line}: ${message}`;

/** A file with mistakes, and the accounts that it declares as far as they can be read. */
export class UnreadableFile extends FileError {
  readonly channels: readonly FileChannel[];

  constructor(file: string, mistakes: readonly FileErrorLine[], channels: readonly FileChannel[] = []) {
    super(file, mistakes);
    this.channels = channels;
  }
}

/** One error of all of them; undefined: there are none. */
export function combineErrors(errors: readonly FileError[]): FileError | undefined {
  const [first] = errors;
  if (first === undefined) return undefined;
  return new FileError(
    first.file,
    errors.flatMap(({ mistakes }) => mistakes),
  );
}

/** What a schema says of a value: one for each setting that is wrong. */
export interface SchemaError {
  readonly path: readonly string[];
  readonly keyword: string;
  /** What it has to be, after the setting's name. */
  readonly message: string;
  /** Names a setting that there is none of; the last of `path` is where it stands. */
  readonly unknown?: string;
  /** A setting that is not there. */
  readonly missing?: string;
}

/** More are no help to anybody. */
const errorsMax = 500;

export function schemaErrors(schema: TSchema, value: unknown): readonly SchemaError[] {
  // A key that does not exist comes with an error of its own value's, which says nothing.
  const errors = allErrors(schema, value).filter(({ keyword }) => keyword !== "boolean");
  // What may be one thing or another is told of by what is wrong with either: the first says it.
  const choices = errors.filter(({ keyword }) => keyword === "anyOf").map(({ instancePath }) => instancePath);
  const isWithin = (path: string, choice: string): boolean => path === choice || path.startsWith(`${choice}/`);
  const said = new Set<string>();
  return errors.flatMap(({ instancePath, keyword, message, params }): readonly SchemaError[] => {
    const choice = choices.find((each) => isWithin(instancePath, each));
    const group = choice ?? `${instancePath} ${instancePath === "" || isOfObject(keyword) ? keyword : ""}`;
    if (said.has(group)) return [];
    said.add(group);
    const path = instancePath.split("/").slice(1);
    const given = params as {
      readonly additionalProperties?: readonly string[];
      readonly requiredProperties?: readonly string[];
    };
    const { additionalProperties: unknown = [], requiredProperties: missing = [] } = given;
    if (unknown.length > 0) return unknown.map((name) => ({ path, keyword, message, unknown: name }));
    if (missing.length > 0) return missing.map((name) => ({ path, keyword, message, missing: name }));
    return [{ path, keyword, message: inWords(keyword, params, message) }];
  });
}

/** What the validator says, where it means nothing to whoever writes a file. */
function inWords(keyword: string, params: object, message: string): string {
  const { allowedValues, type } = params as { readonly allowedValues?: readonly unknown[]; readonly type?: unknown };
  if (allowedValues !== undefined) return `must be one of ${allowedValues.join(", ")}`;
  // A number, or a word such as yes, that stands for itself in YAML.
  if (keyword === "type" && type === "string") return "must be a text: put it in quotes";
  return keyword === "pattern" ? "cannot be right" : message;
}

const isOfObject = (keyword: string): boolean => keyword === "additionalProperties" || keyword === "required";

/** TypeBox stops after a few unless it is told otherwise, for all of the process. */
function allErrors(schema: TSchema, value: unknown) {
  const { maxErrors } = Settings.Get();
  Settings.Set({ maxErrors: errorsMax });
  try {
    return Value.Errors(schema, value);
  } finally {
    Settings.Set({ maxErrors });
  }
}

/** An account that the file declares. What the platform needs is checked by its adapter, which is loaded later. */
export interface FileChannel {
  readonly name: string;
  readonly channel: Channel;
  readonly enabled: boolean;
  readonly config: Readonly<Record<string, unknown>>;
  /** An error that names file and line of this setting of it; without one, of the account. */
  mistake(setting: string | undefined, message: string): FileError;
}
