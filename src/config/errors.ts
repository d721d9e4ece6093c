import type { TSchema } from "typebox";
import { Settings } from "typebox/system";
import { Value } from "typebox/value";
import type { Channel } from "#domain/conversation/message.ts";

export interface FileErrorLine {
  readonly line: number;
  readonly message: string;
}

/** The errors of a configuration file with their lines. */
export class FileError extends Error {
  readonly file: string;
  readonly errors: readonly FileErrorLine[];

  constructor(file: string, errors: readonly FileErrorLine[]) {
    const sorted = errors.toSorted((a, b) => a.line - b.line);
    const [only] = sorted;
    super(
      sorted.length === 1 && only !== undefined
        ? `${file}, line ${only.line}: ${only.message}`
        : [`${sorted.length} errors in ${file}:`, ...sorted.map(listed)].join("\n"),
    );
    this.name = "FileError";
    this.file = file;
    this.errors = sorted;
  }
}

const listed = ({ line, message }: FileErrorLine): string => `  line ${line}: ${message}`;

/** A file with errors, and its valid channels. */
export class UnreadableFile extends FileError {
  readonly channels: readonly FileChannel[];

  constructor(file: string, errors: readonly FileErrorLine[], channels: readonly FileChannel[] = []) {
    super(file, errors);
    this.channels = channels;
  }
}

/** Joins the errors of one file. Undefined without any. */
export function combineErrors(all: readonly FileError[]): FileError | undefined {
  const [first] = all;
  if (first === undefined) return undefined;
  return new FileError(
    first.file,
    all.flatMap(({ errors }) => errors),
  );
}

/** An invalid setting. */
export interface SchemaError {
  readonly path: readonly string[];
  readonly keyword: string;
  /** Follows the name of the setting, such as "must be one of a, b". */
  readonly message: string;
  /** The name of an unknown setting within `path`. */
  readonly unknown?: string;
  /** The name of a missing setting within `path`. */
  readonly missing?: string;
}

const errorsMax = 500;

export function schemaErrors(schema: TSchema, value: unknown): readonly SchemaError[] {
  // An unknown key also has a "boolean" error for its value.
  const errors = allErrors(schema, value).filter(({ keyword }) => keyword !== "boolean");
  // A choice has an error for each alternative, of which only the first is reported.
  const choices = errors.filter(({ keyword }) => keyword === "anyOf").map(({ instancePath }) => instancePath);
  const isWithin = (path: string, choice: string): boolean => path === choice || path.startsWith(`${choice}/`);
  const reported = new Set<string>();
  return errors.flatMap(({ instancePath, keyword, message, params }): readonly SchemaError[] => {
    const choice = choices.find((each) => isWithin(instancePath, each));
    const group = choice ?? `${instancePath} ${instancePath === "" || isOfObject(keyword) ? keyword : ""}`;
    if (reported.has(group)) return [];
    reported.add(group);
    const path = instancePath.split("/").slice(1);
    const given = params as {
      readonly additionalProperties?: readonly string[];
      readonly requiredProperties?: readonly string[];
    };
    const { additionalProperties: unknown = [], requiredProperties: missing = [] } = given;
    if (unknown.length > 0) return unknown.map((name) => ({ path, keyword, message, unknown: name }));
    if (missing.length > 0) return missing.map((name) => ({ path, keyword, message, missing: name }));
    return [{ path, keyword, message: messageOf(keyword, params, message) }];
  });
}

/** Replaces messages of the validator that do not help the author of a file. */
function messageOf(keyword: string, params: object, message: string): string {
  const { allowedValues, type } = params as { readonly allowedValues?: readonly unknown[]; readonly type?: unknown };
  if (allowedValues !== undefined) return `must be one of ${allowedValues.join(", ")}`;
  // YAML reads 5 and yes as a number and a boolean.
  if (keyword === "type" && type === "string") return "must be a text: put it in quotes";
  return keyword === "pattern" ? "cannot be right" : message;
}

const isOfObject = (keyword: string): boolean => keyword === "additionalProperties" || keyword === "required";

/** TypeBox stops after a few errors. The limit is a setting of the whole process. */
function allErrors(schema: TSchema, value: unknown) {
  const { maxErrors } = Settings.Get();
  Settings.Set({ maxErrors: errorsMax });
  try {
    return Value.Errors(schema, value);
  } finally {
    Settings.Set({ maxErrors });
  }
}

/** A channel in the file. Its adapter checks the settings of the platform later. */
export interface FileChannel {
  readonly name: string;
  readonly channel: Channel;
  readonly enabled: boolean;
  readonly config: Readonly<Record<string, unknown>>;
  /** An error with file and line of a setting, or of the channel itself. */
  errorAt(setting: string | undefined, message: string): FileError;
}
