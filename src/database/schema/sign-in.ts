/** How a session began. */
export type SignInMethod = "link" | "password" | "provider";

/** Codes that replace the second factor, each once. A used one is deleted. */
export interface RecoveryCodesTable {
  agent_id: string;
  /** HMAC of the code with the installation's secret. */
  hash: string;
  created_at: number;
}

/** How the agents of a workspace sign in. A workspace without a row has the default. */
export interface SignInSettingsTable {
  workspace_id: string;
  /** Agents who sign in by password or link need a second factor. */
  second_factor_required: 0 | 1;
}

/** The subject of an agent at the provider that they signed in through. */
export interface AgentIdentitiesTable {
  agent_id: string;
  workspace_id: string;
  issuer: string;
  /** SHA-256 of issuer and subject. */
  subject_hash: string;
  /** The provider does not admit the agent any more; null: it does. */
  refused_at: number | null;
  created_at: number;
}
