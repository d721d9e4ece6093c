/** Roles of agents, from the fewest rights to the most. Each has the rights of those before it. */
export const agentRoles = ["viewer", "agent", "admin"] as const;
export type AgentRole = (typeof agentRoles)[number];

/** Whether an agent with the role may do what needs `least`. */
export const roleAllows = (role: AgentRole, least: AgentRole): boolean =>
  agentRoles.indexOf(role) >= agentRoles.indexOf(least);
