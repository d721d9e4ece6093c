import { Problem } from "#domain/problem.ts";
import { FileError } from "#config/errors.ts";
import { readConfigFile } from "#config/file.ts";
import type { FileWorkspace } from "#config/workspace.ts";

const variable = /\$\{[A-Za-z_][A-Za-z0-9_]*\}/;

/**
 * Checks a part of a workspace in the form of the configuration file, as at a start with the file. Throws a Problem with
 * all errors.
 */
export function checkedWorkspace(part: Readonly<Record<string, unknown>>): FileWorkspace {
  const content = JSON.stringify({ workspaces: [{ name: "unchanged", ...part }] });
  // A variable in an exported text would be replaced when the file is applied.
  const found = variable.exec(content)?.[0];
  if (found !== undefined) {
    throw new Problem("invalid_parameter", `${found}: only the configuration file can name variables.`);
  }
  try {
    const [workspace] = readConfigFile("the settings", content, {}).workspaces;
    if (workspace === undefined) throw new Error("settings: the checked part was lost");
    return workspace;
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    const messages = error.errors.map(({ message }) =>
      message.replaceAll(/workspaces\.0\.(?:(?:rules|skills|macros)\.\d+\.)?/g, ""),
    );
    throw new Problem("invalid_parameter", messages.join("\n"), { cause: error });
  }
}

/** Business hours for the check of rules and skills, which may use them where the workspace has any. */
export const someHours = { timezone: "UTC" };

const shownMax = 500;

/** A value in the audit log. */
export function forPeople(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.length > shownMax ? `${text.slice(0, shownMax)}…` : text;
}
