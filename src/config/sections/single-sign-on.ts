import type { Static } from "typebox";
import { Type } from "typebox";
import { agentRoles } from "#domain/workspace/agent-role.ts";
import type { SingleSignOn } from "#domain/workspace/single-sign-on.ts";
import { accessWithoutGroup, defaultSingleSignOn } from "#domain/workspace/single-sign-on.ts";
import type { Fail } from "./values.ts";
import { closed, text } from "./values.ts";

const groupSchema = closed(
  {
    group: text("The group's name or id, as the claim has it.", 200),
    role: Type.Enum([...agentRoles], { description: "Role of its members; the highest of several groups counts." }),
    team: Type.Optional(text("Name of a team that its members belong to.", 100)),
  },
  "What members of a group get.",
);

/** All but the client secret. */
export const singleSignOnFields = {
  issuer: Type.String({
    pattern: String.raw`^(?:https://|http://(?:localhost|127\.0\.0\.1|\[::1\])[:/])`,
    maxLength: 500,
    description: "Address of the provider, such as https://login.example.com. http:// only on this machine.",
  }),
  client_id: text("Id of this installation at the provider.", 500),
  label: Type.Optional(text("Text of the button.", 60)),
  scopes: Type.Optional(
    Type.Array(Type.String({ pattern: "^[!#-\\[\\]-~]{1,100}$" }), {
      maxItems: 20,
      description: "Scopes besides openid that are asked for; default: email and profile.",
    }),
  ),
  groups_claim: Type.Optional(text("Name or dotted path of the claim with a person's groups; default: groups.", 200)),
  groups: Type.Optional(
    Type.Array(groupSchema, {
      maxItems: 200,
      description: "Roles by group. Without any, roles are set on the page Team.",
    }),
  ),
  without_group: Type.Optional(
    Type.Enum([...accessWithoutGroup], { description: "For people in none of the groups; default: refuse." }),
  ),
  create_agents: Type.Optional(
    Type.Boolean({ description: "People who are no agents yet become agents; default: false." }),
  ),
  domains: Type.Optional(
    Type.Array(Type.String({ pattern: "^[a-z0-9.-]{1,120}$" }), {
      maxItems: 100,
      description: "Domains of the e-mail addresses that are admitted; default: all.",
    }),
  ),
  owns_domains: Type.Optional(
    Type.Boolean({
      description: "The provider manages the domains: its addresses there count as verified; default: false.",
    }),
  ),
  required: Type.Optional(Type.Boolean({ description: "Agents cannot sign in with a password; default: false." })),
};

export const singleSignOnSchema = closed(
  { ...singleSignOnFields, client_secret: text("Secret of this installation at the provider.", 1_000) },
  "An OpenID Connect provider that agents sign in through.",
);

export type FileSingleSignOn = Static<typeof singleSignOnSchema>;

/** Checks what the schema cannot. The client secret is not encrypted yet. */
export function singleSignOnOf(given: FileSingleSignOn, fail: Fail): SingleSignOn {
  const { domains = [], owns_domains: ownsDomains = false, create_agents: createAgents = false, groups = [] } = given;
  const withoutGroup = given.without_group ?? defaultSingleSignOn.withoutGroup;
  const issuer = URL.parse(given.issuer);
  if (issuer === null || issuer.search !== "" || issuer.hash !== "" || issuer.username !== "") {
    fail(["issuer"], "issuer: this is not the address of a provider");
  }
  if (ownsDomains && domains.length === 0) fail(["owns_domains"], "owns_domains: name the domains");
  // Anybody can have an account at a public provider.
  if (createAgents && domains.length === 0 && withoutGroup !== "refuse") {
    fail(["create_agents"], "create_agents: name the domains, or set without_group to refuse");
  }
  if (createAgents && groups.length === 0 && withoutGroup === "refuse") {
    fail(["create_agents"], "create_agents: new agents have no role; map a group, or set without_group to agent");
  }
  return {
    issuer: given.issuer,
    clientId: given.client_id,
    clientSecret: given.client_secret,
    label: given.label ?? defaultSingleSignOn.label,
    scopes: [...new Set(["openid", ...(given.scopes ?? defaultSingleSignOn.scopes)])],
    groupsClaim: given.groups_claim ?? defaultSingleSignOn.groupsClaim,
    groups: groups.map(({ group, role, team = null }) => ({ group, role, team })),
    withoutGroup,
    createAgents,
    domains,
    ownsDomains,
    required: given.required ?? false,
  };
}

/** The provider in the configuration file's form, without the client secret. */
export const fileSingleSignOnOf = (provider: SingleSignOn) => ({
  issuer: provider.issuer,
  client_id: provider.clientId,
  label: provider.label,
  scopes: [...provider.scopes],
  groups_claim: provider.groupsClaim,
  groups: provider.groups.map(({ group, role, team }) => ({ group, role, ...(team === null ? {} : { team }) })),
  without_group: provider.withoutGroup,
  create_agents: provider.createAgents,
  domains: [...provider.domains],
  owns_domains: provider.ownsDomains,
  required: provider.required,
});
