import type { RefusalReason } from "#admin/sign-in/provider/admission.ts";
import type { ProviderFault } from "#admin/sign-in/provider/fault.ts";

interface RefusalText {
  /** For the person who signs in. */
  readonly shown: string;
  /** For the log: the setting of `single_sign_on` that decided, and what to do. */
  readonly fix: string;
}

/** Why the provider's person is not admitted. */
export const refusalTexts: Readonly<Record<RefusalReason, RefusalText>> = {
  provider_changed: {
    shown: "The settings of single sign-on have just changed. Please try again.",
    fix: "nothing: the provider was changed during the sign-in",
  },
  no_email: {
    shown: "The provider does not tell your e-mail address. Ask your administrator.",
    fix: "scopes: add email, and let the provider send the claim email",
  },
  unverified_email: {
    shown: "The provider has not verified your e-mail address. Verify it there, or ask your administrator.",
    fix: "owns_domains: set it and domains if the provider manages the addresses itself",
  },
  domain: {
    shown: "This workspace does not admit the domain of your e-mail address.",
    fix: "domains: add the domain",
  },
  unknown_person: {
    shown: "You are not an agent of this workspace yet. Ask an administrator for an invitation.",
    fix: "create_agents: set it, or invite the person",
  },
  other_person: {
    shown: "Another account of the provider signs in as this agent already. Ask your administrator.",
    fix: "the agent belongs to another subject of the provider: DELETE /admin/v1/agents/ID/identity lets the new one in",
  },
  no_group: {
    shown: "You are in none of the groups that have access to this workspace. Ask your administrator.",
    fix: "groups, groups_claim, without_group: map a group of the person, and check that the claim is sent",
  },
};

/** Texts for the person when the way to the provider and back failed. */
export const faultTexts: Readonly<Record<ProviderFault["kind"], string>> = {
  unreachable: "The provider cannot be reached. Please try again later.",
  description: "The provider does not answer as expected. Ask your administrator.",
  refused: "The provider did not let you in, or you turned back.",
  client: "The provider does not accept this installation. Ask your administrator.",
  answer: "The provider's answer could not be used. Please try again.",
};
