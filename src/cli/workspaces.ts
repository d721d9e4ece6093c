import { parseInstant } from "#domain/instant.ts";
import type { Plan, WorkspaceSettings } from "#domain/workspace/settings.ts";
import { plans, settingsOf } from "#domain/workspace/settings.ts";
import { systemClock as clock } from "#runtime/clock.ts";
import { operatorActor } from "#admin/audit.ts";
import { createKey, listKeys, requireWorkspace, revokeKey } from "#admin/api-keys.ts";
import { createWorkspace, listWorkspaces, rotateIdentitySecret } from "#admin/workspaces/workspaces.ts";
import { setWorkspace } from "#admin/workspaces/settings.ts";
import { UsageError, readArguments } from "./terminal/arguments.ts";
import type { Command } from "./command.ts";
import { withServices } from "./with-services.ts";
import { bold, table } from "./terminal/output.ts";

export const workspaceCreate: Command = ({ argv, output, config }) => {
  const given = readArguments(argv, ["name", "plan"]);
  const name = given.required("name");
  const plan = planOf(given.optional("plan"));
  return withServices(config, async ({ store, secrets }) => {
    const created = await createWorkspace({ store, clock, secrets }, { name, plan });
    output.result(created, [
      `Created workspace ${bold(created.id)} (${created.name}, plan ${created.plan}).`,
      `Identity secret, for your own servers only: ${created.identity_secret}`,
      `Next: parley key create --workspace ${created.id} --name "my server"`,
    ]);
    return 0;
  });
};

function planOf(given: string | undefined): Plan | undefined {
  if (given === undefined) return undefined;
  const plan = plans.find((name) => name === given);
  if (plan === undefined) throw new UsageError(`--plan is one of ${plans.join(", ")}`);
  return plan;
}

export const workspaceList: Command = ({ argv, output, config }) => {
  readArguments(argv, []);
  return withServices(config, async ({ store }) => {
    const rows = await listWorkspaces(store);
    output.result(
      rows,
      table(
        ["id", "name", "plan", "created"],
        rows.map((row) => [row.id, row.name, row.plan, row.created_at]),
      ),
    );
    return 0;
  });
};

export const workspaceSet: Command = ({ argv, output, config }) => {
  const given = readArguments(argv, [], ["force"]);
  const [id, ...assignments] = given.words;
  if (id === undefined || assignments.length === 0)
    throw new UsageError("use: parley workspace set ID key=value… [--force]");
  return withServices(config, async ({ store }) => {
    const { id: workspaceId, name } = await requireWorkspace(store, id);
    const settings: WorkspaceSettings = settingsOf(
      await setWorkspace(store, clock, workspaceId, assignments, { force: given.flag("force") }),
    );
    output.result({ id: workspaceId, settings }, [`Changed ${name}: ${assignments.join(", ")}`]);
    return 0;
  });
};

export const workspaceRotateSecret: Command = ({ argv, output, config }) => {
  const [given] = readArguments(argv, []).words;
  if (given === undefined) throw new UsageError("use: parley workspace rotate-secret ID");
  return withServices(config, async ({ store, secrets }) => {
    const { id } = await requireWorkspace(store, given);
    const secret = await rotateIdentitySecret({ store, clock, secrets }, id, operatorActor);
    output.result({ id, identity_secret: secret }, [
      `Identity secret, for your own servers only: ${secret}`,
      "It is shown only now. Hashes made with the previous secret are refused from now on.",
    ]);
    return 0;
  });
};

export const keyCreate: Command = ({ argv, output, config }) => {
  const given = readArguments(argv, ["workspace", "name", "limit-minute", "limit-day", "expires"]);
  const workspaceId = given.required("workspace");
  const name = given.required("name");
  const expires = given.optional("expires");
  const expiresAt = expires === undefined ? undefined : parseInstant(expires);
  if (expires !== undefined && expiresAt === undefined)
    throw new UsageError("--expires takes a time such as 2027-01-31T00:00:00Z");
  if (expiresAt !== undefined && expiresAt <= clock.now()) throw new UsageError("--expires takes a time in the future");
  const limits = { limitMinute: given.number("limit-minute"), limitDay: given.number("limit-day") };
  return withServices(config, async ({ store }) => {
    const created = await createKey(store, clock, { workspaceId, name, ...limits, expiresAt });
    output.result(created, [bold(created.key), "The key is shown only now. Keep it on servers, never in a browser."]);
    return 0;
  });
};

export const keyList: Command = ({ argv, output, config }) => {
  const workspaceId = readArguments(argv, ["workspace"]).required("workspace");
  return withServices(config, async ({ store }) => {
    const rows = await listKeys(store, workspaceId);
    output.result(
      rows,
      table(
        ["id", "name", "key", "created", "state"],
        rows.map((row) => [row.id, row.name, row.hint, row.created_at, row.revoked_at === null ? "active" : "revoked"]),
      ),
    );
    return 0;
  });
};

export const keyRevoke: Command = ({ argv, output, config }) => {
  const [id] = readArguments(argv, []).words;
  if (id === undefined) throw new UsageError("use: parley key revoke ID");
  return withServices(config, async ({ store }) => {
    await revokeKey(store, clock, id);
    output.result({ id, revoked: true }, [`Revoked ${id}: requests with this key are refused from now on.`]);
    return 0;
  });
};
