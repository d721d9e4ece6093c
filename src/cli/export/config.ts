import { readFile } from "node:fs/promises";
import type { AppliedWorkspace } from "#admin/export/config/apply-config.ts";
import { applyConfig } from "#admin/export/config/apply-config.ts";
import { exportConfig } from "#admin/export/config/export-config.ts";
import { requireWorkspace } from "#admin/api-keys.ts";
import { listWorkspaces } from "#admin/workspaces/workspaces.ts";
import { counted } from "#domain/plural.ts";
import { systemClock as clock } from "#runtime/clock.ts";
import type { Command } from "../command.ts";
import { UsageError, readArguments } from "../terminal/arguments.ts";
import { withServices } from "../with-services.ts";

/** Writes what the dashboard owns as YAML, without secrets. */
export const configExport: Command = ({ argv, output, config }) => {
  const workspaceId = readArguments(argv, ["workspace"]).optional("workspace");
  return withServices(config, async ({ store, secrets, documents }) => {
    const ids =
      workspaceId === undefined
        ? (await listWorkspaces(store)).map(({ id }) => id)
        : [(await requireWorkspace(store, workspaceId)).id];
    const { yaml, variables, leftOut } = await exportConfig({ read: store.read, secrets, documents }, ids);
    for (const title of leftOut) output.progress(`Left out the article "${title}": its text cannot be read.`);
    output.result({ yaml, variables: [...variables.keys()] }, [yaml.trimEnd()]);
    return 0;
  });
};

function linesOf({ id, name, invited, documents }: AppliedWorkspace, isMailSent: boolean): readonly string[] {
  const linkOf = (email: string): string => `parley agent login --workspace ${id} --email ${email}`;
  return [
    ...invited.map((email) => `Invited ${email}${isMailSent ? " by mail." : `. A link to sign in: ${linkOf(email)}`}`),
    ...(documents === 0
      ? []
      : [`${name}: added or changed ${counted(documents, "website or article", "websites or articles")}.`]),
  ];
}

/** Makes the dashboard's state as a file says. */
export const configApply: Command = ({ argv, output, config, env }) => {
  const given = readArguments(argv, [], ["prune"]);
  const [file] = given.words;
  if (file === undefined) throw new UsageError("use: parley config apply FILE [--prune]");
  return withServices(config, async ({ store, secrets, documents, mail: sent }) => {
    const content = await readFile(file, "utf8");
    const mail = sent === undefined ? null : { secrets, publicUrl: config.publicUrl };
    const applied = await applyConfig(
      { store, clock, secrets, documents, mail, allowPrivate: config.file.allowPrivate ?? false },
      file,
      content,
      { env, prune: given.flag("prune") },
    );
    output.result({ workspaces: applied }, [
      `Applied ${file} to ${counted(applied.length, "workspace")}: ${applied.map(({ name }) => name).join(", ")}`,
      ...applied.flatMap((workspace) => linesOf(workspace, sent !== undefined)),
    ]);
    return 0;
  });
};
