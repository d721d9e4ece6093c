import { useState } from "preact/hooks";
import { Button } from "#web/shared/ui/elements.tsx";
import { api } from "#web/dashboard/api.ts";
import { useCanWrite } from "#web/dashboard/store.ts";
import { ConfirmDialog } from "#web/dashboard/ui/confirm-dialog.tsx";
import { CopyField } from "#web/dashboard/ui/copy.tsx";
import { SelectField, SwitchField } from "#web/dashboard/ui/fields/choice.tsx";
import { SecretField } from "#web/dashboard/ui/fields/secret.tsx";
import { TagsField } from "#web/dashboard/ui/fields/tags.tsx";
import { TextField } from "#web/dashboard/ui/fields/text.tsx";
import type { FormState } from "#web/dashboard/ui/form.tsx";
import { Form, useForm } from "#web/dashboard/ui/form.tsx";
import { Section } from "#web/dashboard/ui/page.tsx";
import { Loaded, useResource } from "#web/dashboard/ui/resource.tsx";
import { GroupsField } from "./groups-field.tsx";
import type { ProviderSettings, ProviderValues } from "./provider.ts";
import { bodyOf, valuesOf } from "./provider.ts";

interface Loadable {
  readonly settings: ProviderSettings;
  readonly teams: readonly string[];
}

async function load(): Promise<Loadable> {
  const [settings, { teams }] = await Promise.all([
    api.get<ProviderSettings>("sign-in/provider"),
    api.get<{ readonly teams: readonly { readonly name: string }[] }>("teams"),
  ]);
  return { settings, teams: teams.map(({ name }) => name) };
}

/** The OpenID Connect provider of the workspace. */
export function SingleSignOn() {
  const loaded = useResource(load, []);
  return (
    <Section
      title="Single sign-on"
      lead="Agents sign in through your OpenID Connect provider, such as Entra ID, Google, Okta or Keycloak."
    >
      <Loaded of={loaded}>
        {({ settings, teams }) => (
          // A saved or removed provider is read again.
          <ProviderForm
            key={JSON.stringify(settings)}
            settings={settings}
            teams={teams}
            changed={() => void loaded.reload()}
          />
        )}
      </Loaded>
    </Section>
  );
}

function ProviderForm(props: Loadable & { readonly changed: () => void }) {
  const { settings, teams, changed } = props;
  const form = useForm(valuesOf(settings));
  const isSet = settings.provider !== null;
  return (
    <>
      <Form
        form={form}
        send={(values) => api.put("sign-in/provider", bodyOf(values))}
        sent={changed}
        label={isSet ? "Save single sign-on" : "Turn on single sign-on"}
        done="Single sign-on saved."
        isBlocked={!form.isChanged}
        isManaged={settings.managed_by_file}
      >
        <CopyField
          label="Redirect URI"
          value={settings.callback_url}
          hint="Enter it at the provider, for a web application with a client secret."
        />
        <ClientFields form={form} isSet={isSet} />
        <AccessFields form={form} teams={teams} />
      </Form>
      {isSet && (
        <CopyField
          label="Address of your sign-in"
          value={settings.sign_in_url}
          hint="Leads agents to the provider at once; a bookmark for them, or a tile at the provider."
        />
      )}
      {isSet && !settings.managed_by_file && <RemoveProvider changed={changed} />}
    </>
  );
}

function ClientFields({ form, isSet }: { readonly form: FormState<ProviderValues>; readonly isSet: boolean }) {
  return (
    <>
      <TextField
        of={form.field("issuer")}
        label="Issuer"
        type="url"
        required
        maxLength={500}
        placeholder="https://login.example.com"
        hint="The provider's address, exactly as it names itself."
      />
      <TextField of={form.field("client_id")} label="Client ID" mono required maxLength={500} />
      <SecretField of={form.field("client_secret")} label="Client secret" isSet={isSet} required={!isSet} />
      <TextField of={form.field("label")} label="Text of the button" required maxLength={60} />
      <TagsField of={form.field("scopes")} label="Scopes" maxItems={20} maxLength={100} />
    </>
  );
}

function AccessFields({ form, teams }: Pick<Loadable, "teams"> & { readonly form: FormState<ProviderValues> }) {
  return (
    <>
      <TextField
        of={form.field("groups_claim")}
        label="Claim with the groups"
        mono
        required
        maxLength={200}
        hint="Its name, or its path such as realm_access.roles."
      />
      <GroupsField of={form.field("groups")} teams={teams} />
      <SelectField
        of={form.field("without_group")}
        {...(form.values.groups.length === 0
          ? {
              label: "Role of new people",
              options: [
                { value: "refuse", label: "None: only invited people are admitted" },
                { value: "viewer", label: "Viewer" },
                { value: "agent", label: "Agent" },
              ],
            }
          : {
              label: "People in none of the groups",
              options: [
                { value: "refuse", label: "Are refused" },
                { value: "viewer", label: "Are viewers" },
                { value: "agent", label: "Are agents" },
              ],
            })}
      />
      <SwitchField
        of={form.field("create_agents")}
        label="Make agents of new people"
        hint="Otherwise only people with an account or an invitation are admitted."
      />
      <TagsField
        of={form.field("domains")}
        label="E-mail domains"
        optional
        placeholder="shop.example"
        maxItems={100}
        maxLength={120}
        hint="Addresses of other domains are refused. Empty: all domains."
      />
      <SwitchField
        of={form.field("owns_domains")}
        label="The provider manages these domains"
        hint="Its addresses there count as verified, even if it does not say so."
      />
      <SwitchField
        of={form.field("required")}
        label="Required"
        hint="Agents cannot sign in with a password. Sign in through the provider once before. The operator's sign-in links go on working."
      />
    </>
  );
}

function RemoveProvider({ changed }: { readonly changed: () => void }) {
  const canWrite = useCanWrite();
  const [isAsking, setAsking] = useState(false);
  if (!canWrite) return null;
  return (
    <>
      <div class="row-actions">
        <Button label="Turn single sign-on off" kind="secondary" onClick={() => setAsking(true)} />
      </div>
      {isAsking && (
        <ConfirmDialog
          title="Turn single sign-on off?"
          confirm="Turn off"
          run={async () => {
            await api.del("sign-in/provider");
            changed();
          }}
          done="Single sign-on is off."
          closed={() => setAsking(false)}
        >
          Agents without a password need a sign-in link or a mail to set one.
        </ConfirmDialog>
      )}
    </>
  );
}
