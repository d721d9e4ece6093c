import type { Static } from "typebox";
import { Type } from "typebox";
import type { AgentRole } from "#domain/workspace/agent-role.ts";
import { agentRoles } from "#domain/workspace/agent-role.ts";
import { agentAddress } from "./automation.ts";
import type { Fail } from "./values.ts";
import { closed, text } from "./values.ts";

export const teamSchema = closed(
  {
    name: text("Name of the team.", 100),
    agents: Type.Optional(
      Type.Array(agentAddress, {
        maxItems: 1_000,
        description:
          "E-mail addresses of its members. Those that no agent has yet join once an agent has them. Default: the members stay as they are.",
      }),
    ),
  },
  "A named set of agents.",
);

export interface FileTeam {
  readonly name: string;
  /** Lower-case addresses. Absent: the members are not the file's. */
  readonly agents?: readonly string[];
}

/** Checks and returns the teams of a workspace. Their form has been checked by the schema. */
export function teamsOf(given: readonly Static<typeof teamSchema>[], fail: Fail): readonly FileTeam[] {
  return given.map(({ name: written, agents }, at) => {
    const name = written.trim();
    if (name === "") fail([at, "name"], "a team needs a name");
    if (given.findIndex((other) => other.name.trim() === name) < at) {
      fail([at, "name"], `two teams are named "${name}"`);
    }
    if (agents === undefined) return { name };
    return { name, agents: [...new Set(agents.map((address) => address.toLowerCase()))].toSorted() };
  });
}

export const agentSchema = closed(
  {
    email: agentAddress,
    name: text("Name, which customers see.", 300),
    role: Type.Optional(
      Type.Enum([...agentRoles], { description: "Default: the role that the agent has; for a new one: agent." }),
    ),
  },
  "A person of the team. One who is new is invited.",
);

export interface FileAgent {
  /** In lower case. */
  readonly email: string;
  readonly name: string;
  readonly role?: AgentRole;
}

/** Checks and returns the agents of a workspace. Their form has been checked by the schema. */
export function agentsOf(given: readonly Static<typeof agentSchema>[], fail: Fail): readonly FileAgent[] {
  const agents = given.map((agent): FileAgent => ({ ...agent, email: agent.email.toLowerCase() }));
  for (const [at, { email, name }] of agents.entries()) {
    if (name.trim() === "") fail([at, "name"], "an agent needs a name");
    if (agents.findIndex((other) => other.email === email) < at) fail([at, "email"], `two agents have ${email}`);
  }
  return agents;
}
