import { parseArgs } from "node:util";

/** Wrong arguments of a command; the exit status is 2. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "UsageError";
  }
}

export interface Arguments {
  readonly words: readonly string[];
  /** The text of an option; throws when it is missing. */
  required(name: string): string;
  optional(name: string): string | undefined;
  /** A whole number; throws for anything else. */
  number(name: string): number | undefined;
  /** True if the option, which has no value, is given. */
  flag(name: string): boolean;
}

/** Parses what follows the command's name. `options` have a value, `flags` have none; `--json` is always accepted. */
export function readArguments(
  argv: readonly string[],
  options: readonly string[],
  flags: readonly string[] = [],
): Arguments {
  const { values, positionals } = parse(argv, options, flags);
  const optional = (name: string): string | undefined => {
    const value = values[name];
    return typeof value === "string" ? value : undefined;
  };
  return {
    words: positionals,
    optional,
    flag: (name) => values[name] === true,
    required(name) {
      const value = optional(name);
      if (value === undefined || value === "") throw new UsageError(`--${name} is missing`);
      return value;
    },
    number(name) {
      const value = optional(name);
      if (value === undefined) return undefined;
      if (!/^\d{1,15}$/.test(value)) throw new UsageError(`--${name} takes a whole number, not "${value}"`);
      return Number(value);
    },
  };
}

function parse(argv: readonly string[], options: readonly string[], flags: readonly string[]) {
  try {
    const { values, positionals } = parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: {
        ...Object.fromEntries(options.map((name) => [name, { type: "string" as const }])),
        ...Object.fromEntries(flags.map((name) => [name, { type: "boolean" as const }])),
        json: { type: "boolean" },
      },
    });
    return { values: values as Readonly<Record<string, string | boolean | undefined>>, positionals };
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : "the arguments are wrong");
  }
}
