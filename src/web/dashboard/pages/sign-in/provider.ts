/** A role, and a team or "", for the members of a group. */
export interface GroupRole {
  readonly group: string;
  readonly role: string;
  readonly team: string;
}

interface SentGroup {
  readonly group: string;
  readonly role: string;
  readonly team?: string;
}

interface ProviderFields {
  readonly issuer: string;
  readonly client_id: string;
  readonly label: string;
  readonly scopes: readonly string[];
  readonly groups_claim: string;
  readonly without_group: string;
  readonly create_agents: boolean;
  readonly domains: readonly string[];
  readonly owns_domains: boolean;
  readonly required: boolean;
}

export interface ProviderSettings {
  readonly provider: (ProviderFields & { readonly groups: readonly SentGroup[] }) | null;
  readonly managed_by_file: boolean;
  readonly callback_url: string;
  readonly sign_in_url: string;
}

export interface ProviderValues extends ProviderFields {
  readonly groups: readonly GroupRole[];
  readonly client_secret: string | undefined;
}

const empty: ProviderValues = {
  issuer: "",
  client_id: "",
  client_secret: undefined,
  label: "Sign in with single sign-on",
  scopes: ["openid", "email", "profile"],
  groups_claim: "groups",
  groups: [],
  without_group: "refuse",
  create_agents: false,
  domains: [],
  owns_domains: false,
  required: false,
};

export const valuesOf = ({ provider }: ProviderSettings): ProviderValues =>
  provider === null
    ? empty
    : {
        ...provider,
        client_secret: undefined,
        groups: provider.groups.map(({ team = "", ...group }) => ({ ...group, team })),
      };

/** The body of the request. An absent secret stays as it is. */
export function bodyOf({ client_secret: secret, groups, domains, ...values }: ProviderValues): object {
  return {
    ...values,
    domains: domains.map((domain) => domain.toLowerCase()),
    groups: groups.map(({ team, ...group }) => ({ ...group, ...(team === "" ? {} : { team }) })),
    ...(secret === undefined ? {} : { client_secret: secret }),
  };
}
