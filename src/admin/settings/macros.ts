import { Problem } from "#domain/problem.ts";
import type { Macro } from "#domain/workspace/macro.ts";
import { macroProblems } from "#domain/workspace/macro.ts";
import type { Reader } from "#database/contract.ts";
import { answeringAgents } from "#database/queries/agents.ts";
import type { FileMacro } from "#config/sections/macros.ts";
import { fileMacroOf } from "#config/sections/macros.ts";
import type { Edit, Entry, SettingsDependencies } from "./change.ts";
import { changeSettings, readStored, requireOwn } from "./change.ts";
import { checkedWorkspace, forPeople } from "./check.ts";

/** Macros in their order, in the form of the configuration file, each with the reasons for which it cannot be applied. */
export async function listMacros(db: Reader, workspaceId: string) {
  const { settings, declared } = await readStored(db, workspaceId);
  const agents = await answeringAgents(db, workspaceId);
  return {
    macros: settings.macros.map((macro) => ({ ...fileMacroOf(macro), problems: macroProblems(macro, agents) })),
    managed_by_file: declared.has("macros"),
  };
}

/** Adds a macro behind the others. */
export function addMacro(dependencies: SettingsDependencies, edit: Edit, macro: FileMacro): Promise<FileMacro> {
  return editMacros(dependencies, edit, (macros) => {
    requireFree(macros, macro.name);
    return {
      macros: [...macros, macro],
      entry: { action: "macro_added", subject: macro.name, to: forPeople(macro) },
      result: macro,
    };
  });
}

export function changeMacro(
  dependencies: SettingsDependencies,
  edit: Edit,
  name: string,
  change: Partial<FileMacro>,
): Promise<FileMacro> {
  return editMacros(dependencies, edit, (macros) => {
    const before = macroOf(macros, name);
    const next: FileMacro = { ...before, ...change };
    if (next.name !== name) requireFree(macros, next.name);
    return {
      macros: macros.map((macro) => (macro.name === name ? next : macro)),
      entry: { action: "macro_changed", subject: next.name, from: forPeople(before), to: forPeople(next) },
      result: next,
    };
  });
}

export function removeMacro(dependencies: SettingsDependencies, edit: Edit, name: string): Promise<void> {
  return editMacros(dependencies, edit, (macros) => ({
    entry: { action: "macro_removed", subject: name, from: forPeople(macroOf(macros, name)) },
    macros: macros.filter((macro) => macro.name !== name),
    result: undefined,
  }));
}

function editMacros<T>(
  dependencies: SettingsDependencies,
  edit: Edit,
  change: (macros: readonly FileMacro[]) => {
    readonly macros: readonly FileMacro[];
    readonly entry: Entry;
    readonly result: T;
  },
): Promise<T> {
  return changeSettings(dependencies, edit, (workspace) => {
    requireOwn(workspace, "macros", "macros");
    const { macros, entry, result } = change(workspace.settings.macros.map(fileMacroOf));
    return { stored: { ...workspace.stored, macros: checkedMacros(macros) }, entries: [entry], result };
  });
}

const checkedMacros = (macros: readonly FileMacro[]): readonly Macro[] =>
  checkedWorkspace({ macros }).settings.macros ?? [];

function macroOf(macros: readonly FileMacro[], name: string): FileMacro {
  const found = macros.find((macro) => macro.name === name);
  if (found === undefined) throw new Problem("not_found", "There is no macro of this name.");
  return found;
}

function requireFree(macros: readonly FileMacro[], name: string): void {
  if (macros.some((macro) => macro.name === name)) {
    throw new Problem("already_exists", `name: there is a macro named ${name}.`);
  }
}
