import type { Generated } from "kysely";

/** A named set of agents of a workspace. */
export interface TeamsTable {
  id: string;
  workspace_id: string;
  name: string;
  created_at: number;
  /** `file`: the configuration file declares it, and it cannot be changed elsewhere. */
  managed_by: Generated<"file" | "dashboard">;
  /** JSON list of addresses that join the team once an agent has them; null: none. */
  expected_agents: Generated<string | null>;
}

export interface TeamMembersTable {
  team_id: string;
  agent_id: string;
}
