import { systemActor } from "#domain/conversation/message.ts";
import type { AgentRole } from "#domain/workspace/agent-role.ts";
import { agentRoles } from "#domain/workspace/agent-role.ts";
import { systemClock as clock } from "#runtime/clock.ts";
import { agentByEmail, changeAgent, createAgent, listAgents, removeAgent } from "#admin/team/agents.ts";
import { removeSecondFactor } from "#admin/sign-in/second-factor.ts";
import { createLoginToken } from "#admin/team/login-links.ts";
import { UsageError, readArguments } from "./terminal/arguments.ts";
import type { Command } from "./command.ts";
import { withServices } from "./with-services.ts";
import { table } from "./terminal/output.ts";

const by = systemActor("command line");

function roleOf(given: string): AgentRole {
  const role = agentRoles.find((name) => name === given);
  if (role === undefined) throw new UsageError(`The role is one of ${agentRoles.join(", ")}`);
  return role;
}

export const agentCreate: Command = ({ argv, output, config }) => {
  const given = readArguments(argv, ["workspace", "email", "name", "role", "password"]);
  const role = roleOf(given.optional("role") ?? "agent");
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
  const email = given.required("email");
  const workspaceId = given.required("workspace");
  return withServices(config, async ({ store }) => {
    const agent = await agentByEmail(store, workspaceId, email);
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
    const workspace = given.required("workspace");
    return withServices(config, async ({ store }) => {
      const agent = await agentByEmail(store, workspace, email);
      await changeAgent(store, clock, { workspaceId: agent.workspace_id, agentId: agent.id, by }, { away });
      output.result({ email: agent.email, away }, [
        away
          ? `${agent.email} is away: rules assign no conversations to them.`
          : `${agent.email} is back: rules assign conversations to them again.`,
      ]);
      return 0;
    });
  };

export const agentAway = setAway(true);
export const agentBack = setAway(false);

export const agentRole: Command = ({ argv, output, config }) => {
  const given = readArguments(argv, ["workspace", "email", "role"]);
  const email = given.required("email");
  const workspace = given.required("workspace");
  const role = roleOf(given.required("role"));
  return withServices(config, async ({ store }) => {
    const agent = await agentByEmail(store, workspace, email);
    await changeAgent(store, clock, { workspaceId: agent.workspace_id, agentId: agent.id, by }, { role });
    output.result({ email: agent.email, role }, [`${agent.email} has the role ${role} now.`]);
    return 0;
  });
};

export const agentResetSecondFactor: Command = ({ argv, output, config }) => {
  const given = readArguments(argv, ["workspace", "email"]);
  const email = given.required("email");
  const workspace = given.required("workspace");
  return withServices(config, async ({ store }) => {
    const agent = await agentByEmail(store, workspace, email);
    const account = { agentId: agent.id, email: agent.email, workspaceId: agent.workspace_id, actor: by };
    const isReset = await store.write((tx) => removeSecondFactor(tx, account, clock.now()));
    output.result({ email: agent.email, reset: isReset }, [
      isReset
        ? `The second factor of ${agent.email} is off, and their recovery codes are gone.`
        : `${agent.email} has no second factor.`,
    ]);
    return 0;
  });
};

export const agentRemove: Command = ({ argv, output, config }) => {
  const given = readArguments(argv, ["workspace", "email", "reassign-to"]);
  const email = given.required("email");
  const workspace = given.required("workspace");
  const heirEmail = given.optional("reassign-to");
  return withServices(config, async ({ store }) => {
    const { id: agentId, workspace_id: workspaceId } = await agentByEmail(store, workspace, email);
    const heir = heirEmail === undefined ? null : await agentByEmail(store, workspace, heirEmail);
    const removed = await removeAgent(store, clock, { workspaceId, agentId, by, to: heir?.id ?? null });
    const left =
      removed.held === 0
        ? []
        : [
            `The server gives their ${removed.held} conversations ${heir === null ? "back to the queue" : `to ${heir.email}`}.`,
          ];
    output.result(removed, [`Removed ${removed.email}: every session has ended.`, ...left]);
    return 0;
  });
};
