import type { Role } from "#web/dashboard/page.ts";

export interface Agent {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly role: Role;
  readonly teams: readonly { readonly id: string; readonly name: string }[];
  readonly away: boolean;
  readonly has_password: boolean;
  readonly has_second_factor: boolean;
  readonly has_picture: boolean;
  readonly has_identity: boolean;
  readonly last_seen_at: string | null;
  /** End of the invitation; null: the agent has joined. */
  readonly invited_until: string | null;
}

export interface AgentDetail extends Agent {
  /** Claimed and snoozed conversations. */
  readonly conversations: number;
}

export interface Team {
  readonly id: string;
  readonly name: string;
  readonly agent_ids: readonly string[];
  /** Addresses that join the team once an agent has them. */
  readonly expected_agents: readonly string[];
  readonly managed_by: "file" | "dashboard";
}

export interface Invitation {
  readonly invitation_url: string;
  readonly expires_at: string;
  readonly mailed: boolean;
}

export const roleOptions = [
  { value: "admin", label: "Administrator", hint: "Everything, with this dashboard" },
  { value: "agent", label: "Agent", hint: "Conversations and customers" },
  { value: "viewer", label: "Viewer", hint: "Reads, and changes nothing" },
] as const;

export const roleName = (role: Role): string => roleOptions.find(({ value }) => value === role)?.label ?? role;
