import { parseInstant } from "#domain/instant.ts";
import type { Plan, WorkspaceSettings } from "#domain/workspace/settings.ts";
import { plans, settingsOf } from "#domain/workspace/settings.ts";
import { systemClock as clock } from "#runtime/clock.ts";
import { createAgent, createLoginToken, listAgents, removeAgent, setAgentAway } from "#admin/agents.ts";
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
    const secret = await rotateIdentitySecret({ store, clock, secrets }, id);
    output.result({ id, identity_secret: secret }, [
      `Identity secret, for your own servers only: ${secret}`,
      "It is shown this once. Hashes made with the one before are refused from now on.",
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
    output.result(created, [
      bold(created.key),
      "This is the only time the key is shown; keep it on servers, never in a browser.",
    ]);
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

export const agentCreate: Command = ({ argv, output, config }) => {
  const given = readArguments(argv, ["workspace", "email", "name", "role", "password"]);
  const role = given.optional("role") ?? "agent";
  if (role !== "agent" && role !== "admin") throw new UsageError("--role is agent or admin");
  const agent = {
    workspaceId: given.required("workspace"),
    email: given.required("email"),
    name: given.required("name"),
    password: given.optional("password"),
    role,
  } as const;
  return withServices(config, async ({ store }) => {
    const created = await createAgent(store, clock, agent);
    const next =
      agent.password === undefined
        ? [`Sign in: parley agent login --workspace ${created.workspace_id} --email ${created.email}`]
        : [];
    output.result(created, [`Created ${created.role} ${created.name} <${created.email}>.`, ...next]);
    return 0;
  });
};

export const agentList: Command = ({ argv, output, config }) => {
  const workspaceId = readArguments(argv, ["workspace"]).optional("workspace");
  return withServices(config, async ({ store }) => {
    const rows = await listAgents(store, workspaceId);
    output.result(
      rows,
      table(
        ["e-mail", "name", "role", "away", "workspace"],
        rows.map((row) => [row.email, row.name, row.role, row.away ? "yes" : null, row.workspace_id]),
      ),
    );
    return 0;
  });
};

export const agentLogin: Command = ({ argv, output, config }) => {
  const given = readArguments(argv, ["workspace", "email"]);
  const email = given.required("email").toLowerCase();
  const workspaceId = given.required("workspace");
  return withServices(config, async ({ store }) => {
    const agent = (await listAgents(store, workspaceId)).find((each) => each.email === email);
    if (agent === undefined) throw new Error(`there is no agent ${email} in ${workspaceId}; see: parley agent list`);
    const link = `${config.publicUrl}/inbox/login/${await createLoginToken(store, clock, agent.id)}`;
    output.result({ link }, [link, "Works once, within 24 hours."]);
    return 0;
  });
};

const setAway =
  (away: boolean): Command =>
  ({ argv, output, config }) => {
    const given = readArguments(argv, ["workspace", "email"]);
    const email = given.required("email");
    const workspaceId = given.required("workspace");
    return withServices(config, async ({ store }) => {
      const agent = await setAgentAway(store, workspaceId, email, away);
      output.result(agent, [
        away
          ? `${agent.email} is away: rules assign nothing to them.`
          : `${agent.email} is back: rules assign to them in their turn.`,
      ]);
      return 0;
    });
  };

export const agentAway = setAway(true);
export const agentBack = setAway(false);

export const agentRemove: Command = ({ argv, output, config }) => {
  const given = readArguments(argv, ["workspace", "email"]);
  const email = given.required("email");
  const workspaceId = given.required("workspace");
  return withServices(config, async ({ store }) => {
    const removed = await removeAgent(store, clock, workspaceId, email);
    const left =
      removed.claimed === 0
        ? []
        : [
            `${removed.claimed} conversations are still assigned to them: take them over in the inbox, or release them.`,
          ];
    output.result(removed, [`Removed ${removed.email}: every session has ended.`, ...left]);
    return 0;
  });
};
