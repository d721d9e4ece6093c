import type { AgentRole } from "./agent-role.ts";
import { agentRoles } from "./agent-role.ts";

/** The rights of a provider's group. */
export interface GroupAccess {
  readonly group: string;
  readonly role: AgentRole;
  /** Name of a team that its members belong to; null: none. */
  readonly team: string | null;
}

export const accessWithoutGroup = ["refuse", "viewer", "agent"] as const;

/** Agents of a workspace sign in through this OpenID Connect provider. */
export interface SingleSignOn {
  readonly issuer: string;
  readonly clientId: string;
  /** Encrypted. In the configuration file's form, as it is. */
  readonly clientSecret: string;
  /** Text of the button. */
  readonly label: string;
  readonly scopes: readonly string[];
  /** Name of the claim that has a person's groups, or its path with dots. */
  readonly groupsClaim: string;
  /** Empty: the provider sets no roles. */
  readonly groups: readonly GroupAccess[];
  /** For people in none of the groups. */
  readonly withoutGroup: (typeof accessWithoutGroup)[number];
  /** People who are no agents yet become agents. */
  readonly createAgents: boolean;
  /** The domains of e-mail addresses that are admitted; empty: all. */
  readonly domains: readonly string[];
  /** The provider manages the domains, so its addresses there count as verified. */
  readonly ownsDomains: boolean;
  /** Agents cannot sign in with a password. */
  readonly required: boolean;
}

export const defaultSingleSignOn = {
  label: "Sign in with single sign-on",
  scopes: ["openid", "email", "profile"],
  groupsClaim: "groups",
  groups: [],
  withoutGroup: "refuse",
  createAgents: false,
  domains: [],
  ownsDomains: false,
  required: false,
} as const satisfies Partial<SingleSignOn>;

export interface ProviderAccess {
  /** "unset": the provider sets no roles. */
  readonly role: AgentRole | "refuse" | "unset";
  /** Names of teams that the groups give and take. */
  readonly managedTeams: readonly string[];
  readonly teams: readonly string[];
}

/** The rights of a person in these groups: the highest role and all teams. */
export function accessOf(provider: SingleSignOn, groups: readonly string[]): ProviderAccess {
  const known = new Set(groups);
  const matches = provider.groups.filter(({ group }) => known.has(group));
  const teamsOf = (of: readonly GroupAccess[]) => [...new Set(of.flatMap(({ team }) => (team === null ? [] : [team])))];
  const teams = { managedTeams: teamsOf(provider.groups), teams: teamsOf(matches) };
  if (provider.groups.length === 0) return { role: "unset", ...teams };
  const highest = agentRoles.findLast((role) => matches.some((match) => match.role === role));
  return { role: highest ?? provider.withoutGroup, ...teams };
}

/** The e-mail address's domain, in lower case. */
export const domainOf = (email: string): string => email.slice(email.lastIndexOf("@") + 1).toLowerCase();

const groupsMax = 2_000;

/** The groups that a claim has: a list of texts, or one text. The exact name comes before the path. */
export function groupsOf(claims: Readonly<Record<string, unknown>>, claim: string): readonly string[] {
  const found = Object.hasOwn(claims, claim) ? claims[claim] : claim.split(".").reduce<unknown>(below, claims);
  const list: readonly unknown[] = Array.isArray(found) ? found : [found];
  return list.slice(0, groupsMax).filter((each): each is string => typeof each === "string");
}

function below(at: unknown, name: string): unknown {
  if (typeof at !== "object" || at === null || !Object.hasOwn(at, name)) return undefined;
  return (at as Readonly<Record<string, unknown>>)[name];
}
